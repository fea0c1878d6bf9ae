/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/native_code.c - keeps a list of the loaded objects, and reads their tables of functions
 * where they lie.
 *
 * Invariant: a slot's sequence is odd while the writer changes the slot. Readers that see it odd,
 * or changed around their reads, pass the slot over. One thread writes: the one that attaches, and
 * then the attribution thread. Order:     N1  fields are stored with release after the odd sequence
 * -> a reader that acquires a new field sees the odd or a later sequence when it looks again.
 */
#include "src/sample/native_code.h"

#include <link.h>
#include <stdatomic.h>

#include "src/jvm/os/peek.h"

enum {
	LIBRARIES_MAX = 512, /* a JVM loads 20 to 40 */
	HEADER_BYTES = 12,   /* of .eh_frame_hdr: version, encodings, where .eh_frame is, a count */
	ENTRY_BYTES = 8,
	FDE_BYTES = 16, /* of a function's description, up to the length of its code */
	STEPS_MAX = 32,
};

/* Every linker's header: version 1; addresses relative to the table, in 32 bits; sorted. */
static const unsigned char usual_header[] = { 1, 0x1b, 0x03, 0x3b };

#define LIFE_OF_LIBRARY (UINT64_C(1) << 63)

struct slot {
	_Atomic uint64_t sequence;
	_Atomic uint64_t low, high; /* equal where the slot is free */
	_Atomic uint64_t table;
	_Atomic uint64_t entries;
	_Atomic uint64_t life;
	bool seen; /* the writer's own */
};

static struct {
	struct slot slot[LIBRARIES_MAX];
	_Atomic uint32_t used; /* slots below it may hold a library */

	/* The writer's own. */
	uint64_t lives;
	unsigned long long added, removed; /* objects since the program began, at the last look */
	bool known;
} libraries;

/* -- the list ------------------------------------------------------------------------------ */

static void set(struct slot *s, const struct lc_native_library *to)
{
	/* Relaxed: this thread is the only one that writes it. */
	const uint64_t sequence = atomic_load_explicit(&s->sequence, memory_order_relaxed);

	atomic_store_explicit(&s->sequence, sequence + 1, memory_order_relaxed);
	atomic_store_explicit(&s->low, to->low, memory_order_release); /* N1 */
	atomic_store_explicit(&s->high, to->high, memory_order_release);
	atomic_store_explicit(&s->table, to->table, memory_order_release);
	atomic_store_explicit(&s->entries, to->entries, memory_order_release);
	atomic_store_explicit(&s->life, to->life, memory_order_release);
	atomic_store_explicit(&s->sequence, sequence + 2, memory_order_release);
}

/* Read a slot. Returns false where it is free or just being written. Context: [signal]. */
static bool get(const struct slot *s, struct lc_native_library *out)
{
	const uint64_t sequence = atomic_load_explicit(&s->sequence, memory_order_acquire);

	out->low = atomic_load_explicit(&s->low, memory_order_acquire); /* N1 */
	out->high = atomic_load_explicit(&s->high, memory_order_acquire);
	out->table = atomic_load_explicit(&s->table, memory_order_acquire);
	out->entries = atomic_load_explicit(&s->entries, memory_order_acquire);
	out->life = atomic_load_explicit(&s->life, memory_order_acquire);
	return !(sequence & 1) && out->low < out->high &&
	       atomic_load_explicit(&s->sequence, memory_order_relaxed) == sequence;
}

/* Fill *out. Returns false where the object has no code, or no table of the usual kind. */
static bool describe(const struct dl_phdr_info *info, struct lc_native_library *out)
{
	unsigned char header[HEADER_BYTES];

	*out = (struct lc_native_library){ .low = UINT64_MAX };
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		const uint64_t at = info->dlpi_addr + h->p_vaddr;

		if (h->p_type == PT_GNU_EH_FRAME)
			out->table = at;
		if (h->p_type != PT_LOAD || !(h->p_flags & PF_X))
			continue;
		if (at < out->low)
			out->low = at;
		if (at + h->p_memsz > out->high)
			out->high = at + h->p_memsz;
	}
	if (!out->table || out->low >= out->high || !lc_peek(out->table, header, sizeof(header)) ||
	    memcmp(header, usual_header, sizeof(usual_header)) != 0)
		return false;
	out->entries = lc_peek_get32(header + 8);
	return out->entries;
}

static bool same(const struct lc_native_library *a, const struct lc_native_library *b)
{
	return a->low == b->low && a->high == b->high && a->table == b->table &&
	       a->entries == b->entries;
}

