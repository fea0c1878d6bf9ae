/* SPDX-License-Identifier: Apache-2.0 */
/* heap/common_counters.c - keeps the counters by site, in blocks that are made when needed. */
#include "src/heap/common_counters.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { BLOCK_BITS = 12, BLOCK_LEN = 1 << BLOCK_BITS, BLOCKS = 1 << 10 /* as many sites as are */ };

struct counter {
	_Atomic uint64_t allocations, bytes;
	uint64_t taken_allocations, taken_bytes; /* the attribution thread's */
};

static _Atomic(struct counter *) blocks[BLOCKS];
static _Atomic uint32_t blocks_end; /* behind the last block that there is */

/* The block, made where it is not there; NULL without memory. */
static struct counter *block_at(uint32_t i)
{
	struct counter *there = atomic_load_explicit(&blocks[i], memory_order_acquire); /* C1 */
	struct counter *new;
	uint32_t end;

	if (there)
		return there;
	new = calloc(BLOCK_LEN, sizeof(*new));
	if (!new)
		return NULL;
	if (!atomic_compare_exchange_strong_explicit(&blocks[i], &there, new, memory_order_acq_rel,
	                                             memory_order_acquire)) { /* C1 */
		free(new);
		return there;
	}
	end = atomic_load_explicit(&blocks_end, memory_order_relaxed);
	/* Relaxed: who reads less looks at the block the next time. */
	while (end <= i &&
	       !atomic_compare_exchange_weak_explicit(&blocks_end, &end, i + 1,
	                                              memory_order_relaxed, memory_order_relaxed))
		;
	return new;
}

bool lc_common_counters_add(uint32_t site, uint64_t bytes)
{
	struct counter *c = site >> BLOCK_BITS < BLOCKS ? block_at(site >> BLOCK_BITS) : NULL;

	if (!c)
		return false;
	c += site & (BLOCK_LEN - 1);
	/* Relaxed: counts. */
	atomic_fetch_add_explicit(&c->bytes, bytes, memory_order_relaxed);
	atomic_fetch_add_explicit(&c->allocations, 1, memory_order_relaxed);
	return true;
}

bool lc_common_counters_take(uint32_t *cursor, struct lc_common_count *out)
{
	const uint32_t end = atomic_load_explicit(&blocks_end, memory_order_relaxed) << BLOCK_BITS;

	for (; *cursor < end; ++*cursor) {
		struct counter *c = atomic_load_explicit(&blocks[*cursor >> BLOCK_BITS],
		                                         memory_order_acquire); /* C1 */
		uint64_t allocations, bytes;

		if (!c)
			continue;
		c += *cursor & (BLOCK_LEN - 1);
		allocations = atomic_load_explicit(&c->allocations, memory_order_relaxed);
		bytes = atomic_load_explicit(&c->bytes, memory_order_relaxed);
		if (allocations == c->taken_allocations && bytes == c->taken_bytes)
			continue;
		*out = (struct lc_common_count){ *cursor, allocations - c->taken_allocations,
			                         bytes - c->taken_bytes };
		c->taken_allocations = allocations;
		c->taken_bytes = bytes;
		++*cursor;
		return true;
	}
	return false;
}

void lc_common_counters_sum(uint64_t *allocations, uint64_t *bytes)
{
	const uint32_t end = atomic_load_explicit(&blocks_end, memory_order_relaxed);

	*allocations = *bytes = 0;
	for (uint32_t i = 0; i < end; i++) {
		const struct counter *c =
		    atomic_load_explicit(&blocks[i], memory_order_acquire); /* C1 */

		for (uint32_t j = 0; c && j < BLOCK_LEN; j++) {
			*allocations +=
			    atomic_load_explicit(&c[j].allocations, memory_order_relaxed);
			*bytes += atomic_load_explicit(&c[j].bytes, memory_order_relaxed);
		}
	}
}
