/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/offheap.h - tells blocks outside the heap from objects. Pure. */
#ifndef LC_OBJECTS_ANALYSIS_OFFHEAP_H
#define LC_OBJECTS_ANALYSIS_OFFHEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/objects/analysis/ranking.h"

/* Is the class that of blocks outside the heap? */
bool lc_offheap_class(struct lc_text class);

/* Samples of the view at blocks outside the heap. */
uint64_t lc_offheap_samples(const struct lc_view *v);

/* Bytes, and blocks, that were allocated and not freed until the end. */
static inline uint64_t lc_offheap_live_bytes(const struct lc_rank_offheap *o)
{
	return o->allocated_bytes > o->freed_bytes ? o->allocated_bytes - o->freed_bytes : 0;
}

static inline uint64_t lc_offheap_live(const struct lc_rank_offheap *o)
{
	return o->allocated > o->freed ? o->allocated - o->freed : 0;
}

/* The sums of all rows. */
struct lc_rank_offheap lc_offheap_all(const struct lc_ranking *rank);

/* For qsort() of pointers to rows: most live bytes first, then most allocated ones. */
int lc_offheap_order(const void *a, const void *b);

#endif
