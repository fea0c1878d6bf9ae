/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc/move_log.c - keeps the records of copies in chunks, which threads fill side by side.
 *
 * A thread belongs to one of some stripes. A stripe has a chain of chunks: threads claim places in
 * the last one by counting `claimed` up, and hang a new one behind it when it is full. The reader
 * goes along the chain and gives back a chunk whose records are all there and taken. A thread that
 * was stopped between claiming a place and filling it keeps its chunk from being given back, and
 * nothing else: the reader takes what lies behind its place.
 *
 * A thread may come with an old pointer to a chunk that was given back and serves another stripe: a
 * place there is as good. In a free chunk no place is left to claim.
 */
#include "src/gc/move_log.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "src/base/spin.h"
#include "src/base/time.h"
#include "src/core/memory.h"

enum {
	STRIPES = 16,
	CHUNK_MOVES = 510,
	CHUNKS = 8192, /* 128 MiB: 4.2 million copies that nobody has read yet */
	KEEP_CHUNKS = 256,
	PAGE_BYTES = 4096,
};

struct record {
	_Atomic uint64_t time_ns; /* 0: not filled yet */
	uint64_t src, dst;
	uint64_t size_bytes; /* 0: taken; the reader's, once it is filled */
};

struct chunk {
	_Atomic uint32_t claimed; /* places given out; more than CHUNK_MOVES: none is left */
	_Atomic uint32_t next;    /* in its stripe, or on the free list: index + 1 */
	uint32_t read;            /* the reader's: places before it are taken */
	uint32_t pad[13];
	struct record moves[CHUNK_MOVES];
};
_Static_assert(sizeof(struct chunk) == 16384, "a chunk is whole pages");

struct stripe {
	_Alignas(64) _Atomic uint32_t last; /* where threads write: index + 1 */
	_Atomic uint32_t lock;              /* taken to hang a chunk behind the last one */
	uint32_t first;                     /* the reader's: the oldest one */
};

static struct {
	struct chunk *chunks;       /* NULL: no log. Set by init */
	_Atomic uint64_t free_head; /* low half index + 1; high half counts pops and pushes (ABA) */
	_Atomic uint32_t fresh;     /* chunks from here on were never handed out */
	_Atomic uint64_t lost;
	_Atomic uint32_t threads;
	_Atomic bool any; /* copy since somebody asked */
	struct stripe stripes[STRIPES];
} move_log;

static _Thread_local uint32_t own_stripe __attribute__((tls_model("initial-exec")));

static struct chunk *at(uint32_t number)
{
	return &move_log.chunks[number - 1];
}

static uint32_t pop(void)
{
	uint64_t head = atomic_load_explicit(&move_log.free_head, memory_order_acquire); /* M3 */
	uint64_t next;
	uint32_t n;

	while ((n = (uint32_t)head)) {
		next = ((head >> 32) + 1) << 32 |
		       atomic_load_explicit(&at(n)->next, memory_order_relaxed);
		if (atomic_compare_exchange_weak_explicit(&move_log.free_head, &head, next,
		                                          memory_order_acquire,
		                                          memory_order_acquire)) /* M3 */
			return n;
	}
	n = atomic_load_explicit(&move_log.fresh, memory_order_relaxed); /* CAS checks it */
	while (n < CHUNKS)
		if (atomic_compare_exchange_weak_explicit(
		        &move_log.fresh, &n, n + 1, memory_order_relaxed, memory_order_relaxed))
			return n + 1;
	return 0;
}

/* Returns the number of an empty chunk; 0: there is none, or no memory for it. */
static uint32_t take_new(void)
{
	uint32_t n;

	if (!lc_memory_take(LC_MEMORY_COPIES, sizeof(struct chunk)))
		return 0;
	n = pop();
	if (n)
		lc_memory_add(sizeof(struct chunk));
	else
		lc_memory_give(LC_MEMORY_COPIES, sizeof(struct chunk));
	return n;
}

static void no_more_held(void)
{
	lc_memory_give(LC_MEMORY_COPIES, sizeof(struct chunk));
	lc_memory_add(-(int64_t)sizeof(struct chunk));
}

static void push(uint32_t n)
{
	uint64_t head = atomic_load_explicit(&move_log.free_head, memory_order_relaxed);
	uint64_t next;

	do {
		atomic_store_explicit(&at(n)->next, (uint32_t)head, memory_order_relaxed);
		next = ((head >> 32) + 1) << 32 | n;
	} while (!atomic_compare_exchange_weak_explicit(
	    &move_log.free_head, &head, next, memory_order_release, memory_order_relaxed)); /* M3 */
}

/* Give the stripe a chunk behind `last`, unless another thread has. Returns false without room. */
static bool extend(struct stripe *s, uint32_t last)
{
	uint32_t n = last;

	lc_spin_lock(&s->lock);
	if (atomic_load_explicit(&s->last, memory_order_relaxed) == last) { /* under the lock */
		n = take_new();
		if (n) {
			atomic_store_explicit(&at(n)->next, 0, memory_order_relaxed);
			atomic_store_explicit(&at(n)->claimed, 0, memory_order_relaxed);
			/* The chain comes first: the reader finds whatever is put in the chunk. */
			atomic_store_explicit(&at(last)->next, n, memory_order_release); /* M2 */
			atomic_store_explicit(&s->last, n, memory_order_release);        /* M2 */
		}
	}
	lc_spin_unlock(&s->lock);
	return n;
}

/* A place of the thread's own; NULL without room. */
static struct record *claim(void)
{
	struct stripe *s;

