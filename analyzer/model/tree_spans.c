/* SPDX-License-Identifier: Apache-2.0 */
/* model/tree_spans.c - keeps the intervals and histograms of a tree's executions. */
#include "analyzer/model/tree_spans.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"

void lc_tree_spans_add(uint64_t *to, const uint64_t *from)
{
	for (unsigned i = 0; i < LC_EXECUTION_SUMS; i++)
		if (i == LC_EXECUTION_COMPENSATED)
			lc_sum_add_signed(&to[i], (int64_t)from[i]);
		else
			lc_sum_add(&to[i], from[i]);
}

bool lc_tree_spans_total(const struct lc_tree *t, uint32_t row, bool told, int64_t *total)
{
	const uint64_t *values = lc_table_values(&t->executions, row);
	const uint32_t inside = lc_table_find(&t->nested, lc_table_key(&t->executions, row));
	uint64_t sum = values[LC_EXECUTION_COMPENSATED], any = 0;

	_Static_assert((int)LC_NESTED_KEY == (int)LC_EXECUTION_KEY &&
	                   (int)LC_NESTED_THREAD == (int)LC_EXECUTION_THREAD &&
	                   (int)LC_NESTED_KIND == (int)LC_EXECUTION_KIND &&
	                   (int)LC_NESTED_LEVEL == (int)LC_EXECUTION_LEVEL &&
	                   (int)LC_NESTED_SUBMIT == (int)LC_EXECUTION_SUBMIT &&
	                   (int)LC_NESTED_SITE == (int)LC_EXECUTION_SITE &&
	                   (int)LC_NESTED_SUBMIT_PATH == (int)LC_EXECUTION_SUBMIT_PATH &&
	                   (int)LC_NESTED_PATH == (int)LC_EXECUTION_PATH,
	               "both tables have the same keys");
	for (unsigned i = 0; i < LC_SPAN_NESTED; i++)
		any |= values[LC_EXECUTION_NESTED + i];
	if (told && inside != UINT32_MAX)
		lc_sum_add_signed(&sum, lc_tree_spans_signed(*lc_table_values(&t->nested, inside)));
	*total = (int64_t)sum;
	return told || !any;
}

/*
 * Blocks of a thread come in order, so that mostly the row's last interval goes on. Gaps of up to
 * LC_TIMELINE_NS are closed; lc_tree_spans_build() closes those that come out of order.
 */
void lc_tree_spans_interval(struct lc_tree *t, uint32_t row, uint64_t first, uint64_t last)
{
	uint64_t *open = &lc_table_values(&t->executions, row)[LC_EXECUTION_INTERVAL];

	if (*open) {
		struct lc_tree_interval *i = &t->span_intervals[*open - 1];

		if ((first <= i->last_ns || first - i->last_ns <= LC_TIMELINE_NS) &&
		    (i->first_ns <= last || i->first_ns - last <= LC_TIMELINE_NS)) {
			i->first_ns = first < i->first_ns ? first : i->first_ns;
			i->last_ns = last > i->last_ns ? last : i->last_ns;
			return;
		}
	}
	t->span_intervals = lc_mem_grow(t->span_intervals, &t->span_intervals_cap,
	                                t->span_intervals_len + 1, sizeof(*t->span_intervals));
	t->span_intervals[t->span_intervals_len++] = (struct lc_tree_interval){ row, first, last };
	*open = t->span_intervals_len;
}

static int by_row_and_time(const void *a, const void *b)
{
	const struct lc_tree_interval *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return x->first_ns < y->first_ns ? -1 : x->first_ns > y->first_ns;
}

static void build_intervals(struct lc_tree_spans *s, const struct lc_tree *t)
{
	size_t len = 0;

	s->intervals = lc_mem_zeroed(t->span_intervals_len, sizeof(*s->intervals));
	s->interval_first = lc_mem_zeroed((size_t)t->executions.count + 1, sizeof(uint32_t));
	if (t->span_intervals_len)
		memcpy(s->intervals, t->span_intervals,
		       t->span_intervals_len * sizeof(*s->intervals));
	qsort(s->intervals, t->span_intervals_len, sizeof(*s->intervals), by_row_and_time);
	for (size_t i = 0; i < t->span_intervals_len; i++) {
		struct lc_tree_interval next = s->intervals[i];
		struct lc_tree_interval *last = len ? &s->intervals[len - 1] : NULL;

		if (last && last->row == next.row &&
		    (next.first_ns <= last->last_ns ||
		     next.first_ns - last->last_ns <= LC_TIMELINE_NS)) {
			if (next.last_ns > last->last_ns)
				last->last_ns = next.last_ns;
			continue;
		}
		s->intervals[len++] = next;
		s->interval_first[next.row + 1]++;
	}
	for (uint32_t row = 0; row < t->executions.count; row++)
		s->interval_first[row + 1] += s->interval_first[row];
}

static int by_bucket(const void *a, const void *b)
{
	const struct lc_tree_bucket *x = a, *y = b;

	return x->bucket < y->bucket ? -1 : x->bucket > y->bucket;
}

static void build_buckets(struct lc_tree_spans *s, const struct lc_tree *t)
{
	uint32_t *next = lc_mem_zeroed((size_t)t->executions.count + 1, sizeof(*next));

	s->buckets = lc_mem_zeroed(t->span_buckets.count, sizeof(*s->buckets));
	s->bucket_first = lc_mem_zeroed((size_t)t->executions.count + 1, sizeof(uint32_t));
	for (uint32_t i = 0; i < t->span_buckets.count; i++)
		s->bucket_first[lc_table_key(&t->span_buckets, i)[0] + 1]++;
	for (uint32_t row = 0; row < t->executions.count; row++) {
		s->bucket_first[row + 1] += s->bucket_first[row];
		next[row] = s->bucket_first[row];
	}
	for (uint32_t i = 0; i < t->span_buckets.count; i++) {
		const uint32_t *key = lc_table_key(&t->span_buckets, i);

		s->buckets[next[key[0]]++] =
		    (struct lc_tree_bucket){ key[1], *lc_table_values(&t->span_buckets, i) };
	}
	for (uint32_t row = 0; row < t->executions.count; row++)
		qsort(s->buckets + s->bucket_first[row],
		      s->bucket_first[row + 1] - s->bucket_first[row], sizeof(*s->buckets),
		      by_bucket);
	free(next);
}

void lc_tree_spans_build(struct lc_tree_spans *s, const struct lc_tree *t)
{
	build_intervals(s, t);
	build_buckets(s, t);
}

void lc_tree_spans_free(struct lc_tree_spans *s)
{
	free(s->intervals);
	free(s->interval_first);
	free(s->buckets);
	free(s->bucket_first);
	memset(s, 0, sizeof(*s));
}
