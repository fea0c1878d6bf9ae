/* SPDX-License-Identifier: Apache-2.0 */
/* heap/map_impl.h - declares what the files heap/map*.c share; private to them. */
#ifndef LC_HEAP_MAP_IMPL_H
#define LC_HEAP_MAP_IMPL_H

#include <Judy.h>

#include "src/heap/map.h"

/* A survivor; map_store.c knows its address. */
struct lc_map_entry {
	uint32_t size_words;
	uint32_t site;
	uint32_t birth_in; /* (closes when it was allocated) << LC_MAP_BIRTH, and the bits below */
};

enum {
	LC_MAP_DOUBT = 1, /* it is in doubt */
	LC_MAP_NEW = 2,   /* nothing has been collected since it was allocated */
	LC_MAP_BIRTH = 2  /* bits below the number of closes */
};

enum { LC_MAP_CACHED = 8, LC_MAP_GRID_BITS = 1 << 20, LC_MAP_FILTER_BITS = 1 << 17 };

struct lc_map_page; /* of map_store.c */

/* A page that was asked for, or NULL. */
struct lc_map_cached {
	uint64_t key;
	struct lc_map_page *page;
};

/* One bit per granule of the heap. Addresses outside share the last bit, which is never set. */
struct lc_map_grid {
	uint64_t low;
	uint64_t granules; /* below LC_MAP_GRID_BITS */
	unsigned shift;
	uint64_t words[LC_MAP_GRID_BITS / 64];
};

struct lc_map {
	/* Private to map_store.c, which explains them. */
	void *judy; /* key -> struct lc_map_page *; NULL: there is none */
	struct lc_map_cached cached[LC_MAP_CACHED];
	size_t count;             /* objects */
	uint64_t store_bytes;     /* of pages */
	struct lc_map_live *live; /* by site */
	size_t live_cap;

	/*
	 * Records of objects that stayed in eden, since a pause collected nothing (G1's remark and
	 * cleanup). They are still a nursery, and are streamed like one. Older records come first,
	 * or the records are sorted and disjoint. Forgotten records have site 0.
	 */
	struct lc_alloc *kept;
	size_t kept_len, kept_cap;
	size_t kept_forgotten;
	bool kept_sorted;

	struct lc_area *areas; /* the last layout */
	size_t areas_len;
	uint32_t closes;     /* epochs closed */
	uint32_t old_closes; /* see lc_map_old_closes() */
	uint16_t tag;        /* of the epoch closed last */

	uint64_t
	    *doubts; /* addresses to ask about; objects there that are not in doubt are skipped */
	size_t doubts_len, doubts_cap;

	/* Sums since they were taken, and by site the number of its row in `copied`, from 1; or 0.
	 */
	struct lc_map_copied *copied;
	size_t copied_len, copied_cap;
	uint32_t *copied_rows;
	size_t copied_rows_cap;
	uint64_t copied_lost;
	uint64_t dropped;       /* see lc_map_dropped() */
	struct lc_alloc *fresh; /* records of survivors that are LC_MAP_NEW */
	size_t fresh_len, fresh_cap;

	struct lc_map_grid
	    open; /* places where an object of the nursery may have stayed or moved from */
	struct lc_map_grid held;                    /* places where survivors may be */
	uint64_t pages[LC_MAP_FILTER_BITS / 64];    /* of queries, by 4 KiB */
	uint64_t segments[LC_MAP_FILTER_BITS / 64]; /* of queries, by 64 KiB */
};

/*
 * Record `j` of run `i` is read: fetch what lies as far in the next run. Runs lie apart, and each
 * is too short for the CPU to fetch it ahead.
 */
static inline void lc_map_fetch(const struct lc_nursery *n, size_t i, size_t j)
{
	if (j % 4 == 0 && i + 1 < n->len) /* 64 bytes; beyond its end, a fetch does nothing */
		__builtin_prefetch((const char *)n->runs[i + 1].records +
		                   j * sizeof(struct lc_alloc));
}

static inline uint64_t lc_map_grid_index(const struct lc_map_grid *g, uint64_t addr)
{
	uint64_t i = (addr - g->low) >> g->shift; /* below low: huge */

	return i < g->granules ? i : g->granules;
}

static inline bool lc_map_grid_has(const struct lc_map_grid *g, uint64_t addr)
{
	uint64_t i = lc_map_grid_index(g, addr);

	return g->words[i / 64] >> (i % 64) & 1;
}

/* Empty the grid and lay it over [low, high). */
void lc_map_grid_reset(struct lc_map_grid *g, uint64_t low, uint64_t high);
void lc_map_grid_add(struct lc_map_grid *g, uint64_t low, uint64_t high);
bool lc_map_grid_meets(const struct lc_map_grid *g, uint64_t low, uint64_t high);

/*
 * The survivor that starts at `addr`, or the first one above it; NULL if there is none. *found is
 * its address. The entry is valid until one is put in or taken out.
 */
struct lc_map_entry *lc_map_at_or_above(struct lc_map *m, uint64_t addr, uint64_t *found);
struct lc_map_entry *lc_map_at_or_below(struct lc_map *m, uint64_t addr, uint64_t *found);
struct lc_map_entry *lc_map_at(struct lc_map *m, uint64_t addr);

/* The survivor at `addr`, as the map tells it to others. */
static inline struct lc_object lc_map_object(const struct lc_map *m, uint64_t addr,
                                             const struct lc_map_entry *e)
{
	return (struct lc_object){ .addr = addr,
		                   .size_bytes = (uint64_t)e->size_words * 8,
		                   .site = e->site,
		                   .epochs = m->closes - (e->birth_in >> LC_MAP_BIRTH),
		                   .in_doubt = e->birth_in & LC_MAP_DOUBT };
}

/* Put an object in at an address where there is none. Returns 0 or -ENOMEM. */
int lc_map_put(struct lc_map *m, uint64_t addr, struct lc_map_entry entry);

/* The same, in place of all objects that overlap it. */
int lc_map_put_over(struct lc_map *m, uint64_t addr, struct lc_map_entry entry);

/* Take out the object that starts at `addr`; there is one. */
void lc_map_remove(struct lc_map *m, uint64_t addr);

/* Take out all objects that overlap [low, high). */
void lc_map_remove_range(struct lc_map *m, uint64_t low, uint64_t high);

/* The sums of a site; NULL without memory, which is counted as one object lost. */
struct lc_map_copied *lc_map_copied_of(struct lc_map *m, uint32_t site);

/* The entry is of another site. Without memory it keeps its own. */
void lc_map_entry_site(struct lc_map *m, struct lc_map_entry *e, uint32_t site);

/* Take out all survivors. */
void lc_map_store_clear(struct lc_map *m);

/* Forget all objects, and the layout. */
void lc_map_clear(struct lc_map *m);

/* Take out addresses where no object is in doubt any more, if that may be most of them. */
void lc_map_prune_doubts(struct lc_map *m);

/* Keep a copy of the layout. 0, or -ENOMEM and nothing changed. */
int lc_map_keep_layout(struct lc_map *m, const struct lc_area *areas, size_t len);

/* Sort the kept records and take out those that newer ones overlap. */
void lc_map_sort_kept(struct lc_map *m);

/* Collections that the object of a kept record has outlived. */
static inline uint16_t lc_map_kept_epochs(const struct lc_map *m, const struct lc_alloc *a)
{
	return (uint16_t)(m->tag - lc_alloc_epoch_tag(a) + 1);
}

#endif
