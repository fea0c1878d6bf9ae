/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/code/blob.c - finds code blobs by the segment maps of their code heaps, and reads their
 * headers.
 *
 * Each byte of a segment map says how many segments back a block begins, in several hops where it
 * is far. A code heap's memory is never given back, so a header can be read even where its blob was
 * freed just now; then what it says is checked, and may still be wrong.
 */
#include "src/jvm/code/blob.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/layout/vmstructs.h"
#include "src/jvm/os/peek.h"

enum {
	HEAPS_MAX = 4,
	SEGMENT_FREE = 0xff,
	HOPS_MAX = 1 << 16,
	FRAME_WORDS_MAX = 1 << 16,
	NEVER = -1, /* in a blob: where its frame is whole */
};

/* Addresses of fields that do not change, or not in a way that matters here. */
struct heap {
	uint64_t low;            /* of its code */
	const uint64_t *high;    /* where its committed part ends, now */
	const uint8_t *segments; /* the map */
	int log2_segment_bytes;
	/* The list of free blocks: its head, its segments, its length; NULL: not to be found. */
	const uint64_t *free_head, *free_segments, *free_length;
	uint64_t free_seen; /* a hash of the three */
	bool watched;       /* methods are compiled to it */
};

static struct {
	struct heap heaps[HEAPS_MAX];
	unsigned heaps_len;
	_Atomic uint64_t method_name; /* address of "nmethod", once one was met; else 0 */
	struct lc_range library;      /* where names of kinds of blobs are */
	uint64_t block_bytes;         /* of a block's header; the blob is behind it */
	long used;                    /* in a block's header: one byte */

	/* Offsets in a blob; -1 or less: this JVM does not tell. */
	long frame_size; /* an int, in words */
	long name, size;
	long code_begin;  /* an address, until JDK 22 */
	long code_offset; /* since */
	long whole;       /* bytes from the begin of the code; NEVER */
	int whole_bytes;  /* size of that */
	/* Each for calls, and for calls of method handles. */
	long deopt_begin[2], deopt_offset[2], original_pc;
} blobs;

static const uint64_t *word_at(uint64_t at)
{
	return (const uint64_t *)(uintptr_t)at; /* NOLINT */
}

static uint64_t free_now(const struct heap *h)
{
	return lc_hash_add(lc_hash_add(lc_peek_load64((uintptr_t)h->free_head),
	                               lc_peek_load64((uintptr_t)h->free_segments)),
	                   lc_peek_load32((uintptr_t)h->free_length));
}

/*
 * Behind the size of a segment, HotSpot's CodeHeap (heap.hpp) has the number of the first segment
 * that was never used, and then the list of free blocks. None of it is exported, so it must make
 * sense.
 */
static void find_free(struct heap *h, uint64_t log2_at)
{
	const uint64_t committed = *h->high - h->low;
	uint64_t next, head, segments;

	if (log2_at & 7)
		return;
	next = lc_peek_load64(log2_at + 8);
	head = lc_peek_load64(log2_at + 16);
	segments = lc_peek_load64(log2_at + 32);
	if (next > committed >> h->log2_segment_bytes || segments > next ||
	    (head && (head < h->low || head >= *h->high)) || !head != !segments ||
	    !head != !lc_peek_load32(log2_at + 40))
		return;
	h->free_head = word_at(log2_at + 16);
	h->free_segments = word_at(log2_at + 32);
	h->free_length = word_at(log2_at + 40);
}

static int add_heap(uint64_t heap)
{
	const long memory = lc_vm_offset("CodeHeap", "_memory");
	const long segmap = lc_vm_offset("CodeHeap", "_segmap");
	const long log2 = lc_vm_offset("CodeHeap", "_log2_segment_size");
	const long low = lc_vm_offset("VirtualSpace", "_low");
	const long high = lc_vm_offset("VirtualSpace", "_high");
	struct heap *h = &blobs.heaps[blobs.heaps_len];

	if (memory < 0 || segmap < 0 || log2 < 0 || low < 0 || high < 0 ||
	    blobs.heaps_len == HEAPS_MAX)
		return -ENOENT;
	h->low = lc_peek_load64(heap + (uint64_t)memory + (uint64_t)low);
	h->high = (const uint64_t *)(uintptr_t)(heap + (uint64_t)memory + /* NOLINT */
	                                        (uint64_t)high);
	h->segments =
	    (const uint8_t *)(uintptr_t)lc_peek_load64(heap + (uint64_t)segmap + /* NOLINT */
	                                               (uint64_t)low);
	h->log2_segment_bytes = (int)lc_peek_load32(heap + (uint64_t)log2);
	blobs.heaps_len++;
	if (!h->low || !h->segments || h->log2_segment_bytes <= 0 || h->log2_segment_bytes >= 24)
		return -ENOENT;
	h->free_head = NULL;
	find_free(h, heap + (uint64_t)log2);
	return 0;
}

