/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/ranking.h - builds a ranking, the main list of a report: the objects of a view's
 * samples, tracked or not, summed up by class and allocating line or as the user asks.
 *
 * Each sample in an object of known class is in exactly one row. If an object was not tracked, its
 * allocating line is an estimate (lc_view_split): the class's samples are divided among its lines
 * in whole numbers, so that sums stay exact.
 */
#ifndef LC_OBJECTS_ANALYSIS_RANKING_H
#define LC_OBJECTS_ANALYSIS_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/table.h"
#include "analyzer/objects/analysis/contents.h"
#include "analyzer/objects/analysis/known_lines.h"
#include "analyzer/objects/analysis/view.h"

/* In the order of --group. */
enum lc_rank_group {
	LC_GROUP_LINE, /* class and line of allocation */
	LC_GROUP_CLASS,
	LC_GROUP_FIELD, /* class and field, or element */
	LC_GROUP_PACKAGE,
	LC_GROUP_SITE, /* class and whole call path of the allocation */
	LC_GROUP_BY,   /* what --by keeps apart: see model/groups.h */
	/*
	 * Request context: of samples that of the accessing path, of allocations that of the
	 * allocating path. The rows have all samples, also those in no object of known class.
	 */
	LC_GROUP_REQUEST,
	LC_GROUP_COUNT
};

/* Does a row say where its objects were allocated? */
static inline bool lc_rank_by_allocation(enum lc_rank_group group)
{
	return group == LC_GROUP_LINE || group == LC_GROUP_SITE;
}

/* Its word, as --group takes it. Static storage. */
const char *lc_rank_group_name(enum lc_rank_group group);

/* An estimated number with its 95% interval, and its variance. */
struct lc_rank_number {
	double value, low, high, variance;
};

/* Samples that were taken on one call path. */
struct lc_rank_access {
	uint32_t path;
	uint64_t samples;
};

/* A place where the program stores objects of a row. */
struct lc_rank_name {
	uint32_t kind; /* enum lc_site_name */
	uint32_t name; /* string */
	double bytes;  /* allocated by the sites that have the name, as far as known */
};

/* Copies of a row's objects by collections. */
struct lc_rank_copies {
	/* tracked objects, each time that they were copied */
	uint64_t objects, bytes;
	/* copies in the first collection after the object's allocation */
	uint64_t outlived, outlived_bytes;
	uint64_t estimated_bytes; /* copied, of objects that are not tracked */
};

/* Blocks outside the heap that were allocated at a row's sites. */
struct lc_rank_offheap {
	uint64_t allocated, allocated_bytes;
	uint64_t freed, freed_bytes;
	uint64_t before, before_bytes; /* that were there before the recording */
};

/* A part of a row. */
struct lc_rank_part {
	uint32_t bucket, site; /* of tree.sites; in LC_BUCKET_HEAP_CLASS the class's */
	uint32_t from; /* site of the allocation: `site`, an estimated one, or 0: not known */
	uint64_t samples;
};

struct lc_rank_row {
	/* string; of LC_GROUP_PACKAGE any class of the package, of LC_GROUP_BY "host=web1", of
	 * LC_GROUP_REQUEST "GET /cart" */
	uint32_t class;
	uint32_t field;   /* string, of LC_GROUP_FIELD; "" are elements */
	bool field_known; /* of LC_GROUP_FIELD */
	uint32_t path;    /* of the allocation: one with that line; 0: not known, or several */
	uint64_t samples;
	uint64_t pairs;       /* of the samples, as in struct lc_weighted */
	double effective;     /* so many independent observations they are */
	uint64_t estimated;   /* of the samples: that they are of this line is an estimate */
	double variance;      /* of the samples: what the estimate of their line adds */
	double low, high;     /* 95% interval of the share of all samples */
	bool all_lines;       /* where they were allocated is told by some compared profiles only */
	bool rest;            /* too little is known to rank it: see lc_ranking.shown */
	uint64_t allocations; /* counted, of tracked objects */
	uint64_t bytes;
	uint64_t spread; /* of the allocations of LC_GROUP_SITE: the caller is an estimate */
	struct lc_rank_number objects,
	    object_bytes;             /* estimated, of objects that are not tracked */
	double live[LC_LIVE_COLUMNS]; /* of `objects`: outlived lc_live_collections(i) */
	uint64_t sampled;             /* allocations that `objects` is estimated from */
	struct lc_rank_copies copies;
	struct lc_rank_offheap offheap;
	struct lc_rank_contents contents;
	const struct lc_rank_access *accesses; /* most samples first */
	size_t accesses_len;
	const struct lc_rank_part *parts; /* most samples first, then as they are in the view */
	size_t parts_len;
	/* For LC_GROUP_LINE and LC_GROUP_SITE: by kind, then most bytes first. */
	const struct lc_rank_name *names;
	size_t names_len;
	const uint32_t *sites; /* that its objects were allocated at; none of LC_GROUP_FIELD */
	size_t sites_len;
};

