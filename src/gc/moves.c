/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc/moves.c - opens the log of copies when a collection starts, and seals it at the end.
 *
 * The arena is reserved at attach, not committed: a chunk's pages come to be when a thread first
 * logs into it. A batch holds the chunks of one window until it is released. Chunks above the
 * first KEEP_CHUNKS go back to the kernel then, so that one large collection does not stay in the
 * process's memory for good.
 *
 * lc_moves_open() and lc_moves_seal() run on the thread that posts the GC events, all else on the
 * attribution thread.
 * Order: see gc/copy_log.h; A3 is release_chunk() here.
 */
#include "src/gc/moves.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/core/memory.h"
#include "src/gc/copy_log.h"
#include "src/gc/moves_batch.h"
#include "src/jvm/layout/areas.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/os/peek.h"

enum {
	ARENA_CHUNKS = 16384, /* 256 MiB: 8.3 million copies */
	KEEP_CHUNKS = 256,    /* 4 MiB */
};

static struct lc_copy_log *copy_log; /* NULL: copies are not seen. Written by: lc_moves_init() */

int lc_moves_init(void)
{
	size_t arena = (size_t)ARENA_CHUNKS * sizeof(struct lc_copy_chunk);
	size_t links = (size_t)ARENA_CHUNKS * sizeof(uint32_t);
	struct lc_copy_log *l = &lc_copy_log;
	void *mem;
	int err;

	if (copy_log)
		return 0;
	mem = mmap(NULL, arena + links, PROT_READ | PROT_WRITE,
	           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mem == MAP_FAILED)
		return -errno;
	err = lc_copy_log_init();
	if (err) {
		munmap(mem, arena + links);
		return err;
	}
	l->chunks = mem;
	l->link = (uint32_t *)((char *)mem + arena);
	l->chunks_len = ARENA_CHUNKS;
	/* Reset the lists of an earlier recording; its generation and its hand-outs go on. */
	atomic_store_explicit(&l->head, 0, memory_order_relaxed);
	atomic_store_explicit(&l->fresh, 0, memory_order_relaxed);
	atomic_store_explicit(&l->free_head, 0, memory_order_relaxed);
	copy_log = l;
	return 0;
}

void lc_moves_open(uint64_t low, uint64_t high, size_t min_bytes)
{
	struct lc_copy_log *l = copy_log;

	if (!l || low >= high)
		return;
	l->low = low;
	l->span = high - low;
	l->min_bytes = min_bytes;
	l->stamp = lc_collector() == LC_GC_PARALLEL;
	/* Relaxed: published by `generation`. */
	atomic_store_explicit(&l->head, 0, memory_order_relaxed);
	atomic_store_explicit(&l->lost, 0, memory_order_relaxed);
	atomic_store_explicit(&l->slid, 0, memory_order_relaxed);
	atomic_fetch_add_explicit(&l->generation, 1, memory_order_release); /* A1 */
	lc_copy_log_arm(true);
}

bool lc_moves_slid(void)
{
	/* Relaxed: the collection is over, and with it every store (A2). */
	return copy_log && atomic_load_explicit(&copy_log->slid, memory_order_relaxed);
}

bool lc_moves_any_slide(const struct lc_move_batch *b, bool (*is)(uint64_t src, uint64_t dst))
{
	if (!b || !b->log)
		return false;
	for (uint32_t i = b->head; i; i = b->log->chunks[i - 1].next) {
		const struct lc_copy_chunk *k = &b->log->chunks[i - 1];

		for (uint32_t j = 0; j < k->used && j < LC_COPY_CHUNK_CAP; j++)
			if (lc_copy_kind(&k->copies[j]) == LC_COPY_SLIDE &&
			    is(lc_copy_src(&k->copies[j]), k->copies[j].dst))
				return true;
	}
	return false;
}

void lc_moves_on_clock(void (*told)(void))
{
	if (copy_log)
		atomic_store_explicit(&copy_log->clock_read, told, memory_order_release);
}

void lc_moves_on_map(void (*told)(uint64_t low, uint64_t high))
{
	if (copy_log)
		atomic_store_explicit(&copy_log->map_fixed, told, memory_order_release);
}

/*
 * Judge the last copy of a thread, which no later copy of the thread has judged. Its source may lie
 * in memory that the collection gave back, so the kernel is asked to read it. A forwarding pointer
 * decides if it is still there; a collection that could not move all objects removes them again.
 * Without a forwarding pointer the destination decides: an unused copy has become filler by now, or
 * part of one. (The source does not tell. G1 puts filler over objects that left a region that it
 * keeps. On JDK 17 filler is an int[], and looks like an int[] that was there.)
 */
static enum lc_copy_fate judge_last(const struct lc_copy *c)
{
	uint64_t mark, dst[2];
	const struct iovec to[2] = { { dst, sizeof(dst) }, { &mark, sizeof(mark) } };
	const struct iovec from[2] = { lc_peek_part(c->dst, sizeof(dst)),
		                       lc_peek_part(lc_copy_src(c), sizeof(mark)) };
	size_t n = lc_peek_parts(to, 2, from, 2);
	enum lc_copy_fate fate = LC_COPY_UNKNOWN;

