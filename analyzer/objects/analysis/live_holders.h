/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/live_holders.h - joins what holds the objects of a line's sites, by the last
 * walk of the heap of each process: the sections HOLDERS and HELD.
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

/* Objects that had outlived a collection before a walk, those it looked for, and the live ones. */
struct lc_live_reached {
	uint64_t known, looked_for, reached;
};

/* The last walk of a process's whole heap. */
struct lc_live_walk {
	uint64_t time_ns;              /* 0: there was none, or there are several processes */
	struct lc_live_reached *sites; /* by number of a site; the caller frees it */
	size_t sites_len;
};

struct lc_live_walk lc_live_walk_of(const struct lc_ranking *rank);

/*
 * The part of the site's objects that is dead, and the most that it may be with 95% confidence; 0
 * and 1 if the walk has not looked for them. Adds the site's numbers to *sum.
 */
struct lc_live_dead {
	double part, most;
};
struct lc_live_dead lc_live_walk_dead(const struct lc_live_walk *walk, uint32_t site,
                                      struct lc_live_reached *sum);

/*
 * Make an element for each row of the ranking, in the arena. `lines`: the row of each site, + 1; 0:
 * none.
 */
struct lc_live_holders *lc_live_holders_of(struct lc_arena *arena, const struct lc_ranking *rank,
                                           const uint32_t *lines);

#endif