struct lc_ranking {
	const struct lc_view *view;
	enum lc_rank_group group;
	struct lc_rank_row *rows; /* `shown` rows, most samples first, then the rest likewise */
	size_t len, shown;
	uint64_t samples;              /* of all rows: `in_objects`, or, by request context, all */
	uint64_t pairs;                /* of these */
	struct lc_weighted in_objects; /* samples in objects whose class is known */
	uint64_t rest_samples;         /* of the rows from `shown` on */
	struct lc_arena arena;
};

enum { LC_RANK_SAMPLES_MIN = 5 }; /* a row with fewer observations is part of the rest */

/*
 * Free with lc_ranking_free(). The view must outlive it. `told`: what was added are all profiles
 * that this one is compared with, itself too; NULL: it stands alone.
 */
void lc_ranking_build(struct lc_ranking *r, const struct lc_view *v, enum lc_rank_group group,
                      struct lc_known_lines *told);
void lc_ranking_free(struct lc_ranking *r);

/*
 * Wilson's 95% interval of the share of `part` in `whole`, of observations: lc_wilson_weighted().
 * It is right at 0 and 1 too. *low and *high are 0 to 1, around the share; 0 and 1 for a whole of
 * 0.
 */
void lc_rank_interval(struct lc_weighted part, struct lc_weighted whole, double *low, double *high);

/* The same of a part of the view's samples, to which an estimate adds this variance (in samples).
 */
void lc_rank_interval_of(const struct lc_view *v, struct lc_weighted part, double variance,
                         double *low, double *high);

/* The samples of a row. */
static inline struct lc_weighted lc_rank_weighted(const struct lc_rank_row *row)
{
	return (struct lc_weighted){ row->samples, row->pairs };
}

/* A caller of accesses, or the line of the accesses themselves. */
struct lc_rank_caller {
	uint32_t method;
	uint32_t line1; /* line + 1; 0: unknown */
	uint64_t samples;
};

/* Neighbouring lines of one method, and who called it there. */
struct lc_rank_lines {
	uint32_t method;      /* UINT32_MAX: the path is not known */
	uint32_t first, last; /* lines + 1; 0 and 0: unknown */
	uint32_t own;         /* path to the own frame, as lc_own_above() finds it; 0: none */
	uint64_t samples;     /* sum of its callers', and of those without */
	const struct lc_rank_caller *callers; /* most samples first */
	size_t callers_len;
};

/*
 * Accesses rolled up, most samples first. All sums add up to those of `accesses`. The array and
 * what it points to are in `arena`. Lines are one where they are equal or follow one another. The
 * JDK's frames of a VarHandle or of Unsafe are passed over: their caller's line made the access.
 */
struct lc_rank_lines *lc_rank_roll_up(struct lc_arena *arena, const struct lc_tree *t,
                                      const struct lc_rank_access *accesses, size_t len,
                                      size_t *out_len);

/* Is a row's name one to show whole, since it is no class? */
static inline bool lc_rank_is_no_class(const struct lc_ranking *r)
{
	return r->group == LC_GROUP_PACKAGE || r->group == LC_GROUP_BY ||
	       r->group == LC_GROUP_REQUEST;
}

/* The package of a class: "org.h2.value" of "org.h2.value.Value[]"; "" of arrays of numbers. */
struct lc_text lc_rank_package(struct lc_text class_name);

/* A row's name: its class, its package (may be ""), or its group. */
static inline struct lc_text lc_rank_row_name(const struct lc_ranking *r,
                                              const struct lc_rank_row *row)
{
	const struct lc_text class = lc_tree_text(r->view->tree, row->class);

	return r->group == LC_GROUP_PACKAGE ? lc_rank_package(class) : class;
}

#endif
