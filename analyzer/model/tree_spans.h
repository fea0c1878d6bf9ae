/* model/tree_spans.h - gives intervals and histograms of a tree's executions, row by row. */
#ifndef LC_MODEL_TREE_SPANS_H
#define LC_MODEL_TREE_SPANS_H

#include <stdint.h>

#include "analyzer/model/tree.h"

struct lc_tree_bucket {
	uint32_t bucket;
	uint64_t count;
};

/*
 * Row i of executions has intervals[interval_first[i]] up to interval_first[i + 1], and its buckets
 * are found in the same way.
 */
struct lc_tree_spans {
	struct lc_tree_interval
	    *intervals; /* of a row: earliest first, LC_TIMELINE_NS apart or more */
	uint32_t *interval_first;
	struct lc_tree_bucket *buckets; /* of a row: lowest first */
	uint32_t *bucket_first;
};

/* Stops the program without memory. Free with lc_tree_spans_free(). */
void lc_tree_spans_build(struct lc_tree_spans *s, const struct lc_tree *t);
void lc_tree_spans_free(struct lc_tree_spans *s);

#endif
