/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offheap/granules.c - keeps a bit for each granule that a block was in; granules 64 GiB apart
 * share one.
 *
 * Order: none. Bits are only ever set, and a handler that misses one passes over an access to a new
 * block.
 */
#include "src/offheap/granules.h"

#include <stdatomic.h>

enum { GRANULE_SHIFT = 20, BITS = 1 << 16, WORD_BITS = 64 };

static _Atomic uint64_t words[BITS / WORD_BITS];

static uint64_t mask(uint64_t granule)
{
	return UINT64_C(1) << (granule % WORD_BITS);
}

static _Atomic uint64_t *word(uint64_t granule)
{
	return &words[granule % BITS / WORD_BITS];
}

void lc_granules_note(uint64_t addr, uint64_t size_bytes)
{
	const uint64_t first = addr >> GRANULE_SHIFT;
	const uint64_t last = (addr + (size_bytes ? size_bytes - 1 : 0)) >> GRANULE_SHIFT;

	for (uint64_t g = first; g <= last && g - first < BITS; g++)
		if (!(atomic_load_explicit(word(g), memory_order_relaxed) & mask(g)))
			atomic_fetch_or_explicit(word(g), mask(g), memory_order_relaxed);
}

bool lc_granules_hold(uint64_t addr)
{
	const uint64_t g = addr >> GRANULE_SHIFT;

	return atomic_load_explicit(word(g), memory_order_relaxed) & mask(g);
}
