/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/frames/trace.c - appends single spans and takes them.
 *
 * Order:     R1  put stores a chunk's len (release) -> take loads it (acquire): a row is whole
 *                before it is seen.
 *            R2  put stores a chunk's next (release) -> take loads it (acquire): the next chunk is
 *                set up; the owner does not touch this one any more, which may be freed or kept as
 *                the spare.
 *            R3  the spare is exchanged (acquire and release): whoever has it is done with its
 *                rows.
 */
#include "src/span/frames/trace.h"

#include <errno.h>
#include <stdlib.h>

struct chunk {
	_Atomic(struct chunk *) next; /* written by: owner thread, once the chunk is full */
	_Atomic uint32_t len;         /* written by: owner thread */
	struct lc_block_trace rows[LC_TRACE_CHUNK_ROWS];
};

struct lc_trace_log {
	struct chunk *head;                         /* owner thread: appended to */
	_Atomic uint64_t lost;                      /* written by: owner thread */
	_Alignas(64) _Atomic(struct chunk *) spare; /* a chunk that was read, to be used again */
	struct chunk *tail;                         /* attribution thread: read from */
	uint32_t taken;                             /* rows of the tail */
};

static _Atomic uint32_t chunks; /* in use, but for each log's first one; a bound, so relaxed */

static struct chunk *new_chunk(void)
{
	struct chunk *c = malloc(sizeof(*c)); /* its rows are touched when they are written */

	if (c) {
		atomic_init(&c->next, NULL);
		atomic_init(&c->len, 0);
	}
	return c;
}

int lc_trace_log_create(struct lc_trace_log **out)
{
	struct lc_trace_log *l = aligned_alloc(64, (sizeof(*l) + 63) / 64 * 64);
	struct chunk *first = new_chunk();

	if (!l || !first) {
		free(l);
		free(first);
		return -ENOMEM;
	}
	atomic_init(&l->lost, 0);
	atomic_init(&l->spare, NULL);
	l->head = l->tail = first;
	l->taken = 0;
	*out = l;
	return 0;
}

/* A chunk that is not the log's only one. */
static void free_chunk(struct chunk *c)
{
	if (!c)
		return;
	free(c);
	atomic_fetch_sub_explicit(&chunks, 1, memory_order_relaxed);
}

void lc_trace_log_destroy(struct lc_trace_log *l)
{
	struct chunk *next;

	if (!l)
		return;
	free_chunk(atomic_load_explicit(&l->spare, memory_order_acquire)); /* R3 */
	for (; (next = atomic_load_explicit(&l->tail->next, memory_order_acquire)); l->tail = next)
		free_chunk(l->tail);
	free(l->tail);
	free(l);
}

/* A chunk behind the full one; NULL without room or memory. */
static __attribute__((noinline)) struct chunk *add_chunk(struct lc_trace_log *l)
{
	struct chunk *c = atomic_exchange_explicit(&l->spare, NULL, memory_order_acq_rel); /* R3 */

	if (c) {
		atomic_store_explicit(&c->next, NULL, memory_order_relaxed); /* R2 follows */
		atomic_store_explicit(&c->len, 0, memory_order_relaxed);
	} else {
		if (atomic_fetch_add_explicit(&chunks, 1, memory_order_relaxed) <
		    LC_TRACE_CHUNKS_MAX)
			c = new_chunk();
		if (!c) {
			atomic_fetch_sub_explicit(&chunks, 1, memory_order_relaxed);
			return NULL;
		}
	}
	atomic_store_explicit(&l->head->next, c, memory_order_release); /* R2 */
	l->head = c;
	return c;
}

bool lc_trace_log_put(struct lc_trace_log *l, const struct lc_block_trace *row)
{
	struct chunk *c = l->head;
	uint32_t len = atomic_load_explicit(&c->len, memory_order_relaxed); /* ours */

	if (len == LC_TRACE_CHUNK_ROWS) {
		c = add_chunk(l);
		len = 0;
		if (!c) {
			atomic_fetch_add_explicit(&l->lost, 1, memory_order_relaxed); /* a count */
			return false;
		}
	}
	c->rows[len] = *row;
	atomic_store_explicit(&c->len, len + 1, memory_order_release); /* R1 */
	return len + 1 == LC_TRACE_CHUNK_ROWS;
}

bool lc_trace_log_take(struct lc_trace_log *l, struct lc_block_trace *out)
{
	struct chunk *c = l->tail;

	if (l->taken == LC_TRACE_CHUNK_ROWS) {
		struct chunk *next = atomic_load_explicit(&c->next, memory_order_acquire); /* R2 */

		if (!next)
			return false;
		free_chunk(atomic_exchange_explicit(&l->spare, c, memory_order_acq_rel)); /* R3 */
		l->tail = c = next;
		l->taken = 0;
	}
	if (l->taken == atomic_load_explicit(&c->len, memory_order_acquire)) /* R1 */
		return false;
	*out = c->rows[l->taken++];
	return true;
}

uint64_t lc_trace_log_lost(const struct lc_trace_log *l)
{
	return atomic_load_explicit(&l->lost, memory_order_relaxed); /* a count */
}

uint64_t lc_trace_log_left(const struct lc_trace_log *l)
{
	uint64_t rows = 0;

	for (const struct chunk *c = l->tail; c;
	     c = atomic_load_explicit(&c->next, memory_order_acquire)) /* R2 */
		rows += atomic_load_explicit(&c->len, memory_order_relaxed);
	return rows - l->taken;
}
