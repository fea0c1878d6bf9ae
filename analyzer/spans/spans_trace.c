/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans/spans_trace.c - computes for single spans which span belongs to which, by the agent's rules
 * (src/format/fold.h), and compares the result with the agent's counts.
 */
#include "analyzer/spans/spans_impl.h"
#include "src/base/order.h"

#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "src/format/fold.h"

static uint32_t process_of(const struct lc_span_rows *r, const struct lc_span_trace *t)
{
	return r->threads[t->thread].process;
}

static int order_ids(const void *a, const void *b, void *rows)
{
	const struct lc_span_trace *x = *(const struct lc_span_trace *const *)a;
	const struct lc_span_trace *y = *(const struct lc_span_trace *const *)b;
	int order = lc_order_u64(process_of(rows, x), process_of(rows, y));

	return order ? order : lc_order_u64(x->id, y->id);
}

static int order_objects(const void *a, const void *b, void *rows)
{
	const struct lc_span_trace *x = *(const struct lc_span_trace *const *)a;
	const struct lc_span_trace *y = *(const struct lc_span_trace *const *)b;
	int order = lc_order_u64(process_of(rows, x), process_of(rows, y));

	return order ? order : lc_order_u64(x->logical, y->logical);
}

struct span_key {
	const struct lc_span_rows *rows;
	uint32_t process;
	uint64_t id;
};

static int order_key_span(const void *key, const void *span)
{
	const struct span_key *k = key;
	const struct lc_span_trace *t = *(const struct lc_span_trace *const *)span;
	int order = lc_order_u64(k->process, process_of(k->rows, t));

	return order ? order : lc_order_u64(k->id, t->id);
}

/* Find the span with this number; NULL if it was not written. */
static const struct lc_span_trace *find(const struct lc_span_rows *r,
                                        const struct lc_span_trace **by_id, uint32_t process,
                                        uint64_t id)
{
	const struct span_key key = { r, process, id };
	const struct lc_span_trace **found =
	    bsearch(&key, by_id, r->traces_len, sizeof(*by_id), order_key_span);

	return found ? *found : NULL;
}

/*
 * Does the support span work for a stream that a span around it on its thread executes? 0: it works
 * for another thread's stream; -1: a span around it is not in the trace.
 */
static int is_inside_its_stream(const struct lc_span_rows *r, const struct lc_span_trace **by_id,
                                const struct lc_span_trace *support)
{
	const struct lc_span_trace *t = support;

	for (unsigned depth = 0; t->outer && depth < 65536; depth++) {
		t = find(r, by_id, process_of(r, support), t->outer);
		if (!t)
			return -1;
		if (t->kind == LC_SPAN_PRIMORDIAL && t->id == support->logical)
			return 1;
	}
	return 0;
}

/*
 * The kind of the innermost task or thread around the span; without one, the thread itself.
 * LC_SPAN_KINDS: a span around it has not ended, so it is not in the trace.
 */
static unsigned kind_around(const struct lc_span_rows *r, const struct lc_span_trace **by_id,
                            const struct lc_span_trace *t)
{
	const uint32_t process = process_of(r, t);
	const unsigned flags = t->flags;

	/* A damaged profile may hold a cycle. */
	for (unsigned depth = 0; t->outer && depth < 65536; depth++) {
		t = find(r, by_id, process, t->outer);
		if (!t)
			return LC_SPAN_KINDS;
		if (lc_spans_is_task(t->kind))
			return lc_fold_outer(t->kind, t->flags, flags);
		if (t->kind != LC_SPAN_SUPPORT)
			continue;
		switch (is_inside_its_stream(r, by_id, t)) {
		case 0:
			return LC_SPAN_THREAD;
		case -1:
			return LC_SPAN_KINDS;
		}
	}
	return LC_SPAN_THREAD;
}

void lc_spans_build_trace(struct lc_spans *s)
{
	const struct lc_span_rows *r = s->rows;
	const struct lc_span_trace **list = lc_mem_zeroed(r->traces_len + 1, sizeof(*list));
	struct lc_spans_trace *sum = &s->trace;
	size_t objects = 0;

	sum->rows = r->traces_len;
	for (unsigned k = 0; k < LC_SPAN_KINDS; k++)
		sum->rows_online += k == LC_SPAN_PULLED ? 0 : s->kinds[k];
	sum->rows_online += s->tasks_sum.folded + s->threads_sum.folded;
	sum->tasks_online = s->tasks_sum.executions + s->tasks_sum.folded +
	                    s->threads_sum.executions + s->threads_sum.folded;
	sum->folded_online = s->tasks_sum.folded + s->threads_sum.folded;
	for (size_t i = 0; i < r->traces_len; i++)
		list[i] = &r->traces[i];
	qsort_r(list, r->traces_len, sizeof(*list), order_ids, (void *)(uintptr_t)r);
	for (size_t i = 0; i < r->traces_len; i++) {
		const struct lc_span_trace *t = &r->traces[i];
		/* A virtual thread has no number here, but its place of creation is known. */
		bool known = t->creator != LC_SPAN_NO_THREAD || t->place->number;
		unsigned outer;

		if (!lc_spans_is_task(t->kind))
			continue;
		sum->tasks++;
		outer = kind_around(r, list, t);
		if (outer == LC_SPAN_KINDS)
			sum->folded += t->flags & LC_TRACE_FOLDED ? 1 : 0; /* the agent decided */
		else
			sum->folded += lc_fold_into_outer(t->kind, outer, t->flags, known);
	}
	for (size_t i = 0; i < r->traces_len; i++)
		if (lc_spans_is_task(r->traces[i].kind) && r->traces[i].logical)
			list[objects++] = &r->traces[i];
	qsort_r(list, objects, sizeof(*list), order_objects, (void *)(uintptr_t)r);
	for (size_t i = 0; i < objects; i++)
		sum->objects += !i || order_objects(&list[i - 1], &list[i], (void *)(uintptr_t)r);
	free(list);
}
