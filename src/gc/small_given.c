/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc/small_given.c - remembers where small objects went whose old memory the collector gives back
 * before the pause ends.
 *
 * Parallel makes its young spaces larger and smaller when it has evacuated them. It maps fresh
 * memory over the part that it gives back, and the forwarding pointers there are gone at GC finish.
 * So they are read just before. They are believed as at GC finish: a place must lie in an area with
 * objects, and an object of the class must be there.
 */
#include <stdlib.h>

#include "src/base/vector.h"
#include "src/core/counters.h"
#include "src/core/memory.h"
#include "src/gc/small_impl.h"

struct place {
	uint64_t src, dst;
};

static struct {
	uint64_t low, high; /* the memory that is given back now */
	struct place *places;
	size_t len, cap, max;
	bool sorted;
	bool looked;  /* in this pause */
	bool limited; /* there was no room for a place in this pause */
} given;

static void remember(uint64_t addr, uint32_t class_word)
{
	struct place *places = NULL;
	uint64_t to;

	if (addr >= given.high || addr + LC_SMALL_HEADER_BYTES <= given.low)
		return;
	to = lc_small_forwarding(addr, class_word);
	if (!to) /* it is dead */
		return;
	if (given.len < given.max)
		places = lc_vector_reserve_array(given.places, &given.cap, given.len + 1,
		                                 sizeof(*places));
	if (!places) {
		given.limited = true;
		lc_count(&lc_small.forgotten);
		return;
	}
	given.places = places;
	places[given.len++] = (struct place){ addr, to };
	given.sorted = false;
}

/* The bucket of an object whose header may reach to `addr`. */
static size_t bucket_of(uint64_t addr)
{
	const uint64_t first = lc_small.low + LC_SMALL_HEADER_BYTES;
	const uint64_t i =
	    addr < first ? 0
	                 : (addr - LC_SMALL_HEADER_BYTES - lc_small.low) / lc_small.bucket_bytes;

	return i < lc_small.buckets_len ? (size_t)i : lc_small.buckets_len - 1;
}

bool lc_small_given_begin(const struct lc_area *areas, size_t len, bool class_word, uint64_t low,
                          uint64_t high)
{
	if (!lc_small_lay_out() || low >= high)
		return false;
	lc_small.areas = areas;
	lc_small.areas_len = len;
	lc_small.near = 0;
	lc_small.class_word = class_word;
	lc_small_forget_granules();
	given.low = low;
	given.high = high;
	given.max = lc_small_moves_max();
	given.looked = true;
	for (size_t i = bucket_of(low); i <= bucket_of(high); i++)
		for (size_t j = 0; j < lc_small.buckets[i].len; j++)
			remember(lc_small_addr(lc_small.buckets[i].objects[j]),
			         lc_small.buckets[i].objects[j].class_word);
	return true;
}

void lc_small_given_look(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	for (size_t i = 0; i < len; i++)
		if (lc_small_is_looked_at(&records[i], tag, span))
			remember(lc_alloc_addr(&records[i]), 0);
}

static int by_source(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->src > y->src) - (x->src < y->src);
}

uint64_t lc_small_given_find(uint64_t addr)
{
	const struct place key = { .src = addr }, *found;

	if (!given.len)
		return 0;
	if (!given.sorted)
		qsort(given.places, given.len, sizeof(*given.places), by_source);
	given.sorted = true;
	found = bsearch(&key, given.places, given.len, sizeof(*given.places), by_source);
	return found ? found->dst : 0;
}

bool lc_small_given_looked(void)
{
	return given.looked;
}

bool lc_small_given_limited(void)
{
	return given.limited;
}

void lc_small_given_forget(void)
{
	free(given.places);
	given.places = NULL;
	given.len = given.cap = 0;
	given.sorted = given.looked = given.limited = false;
}
