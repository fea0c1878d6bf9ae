/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/offheap.h - tells blocks outside the heap from objects. Pure. */
#ifndef LC_OBJECTS_ANALYSIS_OFFHEAP_H
#define LC_OBJECTS_ANALYSIS_OFFHEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/objects/analysis/ranking.h"
#include "src/format/kinds.h"

/* Is the class that of blocks outside the heap? */
static inline bool lc_offheap_class(struct lc_text class)
{
	return lc_text_ends(class, LC_OFFHEAP_SUFFIX);
}

/* ... of a mapped file? */
static inline bool lc_offheap_mapped(struct lc_text class)
{
	return lc_offheap_class(class) && lc_text_begins(class, LC_OFFHEAP_MAPPED);
}

/* Samples of the view at blocks outside the heap. */
uint64_t lc_offheap_samples(const struct lc_view *v);

/* Was there a block? */
static inline bool lc_offheap_any(const struct lc_rank_offheap *o)
{
	return o->allocated || o->before;
}

/* Bytes, and blocks, that were there or were allocated, and were not freed until the end. */
static inline uint64_t lc_offheap_live_bytes(const struct lc_rank_offheap *o)
{
	const uint64_t all = o->before_bytes + o->allocated_bytes;

	return all > o->freed_bytes ? all - o->freed_bytes : 0;
}

static inline uint64_t lc_offheap_live(const struct lc_rank_offheap *o)
{
	const uint64_t all = o->before + o->allocated;

	return all > o->freed ? all - o->freed : 0;
}

/* A site's blocks, in all of the tree. */
struct lc_offheap_site {
	uint32_t site;
	struct lc_rank_offheap counts;
};

/* All sites that have blocks; free() them. */
struct lc_offheap_site *lc_offheap_sites(const struct lc_tree *t, size_t *len);

/* Add a row's counts. */
void lc_offheap_add(struct lc_rank_offheap *sum, const struct lc_rank_offheap *o);

/* The sums of all rows. */
struct lc_rank_offheap lc_offheap_all(const struct lc_ranking *rank);

/* For qsort() of pointers to rows: most live bytes first, then most allocated ones. */
int lc_offheap_order(const void *a, const void *b);

#endif