static void find_fields(void)
{
	blobs.library = lc_ranges_library();
	blobs.name = lc_vm_offset("CodeBlob", "_name");
	blobs.size = lc_vm_offset("CodeBlob", "_size");
	blobs.code_begin = lc_vm_offset("CodeBlob", "_code_begin");
	blobs.code_offset = lc_vm_offset("CodeBlob", "_code_offset");
	blobs.whole = lc_vm_offset("CodeBlob", "_frame_complete_offset");
	blobs.whole_bytes = lc_vm_field_bytes("CodeBlob", "_frame_complete_offset");
	blobs.deopt_begin[0] = lc_vm_offset("CompiledMethod", "_deopt_handler_begin");
	blobs.deopt_begin[1] = lc_vm_offset("CompiledMethod", "_deopt_mh_handler_begin");
	blobs.deopt_offset[0] = lc_vm_offset("nmethod", "_deopt_handler_offset");
	blobs.deopt_offset[1] = lc_vm_offset("nmethod", "_deopt_mh_handler_offset");
	blobs.original_pc = lc_vm_offset("nmethod", "_orig_pc_offset");
	if (blobs.whole_bytes != 4 && blobs.whole_bytes != 2)
		blobs.whole = -ENOENT;
}

int lc_blob_init(void)
{
	const void *static_heaps = lc_vm_static("CodeCache", "_heaps");
	const long block = lc_vm_sizeof("HeapBlock");
	const long data = lc_vm_offset("GrowableArray<int>", "_data");
	long len = lc_vm_offset("GrowableArrayBase", "_len");
	uint64_t array, at;
	int n = 0, err = 0;

	if (len < 0)
		len = lc_vm_offset("GenericGrowableArray", "_len"); /* JDK 11 */
	blobs.frame_size = lc_vm_offset("CodeBlob", "_frame_size");
	if (!static_heaps || block <= 0 || data < 0 || len < 0 || blobs.frame_size < 0)
		return -ENOENT;
	array = lc_peek_load64((uint64_t)(uintptr_t)static_heaps);
	if (!array)
		return -ENOENT;
	blobs.heaps_len = 0;
	n = (int)lc_peek_load32(array + (uint64_t)len);
	at = lc_peek_load64(array + (uint64_t)data);
	for (int i = 0; i < n && !err; i++)
		err = add_heap(lc_peek_load64(at + (uint64_t)i * 8));
	if (err || n <= 0) {
		blobs.heaps_len = 0;
		return -ENOENT;
	}
	blobs.block_bytes = (uint64_t)block;
	blobs.used = lc_vm_offset("HeapBlock::Header", "_used");
	find_fields();
	return 0;
}

void lc_blob_forget(void)
{
	blobs.heaps_len = 0;
}

bool lc_blob_known(void)
{
	return blobs.heaps_len;
}

uint64_t lc_blob_at(uint64_t pc)
{
	for (unsigned i = 0; i < blobs.heaps_len; i++) {
		const struct heap *h = &blobs.heaps[i];
		uint64_t segment;

		if (pc < h->low || pc >= *h->high)
			continue;
		segment = (pc - h->low) >> h->log2_segment_bytes;
		if (h->segments[segment] == SEGMENT_FREE)
			return LC_BLOB_FREE;
		for (unsigned hop = 0; h->segments[segment]; hop++) {
			if (hop == HOPS_MAX || h->segments[segment] > segment)
				return LC_BLOB_FREE;
			segment -= h->segments[segment];
		}
		return h->low + (segment << h->log2_segment_bytes) + blobs.block_bytes;
	}
	return LC_BLOB_NONE;
}

bool lc_blob_used(uint64_t blob)
{
	const uint64_t at = blob - blobs.block_bytes + (uint64_t)blobs.used;

	return blobs.used < 0 || *(const volatile uint8_t *)(uintptr_t)at; /* NOLINT */
}

bool lc_blob_watch_freed(uint64_t stub)
{
	for (unsigned i = 0; i < blobs.heaps_len; i++) {
		struct heap *h = &blobs.heaps[i];

		if (!h->free_head)
			return false;
		h->watched = blobs.heaps_len == 1 || stub < h->low || stub >= *h->high;
		h->free_seen = free_now(h);
	}
	return blobs.heaps_len && blobs.used >= 0;
}

bool lc_blob_freed(void)
{
	bool freed = false;

	for (unsigned i = 0; i < blobs.heaps_len; i++) {
		struct heap *h = &blobs.heaps[i];
		const uint64_t now = free_now(h);

		freed |= h->watched && now != h->free_seen;
		h->free_seen = now;
	}
	return freed;
}

int lc_blob_frame_words(uint64_t blob)
{
	return (int)lc_peek_load32(blob + (uint64_t)blobs.frame_size);
}