static void add(struct lc_native_library *library)
{
	const uint32_t used = atomic_load_explicit(&libraries.used, memory_order_relaxed);
	struct slot *to = used < LIBRARIES_MAX ? &libraries.slot[used] : NULL;

	for (uint32_t i = 0; i < used; i++) {
		struct lc_native_library old;

		if (!get(&libraries.slot[i], &old)) {
			to = &libraries.slot[i];
		} else if (same(&old, library)) {
			libraries.slot[i].seen = true;
			return;
		}
	}
	if (!to)
		return; /* its code stays unknown */
	library->life = LIFE_OF_LIBRARY | ++libraries.lives;
	to->seen = true;
	set(to, library);
	if (to == &libraries.slot[used])
		atomic_store_explicit(&libraries.used, used + 1, memory_order_release);
}

/* Called for each object; the first call tells whether there is anything new. */
static int look(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct lc_native_library library;

	if (!libraries.known && size >= sizeof(*info)) {
		if (info->dlpi_adds == libraries.added && info->dlpi_subs == libraries.removed)
			return 1;
		libraries.added = info->dlpi_adds;
		libraries.removed = info->dlpi_subs;
	}
	libraries.known = true;
	if (describe(info, &library))
		add(&library);
	return 0;
}

void lc_native_code_refresh(void)
{
	static const struct lc_native_library none;
	const uint32_t used = atomic_load_explicit(&libraries.used, memory_order_relaxed);

	libraries.known = false;
	for (uint32_t i = 0; i < used; i++)
		libraries.slot[i].seen = false;
	if (dl_iterate_phdr(look, NULL))
		return;
	for (uint32_t i = 0; i < used; i++)
		if (!libraries.slot[i].seen)
			set(&libraries.slot[i], &none);
}

bool lc_native_code_library(uint64_t pc, struct lc_native_library *out)
{
	const uint32_t used = atomic_load_explicit(&libraries.used, memory_order_acquire);

	for (uint32_t i = 0; i < used; i++)
		if (get(&libraries.slot[i], out) && pc >= out->low && pc < out->high)
			return true;
	return false;
}

/* -- the table ----------------------------------------------------------------------------- */

/* Read entry `i`: where a function starts, and where its description is. */
static bool entry(const struct lc_native_library *l, uint64_t i, uint64_t *start, uint64_t *fde)
{
	unsigned char bytes[ENTRY_BYTES];

	if (!lc_peek(l->table + HEADER_BYTES + i * ENTRY_BYTES, bytes, sizeof(bytes)))
		return false;
	*start = l->table + (uint64_t)(int64_t)(int32_t)lc_peek_get32(bytes);
	*fde = l->table + (uint64_t)(int64_t)(int32_t)lc_peek_get32(bytes + 4);
	return true;
}

/* Length of the code that starts at `start`, by its description; 0 where that says otherwise. */
static uint32_t code_bytes(uint64_t fde, uint64_t start)
{
	unsigned char bytes[FDE_BYTES];
	uint64_t says;

	if (!lc_peek(fde, bytes, sizeof(bytes)))
		return 0;
	says = fde + 8 + (uint64_t)(int64_t)(int32_t)lc_peek_get32(bytes + 8);
	return says == start ? lc_peek_get32(bytes + 12) : 0;
}

bool lc_native_code_piece(const struct lc_native_library *library, uint64_t pc,
                          struct lc_native_piece *out)
{
	uint64_t low = 0, high = library->entries; /* the entry is in [low, high) */
	uint64_t start = 0, next = library->high, fde = 0, at, description;
	uint32_t bytes;

	for (unsigned i = 0; low < high && i < STEPS_MAX; i++) {
		const uint64_t middle = low + (high - low) / 2;

		if (!entry(library, middle, &at, &description))
			return false;
		if (at > pc) {
			high = middle;
			next = at;
		} else {
			low = middle + 1;
			start = at;
			fde = description;
		}
	}
	bytes = fde ? code_bytes(fde, start) : 0;
	if (low < high || !bytes || start < library->low || next > library->high ||
	    start + bytes > next)
		return false;
	/* Code that an assembler made may have no description: it begins where the function before
	 * it ends, behind padding that is instructions, too. */
	*out = pc < start + bytes ? (struct lc_native_piece){ start, start + bytes }
	                          : (struct lc_native_piece){ start + bytes, next };
	return true;
}
