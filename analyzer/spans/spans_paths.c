/* SPDX-License-Identifier: Apache-2.0 */
/* spans/spans_paths.c - sums up the call paths of executions, if whole paths were recorded. */
#include "analyzer/spans/spans_impl.h"
#include "src/base/order.h"

#include <stdlib.h>

#include "analyzer/base/memory.h"

static int order_same(const void *a, const void *b)
{
	const struct lc_spans_path *x = a, *y = b;
	int order = lc_order_u64(x->path, y->path);

	if (!order)
		order = lc_order_u64(x->submit_path, y->submit_path);
	if (!order)
		order = lc_order_u64(x->kind, y->kind);
	return order ? order : lc_order_u64(x->level, y->level);
}

static int order_most(const void *a, const void *b, void *tree)
{
	const struct lc_spans_path *x = a, *y = b;
	int order = lc_spans_order_i64(y->cycles, x->cycles);

	if (!order)
		order = lc_tree_order_paths(tree, x->path, y->path);
	if (!order)
		order = lc_tree_order_paths(tree, x->submit_path, y->submit_path);
	if (!order)
		order = lc_order_u64(x->kind, y->kind);
	return order ? order : lc_order_u64(x->level, y->level);
}

/* Sort paths and join equal ones. */
static void join(const struct lc_spans *s, struct lc_spans_paths *p)
{
	size_t kept = 0;

	if (!p->len)
		return;
	qsort(p->rows, p->len, sizeof(*p->rows), order_same);
	for (size_t i = 1; i < p->len; i++) {
		struct lc_spans_path *to = &p->rows[kept];

		if (order_same(to, &p->rows[i])) {
			p->rows[++kept] = p->rows[i];
			continue;
		}
		to->executions += p->rows[i].executions;
		to->folded += p->rows[i].folded;
		to->running += p->rows[i].running;
		to->measured += p->rows[i].measured;
		to->cycles += p->rows[i].cycles;
		to->total += p->rows[i].total;
		to->total_unknown |= p->rows[i].total_unknown;
	}
	p->len = kept + 1;
	qsort_r(p->rows, p->len, sizeof(*p->rows), order_most, (void *)(uintptr_t)s->tree);
}

void lc_spans_make_paths(struct lc_spans *s, struct lc_spans_paths *p,
                         const struct lc_span_row *const *rows, size_t len)
{
	if (!s->rows->whole_paths || !len)
		return;
	p->rows = lc_arena_zeroed(&s->arena, len, sizeof(*p->rows));
	p->len = len;
	for (size_t i = 0; i < len; i++)
		p->rows[i] = (struct lc_spans_path){
			.path = rows[i]->place_path,
			.submit_path = rows[i]->submit_path,
			.kind = rows[i]->kind,
			.level = rows[i]->level,
			.executions = rows[i]->executions,
			.folded = rows[i]->folded,
			.running = rows[i]->running,
			.measured = rows[i]->cycles,
			.cycles = rows[i]->compensated,
			.total = rows[i]->total,
			.total_unknown = rows[i]->total_unknown,
		};
	join(s, p);
}

struct lc_spans_paths lc_spans_join_paths(const struct lc_spans *s, const struct lc_spans_paths *p)
{
	struct lc_spans_paths joined = { lc_mem_zeroed(p->len + 1, sizeof(*p->rows)), p->len };

	for (size_t i = 0; i < p->len; i++) {
		joined.rows[i] = p->rows[i];
		joined.rows[i].level = 0;
		joined.rows[i].kind = 0;
		if (p->rows[i].kind == LC_SPAN_SUPPORT)
			joined.rows[i].executions = joined.rows[i].running = 0;
	}
	join(s, &joined);
	return joined;
}
