/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/alloc_log.c - keeps the allocation logs and the pool of chunks that they share.
 *
 * A log is a list of chunks. Its owner appends at the tail; the attribution thread reads what lies
 * behind a published position and trims at the head. Each of the two has its own cache line.
 *
 * Invariants: a chunk but the last of its log is full; chunk->next->first == chunk->first + 255.
 *             The attribution thread gives back a chunk only when chunk->next is set: the owner has
 *             left it. Whoever asks for a position touches the log, never a chunk.
 * Order:      L1  put stores position (release) -> position and run load it (acquire): records and
 *                 the links to their chunks are whole before they are counted.
 *             L2  extend stores next or first (release) -> run and trim load it (acquire): a chunk
 *                 is initialised before it is reached.
 *             L3  push stores the stack's head (release) -> pop loads it (acquire): the attribution
 *                 thread has read a chunk before another owner writes to it.
 *             L4  sweep stores where the chunk begins that it has come to (release) -> trim
 *                 loads it (acquire): records before it have been read when their chunk is given
 *                 back. The position only grows, so an old value keeps more.
 *
 * The pool is one mapping, reserved at init. A chunk goes from `fresh` (never used) to a log, and
 * from there to the warm stack, on which the chunk used last is taken first: it is still in the
 * cache. A warm chunk that is not needed for some seconds loses its memory and goes to the cold
 * stack. Stacks are lock-free: links lie beside the chunks, not in them, so that a pop may read a
 * link that is out of date, and a tag in the head makes it start again (32 bits: it would take 2^32
 * other operations within one pop to be fooled).
 */
#include "src/heap/alloc_log.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "src/core/counters.h"
#include "src/core/memory.h"

enum { TIDY_CHUNKS_MAX = 1024 };
#define TIDY_WINDOW_NS UINT64_C(5000000000)

struct stack {
	_Alignas(64) _Atomic uint64_t head; /* tag << 32 | index + 1; 0 there when empty */
};

static struct {
	struct lc_alloc_chunk *chunks; /* set once by init */
	_Atomic uint32_t *links;       /* index + 1 of the chunk below, by chunk */
	uint32_t max;
	struct stack warm, cold;
	_Alignas(64) _Atomic uint32_t fresh; /* chunks handed out for the first time */
	_Atomic uint32_t used;               /* in logs */
	_Atomic uint32_t peak;               /* highest `used` of the window; a hint */
	_Atomic uint32_t resident;           /* with memory: in logs or warm */
	uint32_t last_peak;                  /* attribution thread only */
	uint64_t window_start_ns;            /* attribution thread only */
} pool;

static uint32_t pop(struct stack *s)
{
	uint64_t head = atomic_load_explicit(&s->head, memory_order_acquire); /* L3 */
	uint64_t next;

	do {
		if (!(uint32_t)head)
			return 0;
		/* Out of date when another pop is faster: the tag then differs. */
		next = atomic_load_explicit(&pool.links[(uint32_t)head - 1], memory_order_relaxed);
		next |= ((head >> 32) + 1) << 32;
	} while (!atomic_compare_exchange_weak_explicit(&s->head, &head, next, memory_order_acquire,
	                                                memory_order_acquire)); /* L3 */
	return (uint32_t)head;
}

static void push(struct stack *s, uint32_t number)
{
	uint64_t head = atomic_load_explicit(&s->head, memory_order_relaxed); /* CAS checks it */
	uint64_t next;

	do {
		atomic_store_explicit(&pool.links[number - 1], (uint32_t)head,
		                      memory_order_relaxed); /* L3 publishes it */
		next = ((head >> 32) + 1) << 32 | number;
	} while (!atomic_compare_exchange_weak_explicit(&s->head, &head, next, memory_order_acq_rel,
	                                                memory_order_relaxed)); /* L3 */
}

