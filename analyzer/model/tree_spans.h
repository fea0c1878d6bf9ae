/* SPDX-License-Identifier: Apache-2.0 */
/* model/tree_spans.h - gives intervals and histograms of a tree's executions, row by row. */
#ifndef LC_MODEL_TREE_SPANS_H
#define LC_MODEL_TREE_SPANS_H

#include <stdbool.h>
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

/* Add the sums of an execution's row to those of another row. */
void lc_tree_spans_add(uint64_t *to, const uint64_t *from);

static inline int64_t lc_tree_spans_signed(uint64_t cycles)
{
	return cycles > INT64_MAX ? INT64_MAX : (int64_t)cycles;
}

/*
 * Set *total to the compensated cycles of row `row` of executions, with those of spans inside.
 * `told`: the manifest of the row's process has `nested`. Returns false, with the row's own cycles,
 * if it has spans inside whose cycles are not told.
 */
bool lc_tree_spans_total(const struct lc_tree *t, uint32_t row, bool told, int64_t *total);

/* Row `row` of executions had some in that time. */
void lc_tree_spans_interval(struct lc_tree *t, uint32_t row, uint64_t first_ns, uint64_t last_ns);

/* Stops the program without memory. Free with lc_tree_spans_free(). */
void lc_tree_spans_build(struct lc_tree_spans *s, const struct lc_tree *t);
void lc_tree_spans_free(struct lc_tree_spans *s);

#endif
