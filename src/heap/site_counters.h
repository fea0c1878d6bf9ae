/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/site_counters.h - counts the allocations of one thread exactly, for each site.
 *
 * Counters never move, and are freed with the thread's record: the hooks of the thread keep
 * pointers to them, and the attribution thread reads them at any time.
 */
#ifndef LC_HEAP_SITE_COUNTERS_H
#define LC_HEAP_SITE_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

#include "src/base/slab.h"

/* Counts of one site in one thread. LocusHook.java knows the layout of the first two. */
struct lc_site_counter {
	_Atomic uint64_t allocations; /* written by: owner thread */
	_Atomic uint64_t bytes;       /* written by: owner thread */
	/*
	 * If small objects are tracked: the part of `allocations` that the stack tells, since the
	 * object was large or each object was looked at. Counted before these, so that a reader
	 * takes none for an estimate. Written by: owner thread.
	 */
	_Atomic uint64_t looked;
	/* The part that heap/recent.h has counted without a look. Written by: owner thread. */
	_Atomic uint64_t believed;
	uint64_t taken_allocations; /* attribution thread only: already written to the profile */
	uint64_t taken_bytes;
	uint64_t taken_spread; /* allocations less `looked`, or `believed` */
	uint32_t site;
};

/* Empty when all is 0. */
struct lc_site_counters {
	struct lc_slab slab;
	size_t taken_bytes; /* of core/memory.h */
};

/* Context: [writer], when the thread has ended. */
void lc_site_counters_free(struct lc_site_counters *c);

/*
 * The counter of a site, made when it is new; NULL without memory, or where the limit has no room.
 * Context: [hook], owner.
 */
struct lc_site_counter *lc_site_counters_of(struct lc_site_counters *c, uint32_t site);

/* One writer: a count that the attribution thread may read at any time. */
static inline void lc_site_counter_one(_Atomic uint64_t *count)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1,
	                      memory_order_relaxed);
}

/* Count an object in `looked`. Context: [hook], owner. */
static inline void lc_site_counter_looked(struct lc_site_counter *c)
{
	lc_site_counter_one(&c->looked);
}

/* Count an object in `believed`. Context: [hook], owner. */
static inline void lc_site_counter_believed(struct lc_site_counter *c)
{
	lc_site_counter_one(&c->believed);
}

/* Walk the counters: number `i`, or NULL behind the last. Context: [writer]. */
struct lc_site_counter *lc_site_counters_at(const struct lc_site_counters *c, uint32_t i);

#endif
