/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/live_holders.h - joins what holds the objects of a line's sites, by the last
 * walk of the heap of each process: the section HOLDERS.
 */
#ifndef LC_OBJECTS_ANALYSIS_LIVE_HOLDERS_H
#define LC_OBJECTS_ANALYSIS_LIVE_HOLDERS_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/tree.h"

struct lc_arena;
struct lc_ranking;

/* A chain of references from a root, and how many of the objects that were looked at it holds. */
struct lc_live_chain {
	struct lc_text text; /* "static Leak.cache -> java.util.HashMap.table[]" */
	uint64_t objects;
};

struct lc_live_holders {
	const struct lc_live_chain *chains; /* most objects first */
	size_t len;
	uint64_t looked_at; /* objects; those of chains without a row of their own, too */
};

/*
 * Make an element for each row of the ranking, in the arena. `lines`: the row of each site, + 1; 0:
 * none.
 */
struct lc_live_holders *lc_live_holders_of(struct lc_arena *arena, const struct lc_ranking *rank,
                                           const uint32_t *lines);

#endif