	if (__builtin_expect(!own_stripe, 0))
		own_stripe =
		    1 +
		    atomic_fetch_add_explicit(&move_log.threads, 1, memory_order_relaxed) % STRIPES;
	s = &move_log.stripes[own_stripe - 1];
	for (;;) {
		const uint32_t last = atomic_load_explicit(&s->last, memory_order_acquire); /* M2 */
		struct chunk *c = at(last);
		uint32_t place = CHUNK_MOVES;

		/* Loading first keeps the count from wrapping. */
		if (atomic_load_explicit(&c->claimed, memory_order_relaxed) < CHUNK_MOVES)
			place = atomic_fetch_add_explicit(&c->claimed, 1, memory_order_relaxed);
		if (place < CHUNK_MOVES)
			return &c->moves[place];
		if (!extend(s, last))
			return NULL;
	}
}

void lc_move_log_put(uint64_t dst, uint64_t src, uint64_t size_bytes)
{
	const uint64_t now = lc_time_now_ns();
	struct record *r = move_log.chunks ? claim() : NULL;

	/* Relaxed: a hint. Loading first keeps the cache line shared. */
	if (!atomic_load_explicit(&move_log.any, memory_order_relaxed))
		atomic_store_explicit(&move_log.any, true, memory_order_relaxed);
	if (!r) {
		atomic_fetch_add_explicit(&move_log.lost, 1, memory_order_relaxed);
		return;
	}
	r->src = src;
	r->dst = dst;
	r->size_bytes = size_bytes;
	atomic_store_explicit(&r->time_ns, now, memory_order_release); /* M1 */
}

/* Take what is there of a chunk. Returns whether all places are taken. */
static bool take_chunk(struct chunk *c, void (*use)(void *, const struct lc_timed_move *),
                       void *user)
{
	uint32_t claimed = atomic_load_explicit(&c->claimed, memory_order_relaxed);
	bool in_a_row = true;

	if (claimed > CHUNK_MOVES)
		claimed = CHUNK_MOVES;
	for (uint32_t i = c->read; i < claimed; i++) {
		struct record *r = &c->moves[i];
		const uint64_t time_ns =
		    atomic_load_explicit(&r->time_ns, memory_order_acquire); /* M1 */

		if (time_ns && r->size_bytes) {
			use(user,
			    &(struct lc_timed_move){ time_ns, r->src, r->dst, r->size_bytes });
			r->size_bytes = 0;
		}
		in_a_row &= time_ns != 0;
		if (in_a_row)
			c->read = i + 1;
	}
	return c->read == CHUNK_MOVES;
}

/* Before it is handed out again, no place in it may seem to be filled. */
static void give_back(uint32_t n)
{
	struct chunk *c = at(n);
	size_t left = CHUNK_MOVES;

	/* One large cycle does not stay in the process's memory for good. `claimed` does. */
	if (n > KEEP_CHUNKS &&
	    !madvise((char *)c + PAGE_BYTES, sizeof(*c) - PAGE_BYTES, MADV_DONTNEED))
		left = (PAGE_BYTES - offsetof(struct chunk, moves)) / sizeof(struct record) + 1;
	for (size_t i = 0; i < left; i++)
		atomic_store_explicit(&c->moves[i].time_ns, 0, memory_order_relaxed);
	c->read = 0;
	push(n); /* `claimed` stays: nothing is left to claim */
	no_more_held();
}

void lc_move_log_take(void (*use)(void *user, const struct lc_timed_move *move), void *user)
{
	for (size_t i = 0; i < STRIPES && move_log.chunks; i++) {
		struct stripe *s = &move_log.stripes[i];
		uint32_t before = 0, n = s->first, next;

		for (; n; n = next) {
			const bool all = take_chunk(at(n), use, user);

			next = atomic_load_explicit(&at(n)->next, memory_order_acquire); /* M2 */
			if (!all || !next) {
				before = n;
				continue;
			}
			/* The last chunk has no successor, so nobody but us changes this link. */
			if (before)
				atomic_store_explicit(&at(before)->next, next,
				                      memory_order_relaxed);
			else
				s->first = next;
			give_back(n);
		}
	}
}

bool lc_move_log_any(void)
{
	return atomic_exchange_explicit(&move_log.any, false, memory_order_relaxed);
}

uint64_t lc_move_log_lost(void)
{
	return atomic_load_explicit(&move_log.lost, memory_order_relaxed); /* a count */
}

int lc_move_log_init(void)
{
	void *mem;

	if (move_log.chunks)
		return 0;
	mem = mmap(NULL, CHUNKS * sizeof(struct chunk), PROT_READ | PROT_WRITE,
	           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mem == MAP_FAILED)
		return -errno;
	move_log.chunks = mem;
	lc_memory_have(LC_MEMORY_COPIES, STRIPES * sizeof(struct chunk));
	lc_memory_add(STRIPES * sizeof(struct chunk));
	for (size_t i = 0; i < STRIPES; i++) {
		move_log.stripes[i].first = pop();
		atomic_store_explicit(&move_log.stripes[i].last, move_log.stripes[i].first,
		                      memory_order_relaxed); /* nobody copies yet */
	}
	return 0;
}

void lc_move_log_destroy(void)
{
	for (size_t i = 0; i < STRIPES && move_log.chunks; i++)
		for (uint32_t n = move_log.stripes[i].first; n; n = at(n)->next)
			no_more_held();
	if (move_log.chunks)
		munmap(move_log.chunks, CHUNKS * sizeof(struct chunk));
	memset(&move_log, 0, sizeof(move_log));
	own_stripe = 0;
}
