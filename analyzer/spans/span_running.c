/* SPDX-License-Identifier: Apache-2.0 */
/* spans/span_running.c - joins the rows of each unfinished span; drops spans that ended. */
#include "analyzer/spans/span_running.h"

#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "src/base/order.h"

static uint32_t thread_of(const struct lc_span_rows *r, uint32_t row)
{
	return lc_table_key(&r->tree->running, row)[LC_RUNNING_THREAD];
}

/* Order by span; of one span, the row with most cycles comes first. */
static int order_rows(const void *a, const void *b, void *rows)
{
	const struct lc_span_running *x = a, *y = b;
	const struct lc_span_rows *r = rows;
	int order = lc_order_u64(x->process, y->process);

	if (!order)
		order = lc_order_u64(x->number, y->number);
	if (!order)
		order = lc_order_u64(y->cycles, x->cycles);
	return order ? order
	             : lc_order_u64(r->threads[thread_of(r, x->row)].index,
	                            r->threads[thread_of(r, y->row)].index);
}

/* Keep one element for each span that has not ended. Returns how many there are. */
static size_t join(struct lc_span_running *list, size_t len)
{
	size_t kept = 0;

	for (size_t at = 0, next; at < len; at = next) {
		struct lc_span_running span = list[at];

		for (next = at + 1; next < len && list[next].process == span.process &&
		                    list[next].number == span.number;
		     next++) {
			if (list[next].compensated > span.compensated)
				span.compensated = list[next].compensated;
			if (list[next].inside > span.inside)
				span.inside = list[next].inside;
			if (list[next].begin_ns > span.begin_ns)
				span.begin_ns = list[next].begin_ns;
			span.folded |= list[next].folded;
			span.ended |= list[next].ended;
		}
		if (!span.ended)
			list[kept++] = span;
	}
	return kept;
}

/* Cycles inside the span of a row of RUNNING; 0: nothing, or not told. */
static uint64_t inside_of(const struct lc_tree *t, const uint32_t *running)
{
	uint32_t key[LC_RUNNING_NESTED_KEY] = { [LC_RUNNING_NESTED_THREAD] =
		                                    running[LC_RUNNING_THREAD] };
	uint32_t row;

	lc_tree_wide_put(key + LC_RUNNING_NESTED_NUMBER, lc_tree_wide(running + LC_RUNNING_NUMBER));
	row = lc_table_find(&t->running_nested, key);
	return row == UINT32_MAX
	           ? 0
	           : lc_table_values(&t->running_nested, row)[LC_RUNNING_NESTED_CYCLES];
}

struct lc_span_running *lc_span_running_list(const struct lc_span_rows *r, size_t *len)
{
	const struct lc_table *t = &r->tree->running;
	struct lc_span_running *list = lc_mem_zeroed(t->count + 1, sizeof(*list));

	for (uint32_t i = 0; i < t->count; i++) {
		const uint64_t *values = lc_table_values(t, i);

		list[i] = (struct lc_span_running){
			.process = r->threads[thread_of(r, i)].process,
			.row = i,
			.number = lc_tree_wide(lc_table_key(t, i) + LC_RUNNING_NUMBER),
			.cycles = values[LC_RUNNING_CYCLES],
			.compensated = values[LC_RUNNING_COMPENSATED],
			.inside = inside_of(r->tree, lc_table_key(t, i)),
			.begin_ns = values[LC_RUNNING_BEGIN],
			.folded = values[LC_RUNNING_FOLDED],
			.ended = values[LC_RUNNING_ENDED],
		};
	}
	qsort_r(list, t->count, sizeof(*list), order_rows, (void *)(uintptr_t)r);
	*len = join(list, t->count);
	return list;
}
