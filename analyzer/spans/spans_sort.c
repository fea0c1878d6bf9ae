/* SPDX-License-Identifier: Apache-2.0 */
/* spans/spans_sort.c - puts the groups of spans.h in the order that the user wants. */
#include "analyzer/spans/spans_impl.h"

#include <stdlib.h>

#include "src/base/order.h"

/* `sort` is the enum lc_spans_sort. */
static int order_sums(const struct lc_spans_sum *a, const struct lc_spans_sum *b, const void *sort)
{
	const enum lc_spans_sort by = *(const enum lc_spans_sort *)sort;
	int order = 0;

	if (by == LC_SPANS_BY_EXECUTIONS)
		order = lc_order_u64(b->executions, a->executions);
	else if (by == LC_SPANS_BY_SWITCHES)
		order = lc_order_u64(b->switches, a->switches);
	if (!order)
		order = lc_spans_order_i64(b->cycles, a->cycles);
	return order ? order : lc_order_u64(b->executions, a->executions);
}

static int order_streams(const void *a, const void *b, void *sort)
{
	const struct lc_spans_stream *x = a, *y = b;
	int order = order_sums(&x->sum, &y->sum, sort);

	if (!order)
		order = lc_spans_order_place(x->place, y->place);
	if (!order)
		order = lc_order_u64(x->kind, y->kind);
	return order ? order : lc_order_u64(x->level, y->level);
}

static int order_locations(const void *a, const void *b, void *sort)
{
	const struct lc_spans_location *x = a, *y = b;
	int order = order_sums(&x->sum, &y->sum, sort);

	return order ? order : lc_spans_order_place(x->place, y->place);
}

static int order_tasks(const void *a, const void *b, void *sort)
{
	const struct lc_spans_task *x = a, *y = b;
	int order = order_sums(&x->sum, &y->sum, sort);

	if (!order)
		order = lc_spans_order_text(x->type, y->type);
	if (!order)
		order = lc_spans_order_place(x->place, y->place);
	if (!order)
		order = lc_order_u64(x->submit_kind, y->submit_kind);
	if (!order)
		order = lc_spans_order_place(x->submit_place, y->submit_place);
	return order ? order : lc_order_u64(x->kind, y->kind);
}

static int order_types(const void *a, const void *b, void *sort)
{
	const struct lc_spans_type *x = a, *y = b;
	const struct lc_spans_sum all[2] = {
		{ .executions = x->sum.executions + x->threads.executions,
		  .cycles = x->sum.cycles + x->threads.cycles,
		  .switches = x->sum.switches + x->threads.switches },
		{ .executions = y->sum.executions + y->threads.executions,
		  .cycles = y->sum.cycles + y->threads.cycles,
		  .switches = y->sum.switches + y->threads.switches },
	};
	int order = order_sums(&all[0], &all[1], sort);

	return order ? order : lc_spans_order_type(x->name, x->place, y->name, y->place);
}

void lc_spans_sort_groups(struct lc_spans *s, enum lc_spans_sort sort)
{
	qsort_r(s->streams, s->streams_len, sizeof(*s->streams), order_streams, &sort);
	qsort_r(s->locations, s->locations_len, sizeof(*s->locations), order_locations, &sort);
	qsort_r(s->tasks, s->tasks_len, sizeof(*s->tasks), order_tasks, &sort);
	qsort_r(s->types, s->types_len, sizeof(*s->types), order_types, &sort);
}