/* A field of 4 bytes. */
static int get(uint64_t blob, long offset)
{
	return (int)lc_peek_load32(blob + (uint64_t)offset);
}

static int get_whole(uint64_t blob)
{
	const uint64_t at = blob + (uint64_t)blobs.whole;

	return blobs.whole_bytes == 2 ? *(const volatile int16_t *)(uintptr_t)at /* NOLINT */
	                              : (int)lc_peek_load32(at);
}

/* The names stand in libjvm. */
static enum lc_blob_kind kind_of(uint64_t blob)
{
	static const struct {
		const char *name;
		enum lc_blob_kind kind;
	} known[] = { { "nmethod", LC_BLOB_METHOD },
		      { "native nmethod", LC_BLOB_METHOD },
		      { "I2C/C2I adapters", LC_BLOB_ADAPTER } };
	enum { LONGEST = 32 };
	const uint64_t name = lc_peek_load64(blob + (uint64_t)blobs.name);
	const char *s = (const char *)(uintptr_t)name; /* NOLINT */

	/* All compiled methods have one name, at one address. Relaxed: an address. */
	if (name == atomic_load_explicit(&blobs.method_name, memory_order_relaxed))
		return LC_BLOB_METHOD;
	if (name < blobs.library.low || name + LONGEST > blobs.library.high)
		return LC_BLOB_OTHER;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(s, known[i].name) != 0)
			continue;
		if (!i)
			atomic_store_explicit(&blobs.method_name, name, memory_order_relaxed);
		return known[i].kind;
	}
	return LC_BLOB_OTHER;
}

bool lc_blob_unpacks(const struct lc_blob *blob)
{
	const uint64_t name = lc_peek_load64(blob->at + (uint64_t)blobs.name);
	const char *s = (const char *)(uintptr_t)name; /* NOLINT */

	if (blob->kind != LC_BLOB_OTHER || name < blobs.library.low || name >= blobs.library.high)
		return false;
	return strstr(s, "eoptimiz") || strstr(s, "ncommon");
}

bool lc_blob_find(uint64_t pc, struct lc_blob *out)
{
	const uint64_t blob = lc_blob_at(pc);
	int whole;

	if (blob <= LC_BLOB_FREE || blobs.name < 0 || blobs.size < 0 || blobs.whole < 0 ||
	    (blobs.code_begin < 0 && blobs.code_offset < 0))
		return false;
	out->at = blob;
	out->end = blob + (uint32_t)get(blob, blobs.size);
	out->code = blobs.code_begin >= 0 ? lc_peek_load64(blob + (uint64_t)blobs.code_begin)
	                                  : blob + (uint32_t)get(blob, blobs.code_offset);
	out->frame_words = lc_blob_frame_words(blob);
	whole = get_whole(blob);
	out->whole = whole >= 0 ? out->code + (uint64_t)whole : 0;
	out->kind = kind_of(blob);
	return pc >= out->code && pc < out->end && out->frame_words < FRAME_WORDS_MAX;
}

bool lc_blob_is_deopt(const struct lc_blob *blob, uint64_t pc)
{
	for (unsigned i = 0; i < 2 && blob->kind == LC_BLOB_METHOD; i++) {
		const long begin = blobs.deopt_begin[i], offset = blobs.deopt_offset[i];

		if ((begin >= 0 && pc == lc_peek_load64(blob->at + (uint64_t)begin)) ||
		    (offset >= 0 && pc == blob->at + (uint32_t)get(blob->at, offset)))
			return true;
	}
	return false;
}

uint64_t lc_blob_original_pc_at(const struct lc_blob *blob, uint64_t pc, uint64_t sp)
{
	int at;

	if (blobs.original_pc < 0 || !lc_blob_is_deopt(blob, pc))
		return 0;
	at = get(blob->at, blobs.original_pc);
	return at < 0 || at >= blob->frame_words * 8 ? 0 : sp + (uint64_t)at;
}

uint64_t lc_blob_original_pc(const struct lc_blob *blob, uint64_t pc, uint64_t sp)
{
	const uint64_t at = lc_blob_original_pc_at(blob, pc, sp);
	uint64_t original;

	if (!at)
		return pc;
	original = lc_peek_load64(at);
	return original > blob->code && original < blob->end ? original : pc;
}

bool lc_blob_make_whole(uint64_t pc)
{
	static const int32_t from_the_start = 0;
	struct lc_blob blob;

	if (!lc_blob_find(pc, &blob) || blob.kind != LC_BLOB_OTHER || blob.frame_words < 2)
		return false;
	if (get_whole(blob.at) == NEVER)
		(void)lc_peek_poke(blob.at + (uint64_t)blobs.whole, &from_the_start,
		                   (size_t)blobs.whole_bytes);
	return get_whole(blob.at) == from_the_start;
}
