/* view.h - one engine's part of a tree, summed up and sorted for a report. */
#ifndef LC_VIEW_H
#define LC_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "load.h"
#include "tree.h"

enum lc_view_sort { LC_SORT_SAMPLES, LC_SORT_BYTES, LC_SORT_ALLOCATIONS, LC_SORT_CLASS };

struct lc_view_access {
	uint32_t bucket; /* enum lc_bucket */
	uint32_t site;   /* 0 outside LC_BUCKET_OBJECT */
	uint32_t path;
	uint64_t samples;
};

struct lc_view_site {
	uint32_t site;
	uint64_t id; /* lc_tree_site_id() */
	uint64_t allocations;
	uint64_t bytes;
	uint64_t samples;
	const struct lc_view_access *accesses; /* most samples first */
	size_t accesses_len;
};

struct lc_view_thread {
	uint32_t row; /* of tree.threads */
	uint32_t process;
	uint32_t tid;
	uint32_t name; /* string */
	uint64_t allocations;
	uint64_t bytes;
	uint64_t samples;
	uint64_t buckets[LC_BUCKET_COUNT];
};

/* Code that samples fell into: a source line, or a method. */
struct lc_view_code {
	uint32_t method;
	uint32_t line1;   /* line + 1; 0: unknown, or a method */
	uint64_t samples; /* it was the leaf */
	uint64_t object;  /* of these, in tracked objects */
	uint64_t total;   /* it was anywhere on the path; methods only */
};

struct lc_view {
	const struct lc_load *load;
	const struct lc_tree *tree;
	uint32_t engine;
	uint64_t total; /* samples of the engine: sum of buckets */
	uint64_t buckets[LC_BUCKET_COUNT];
	uint64_t where[LC_DETAIL_WHERE_COUNT];
	uint64_t how[LC_DETAIL_HOW_COUNT];
	struct lc_view_access *accesses; /* by site, then most samples first */
	size_t accesses_len;
	struct lc_view_site *sites; /* as asked for; each allocated or accessed one */
	size_t sites_len;
	struct lc_view_thread *threads; /* most samples first */
	size_t threads_len;
	struct lc_view_code *lines; /* most samples first */
	size_t lines_len;
	struct lc_view_code *methods;
	size_t methods_len;
};

/* Free with lc_view_free(). Equal inputs give equal orders, whatever order they were loaded in. */
void lc_view_build(struct lc_view *v, const struct lc_load *load, uint32_t engine,
                   enum lc_view_sort sort);
void lc_view_free(struct lc_view *v);

/*
 * Shares of `counts` in their sum as tenths of a percent, rounded so that they add up to 1000
 * (or all 0 when the sum is 0).
 */
void lc_view_tenths(const uint64_t *counts, size_t n, unsigned *tenths);

/* part / whole, 0 for 0 / 0. */
double lc_view_share(uint64_t part, uint64_t whole);

#endif