static uint32_t take_fresh(void)
{
	uint32_t n = atomic_load_explicit(&pool.fresh, memory_order_relaxed); /* CAS checks it */

	do {
		if (n == pool.max)
			return 0;
	} while (
	    !atomic_compare_exchange_weak_explicit(&pool.fresh, &n, n + 1, memory_order_relaxed,
	                                           memory_order_relaxed)); /* nothing hangs on it */
	return n + 1;
}

static struct lc_alloc_chunk *take(void)
{
	uint32_t number = pop(&pool.warm);
	uint32_t used;

	if (!number) {
		if (!lc_memory_take(LC_MEMORY_RECORDS, LC_ALLOC_CHUNK_BYTES))
			return NULL;
		number = pop(&pool.cold);
		if (!number)
			number = take_fresh();
		if (!number) {
			lc_memory_give(LC_MEMORY_RECORDS, LC_ALLOC_CHUNK_BYTES);
			return NULL;
		}
		lc_memory_add(LC_ALLOC_CHUNK_BYTES);
		atomic_fetch_add_explicit(&pool.resident, 1, memory_order_relaxed); /* a count */
	}
	used = atomic_fetch_add_explicit(&pool.used, 1, memory_order_relaxed) + 1; /* a count */
	if (used > atomic_load_explicit(&pool.peak, memory_order_relaxed))
		atomic_store_explicit(&pool.peak, used, memory_order_relaxed); /* a hint */
	return &pool.chunks[number - 1];
}

static void give(struct lc_alloc_chunk *c)
{
	push(&pool.warm, (uint32_t)(c - pool.chunks) + 1);
	atomic_fetch_sub_explicit(&pool.used, 1, memory_order_relaxed); /* a count */
}