	if (n == sizeof(dst) + sizeof(mark))
		fate = lc_copy_judge(mark, c->dst);
	if (fate == LC_COPY_UNKNOWN && n >= sizeof(dst) &&
	    lc_copy_hash(dst[1]) != c->hash_src >> LC_COPY_HASH_SHIFT)
		fate = LC_COPY_LOST;
	return fate;
}

/*
 * Judge the last copy in a chunk. After several collections (`many`) its fate stays unknown: other
 * objects may be at its addresses.
 */
static void judge_chunk(struct lc_copy_chunk *k, bool many)
{
	struct lc_copy *c;

	if (!k->used || k->used > LC_COPY_CHUNK_CAP || many)
		return;
	c = &k->copies[k->used - 1];
	if (lc_copy_kind(c) == LC_COPY_EVACUATE && lc_copy_fate(c) == LC_COPY_UNKNOWN)
		c->size_tag |= (uint64_t)judge_last(c) << LC_COPY_FATE_SHIFT;
}

/* Push a chunk on the free list. */
static void release_chunk(struct lc_copy_log *l, uint32_t i)
{
	uint64_t head = atomic_load_explicit(&l->free_head, memory_order_relaxed);
	uint64_t next;

	lc_memory_add(-(int64_t)sizeof(l->chunks[i]));
	lc_memory_give(LC_MEMORY_COPIES, sizeof(l->chunks[i]));
	if (i >= KEEP_CHUNKS)
		madvise(&l->chunks[i], sizeof(l->chunks[i]), MADV_DONTNEED);
	do {
		__atomic_store_n(&l->link[i], (uint32_t)head, __ATOMIC_RELAXED);
		next = ((head >> 32) + 1) << 32 | (i + 1);
	} while (!atomic_compare_exchange_weak_explicit(
	    &l->free_head, &head, next, memory_order_release, memory_order_relaxed)); /* A3 */
}

static void release_chunks(struct lc_copy_log *l, uint32_t head)
{
	uint32_t next;

	for (uint32_t i = head; i; i = next) {
		next = l->chunks[i - 1].next;
		release_chunk(l, i - 1);
	}
}

/* Stands for every batch whose struct could not be allocated. Constant. */
static struct lc_move_batch no_memory = { .replayed = true, .lost = 1 };

struct lc_move_batch *lc_moves_seal(void)
{
	struct lc_copy_log *l = copy_log;
	struct lc_move_batch *b;
	uint64_t lost;
	uint32_t head;

	if (!l)
		return NULL;
	lc_copy_log_arm(false);
	/* Acquire: the chunks hang in the list before they are read (A2). */
	head = atomic_exchange_explicit(&l->head, 0, memory_order_acquire);
	lost = atomic_exchange_explicit(&l->lost, 0, memory_order_relaxed); /* a count */
	if (!head && !lost)
		return NULL;
	b = calloc(1, sizeof(*b));
	if (!b) {
		release_chunks(l, head);
		return &no_memory;
	}
	b->log = l;
	b->head = head;
	b->lost = lost;
	b->many = lc_areas_collections() > 1;
	b->ordered = b->many || (l->stamp && lc_moves_slid());
	for (uint32_t i = head; i; i = l->chunks[i - 1].next) {
		struct lc_copy_chunk *c = &l->chunks[i - 1];

		b->copies += c->used;
		judge_chunk(c, b->many);
	}
	return b;
}

void lc_moves_add(struct lc_move_batch **b, struct lc_move *moves, size_t len)
{
	if (!*b && len) {
		*b = calloc(1, sizeof(**b));
		if (!*b)
			*b = &no_memory;
	}
	if (!*b || *b == &no_memory) {
		free(moves);
		return;
	}
	(*b)->added = moves;
	(*b)->added_len = len;
}

const struct lc_move *lc_moves_all(struct lc_move_batch *b, size_t *len)
{
	if (!b) {
		*len = 0;
		return NULL;
	}
	if (!b->replayed) {
		lc_move_batch_replay(b);
		b->replayed = true;
	}
	*len = b->moves_len;
	return b->moves;
}

const struct lc_move *lc_moves_next(struct lc_move_batch *b, size_t *cursor)
{
	size_t len;
	const struct lc_move *m = lc_moves_all(b, &len);

	return *cursor < len ? &m[(*cursor)++] : NULL;
}

size_t lc_moves_count(const struct lc_move_batch *b)
{
	return b ? b->copies : 0;
}

uint64_t lc_moves_lost(const struct lc_move_batch *b)
{
	return b ? b->lost : 0;
}

void lc_moves_release(struct lc_move_batch *b)
{
	if (!b || b == &no_memory)
		return;
	if (b->log)
		release_chunks(b->log, b->head);
	free(b->moves);
	free(b->added);
	free(b);
}