int lc_alloc_pool_init(size_t max_bytes)
{
	size_t max = max_bytes / LC_ALLOC_CHUNK_BYTES;
	size_t links_bytes = max * sizeof(*pool.links);
	void *chunks, *links;

	if (pool.chunks)
		return -EALREADY;
	if (!max || max > INT32_MAX)
		return -EINVAL;
	chunks = mmap(NULL, max * LC_ALLOC_CHUNK_BYTES, PROT_READ | PROT_WRITE,
	              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (chunks == MAP_FAILED)
		return -errno;
	links = mmap(NULL, links_bytes, PROT_READ | PROT_WRITE,
	             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (links == MAP_FAILED) {
		int err = -errno;

		munmap(chunks, max * LC_ALLOC_CHUNK_BYTES);
		return err;
	}
	/* With huge pages on by default, one chunk would take 2 MiB. Older kernels lack the
	 * call. */
	(void)madvise(chunks, max * LC_ALLOC_CHUNK_BYTES, MADV_NOHUGEPAGE);
	pool.chunks = chunks;
	pool.links = links;
	pool.max = (uint32_t)max;
	return 0;
}

void lc_alloc_pool_destroy(void)
{
	if (!pool.chunks)
		return;
	munmap(pool.chunks, (size_t)pool.max * LC_ALLOC_CHUNK_BYTES);
	munmap(pool.links, pool.max * sizeof(*pool.links));
	lc_memory_add(-(int64_t)lc_alloc_pool_resident_bytes());
	lc_memory_give(LC_MEMORY_RECORDS, lc_alloc_pool_resident_bytes());
	pool.chunks = NULL;
	pool.links = NULL;
	pool.max = 0;
	pool.last_peak = 0;
	pool.window_start_ns = 0;
	/* No other thread uses the pool now. */
	atomic_store_explicit(&pool.warm.head, 0, memory_order_relaxed);
	atomic_store_explicit(&pool.cold.head, 0, memory_order_relaxed);
	atomic_store_explicit(&pool.fresh, 0, memory_order_relaxed);
	atomic_store_explicit(&pool.used, 0, memory_order_relaxed);
	atomic_store_explicit(&pool.peak, 0, memory_order_relaxed);
	atomic_store_explicit(&pool.resident, 0, memory_order_relaxed);
}

uint64_t lc_alloc_pool_used_bytes(void)
{
	return (uint64_t)atomic_load_explicit(&pool.used, memory_order_relaxed) *
	       LC_ALLOC_CHUNK_BYTES; /* a count */
}

uint64_t lc_alloc_pool_resident_bytes(void)
{
	return (uint64_t)atomic_load_explicit(&pool.resident, memory_order_relaxed) *
	       LC_ALLOC_CHUNK_BYTES; /* a count */
}

void lc_alloc_pool_tidy(uint64_t now_ns)
{
	uint32_t used, peak, keep;

	if (!pool.chunks)
		return;
	used = atomic_load_explicit(&pool.used, memory_order_relaxed); /* counts, hints */
	peak = atomic_load_explicit(&pool.peak, memory_order_relaxed);
	keep = peak > pool.last_peak ? peak : pool.last_peak;
	if (now_ns - pool.window_start_ns >= TIDY_WINDOW_NS) {
		pool.window_start_ns = now_ns;
		pool.last_peak = peak;
		atomic_store_explicit(&pool.peak, used, memory_order_relaxed);
	}
	for (int i = 0; i < TIDY_CHUNKS_MAX; i++) {
		uint32_t number;

		if (atomic_load_explicit(&pool.resident, memory_order_relaxed) <= keep)
			return;
		number = pop(&pool.warm);
		if (!number)
			return;
		if (madvise(&pool.chunks[number - 1], LC_ALLOC_CHUNK_BYTES, MADV_DONTNEED)) {
			push(&pool.warm, number);
			return;
		}
		atomic_fetch_sub_explicit(&pool.resident, 1, memory_order_relaxed);
		lc_memory_add(-LC_ALLOC_CHUNK_BYTES);
		lc_memory_give(LC_MEMORY_RECORDS, LC_ALLOC_CHUNK_BYTES);
		push(&pool.cold, number);
	}
}

int lc_alloc_log_create(struct lc_alloc_log **out)
{
	struct lc_alloc_log *log = aligned_alloc(_Alignof(struct lc_alloc_log), sizeof(*log));

	if (!log)
		return -ENOMEM;
	*log = (struct lc_alloc_log){ 0 };
	*out = log;
	return 0;
}

/* The oldest chunk, or NULL while the owner has none. */
static struct lc_alloc_chunk *oldest(struct lc_alloc_log *log)
{
	if (!log->head) {
		log->head = atomic_load_explicit(&log->first, memory_order_acquire); /* L2 */
		log->near = log->head;
	}
	return log->head;
}

void lc_alloc_log_destroy(struct lc_alloc_log *log)
{
	struct lc_alloc_chunk *c, *next;

	if (!log)
		return;
	for (c = oldest(log); c; c = next) {
		next = atomic_load_explicit(&c->next, memory_order_acquire); /* L2 */
		give(c);
	}
	free(log);
}

__attribute__((noinline, cold)) int lc_alloc_log_extend(struct lc_alloc_log *log)
{
	uint64_t at = atomic_load_explicit(&log->position, memory_order_relaxed); /* ours */
	struct lc_alloc_chunk *c = take();

	if (!c) {
		lc_alloc_log_lose(log, 1);
		return -ENOSPC;
	}
	c->first = at;
	atomic_store_explicit(&c->next, NULL, memory_order_relaxed); /* published below */
	if (log->tail)
		atomic_store_explicit(&log->tail->next, c, memory_order_release); /* L2 */
	else
		atomic_store_explicit(&log->first, c, memory_order_release); /* L2 */
	log->tail = c;
	lc_alloc_log_aim(log, c->records, LC_ALLOC_CHUNK_RECORDS);
	return 0;
}

size_t lc_alloc_log_run(struct lc_alloc_log *log, uint64_t from, uint64_t to,
                        const struct lc_alloc **run)
{
	uint64_t published = lc_alloc_log_position(log); /* L1 */
	struct lc_alloc_chunk *c = oldest(log);
	uint64_t end;

	if (to > published)
		to = published;
	if (from >= to || from < c->first)
		return 0;
	if (from >= log->near->first)
		c = log->near;
	while (from - c->first >= LC_ALLOC_CHUNK_RECORDS)
		c = atomic_load_explicit(&c->next,
		                         memory_order_acquire); /* L2; set, as from < to */
	log->near = c;
	end = c->first + LC_ALLOC_CHUNK_RECORDS;
	*run = &c->records[from - c->first];
	return (to < end ? to : end) - from;
}

/* The chunk that holds the record at `position`, from `c` on; NULL where there is none yet. */
static struct lc_alloc_chunk *chunk_at(const struct lc_alloc_log *log, struct lc_alloc_chunk *c,
                                       uint64_t position)
{
	struct lc_alloc_chunk *next;

	if (!c)
		c = atomic_load_explicit(&log->first, memory_order_acquire); /* L2 */
	while (c && position - c->first >= LC_ALLOC_CHUNK_RECORDS) {
		next = atomic_load_explicit(&c->next, memory_order_acquire); /* L2 */
		if (!next)
			break;
		c = next;
	}
	return c;
}

size_t lc_alloc_log_sweep(struct lc_alloc_log *log, const struct lc_alloc **run)
{
	uint64_t to = lc_alloc_log_position(log), end; /* L1 */
	struct lc_alloc_chunk *c = chunk_at(log, log->sweep_chunk, log->sweep_position);
	size_t len;

	if (!c)
		return 0;
	log->sweep_chunk = c;
	/* The chunk itself stays: its records are still needed. */
	atomic_store_explicit(&log->sweep_first, c->first + 1, memory_order_release); /* L4 */
	if (log->sweep_position >= to)
		return 0;
	end = c->first + LC_ALLOC_CHUNK_RECORDS;
	*run = &c->records[log->sweep_position - c->first];
	len = (size_t)((to < end ? to : end) - log->sweep_position);
	log->sweep_position += len;
	return len;
}

size_t lc_alloc_log_ahead(const struct lc_alloc_log *log, struct lc_alloc_cursor *at,
                          const struct lc_alloc **run)
{
	uint64_t to = lc_alloc_log_position(log), end; /* L1 */
	struct lc_alloc_chunk *c;
	size_t len;

	if (!at->chunk)
		*at = (struct lc_alloc_cursor){ log->sweep_chunk, log->sweep_position };
	c = chunk_at(log, at->chunk, at->position);
	if (!c || at->position >= to)
		return 0;
	at->chunk = c;
	end = c->first + LC_ALLOC_CHUNK_RECORDS;
	*run = &c->records[at->position - c->first];
	len = (size_t)((to < end ? to : end) - at->position);
	at->position += len;
	return len;
}

void lc_alloc_log_keep(struct lc_alloc_log *log)
{
	/* Relaxed: lc_alloc_log_trim() is called only after this collection was announced. */
	if (!atomic_load_explicit(&log->sweep_first, memory_order_relaxed))
		atomic_store_explicit(&log->sweep_first, 1, memory_order_relaxed);
}

void lc_alloc_log_trim(struct lc_alloc_log *log, uint64_t position)
{
	uint64_t first = atomic_load_explicit(&log->sweep_first, memory_order_acquire); /* L4 */
	struct lc_alloc_chunk *c = oldest(log);

	if (first && position >= first)
		position = first - 1;

	while (c && c->first + LC_ALLOC_CHUNK_RECORDS <= position) {
		struct lc_alloc_chunk *next =
		    atomic_load_explicit(&c->next, memory_order_acquire); /* L2 */

		if (!next)
			break;
		if (log->near == c)
			log->near = next;
		log->head = next;
		give(c);
		c = next;
	}
}

static const struct lc_counter counters[] = {
	{ .name = "alloc_log_bytes", .read = lc_alloc_pool_used_bytes },
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
