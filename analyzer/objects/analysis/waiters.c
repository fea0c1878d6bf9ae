/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/waiters.c - deals samples and bytes out to the program's own methods. */
#include "analyzer/objects/analysis/waiters.h"

#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/own_code.h"
#include "analyzer/objects/analysis/ranking.h"
#include "src/base/order.h"

/* Samples at objects of a class, in a method; class UINT32_MAX: of no known class. */
struct piece {
	uint32_t method, class;
	uint64_t samples, pairs;
};

/* The number of the nearest own method; UINT32_MAX: none. */
static uint32_t method_of(const struct lc_tree *t, uint32_t path)
{
	const uint32_t own = lc_own_path(t, path);

	return own ? lc_tree_frame(t, own)[LC_FRAME_METHOD] : UINT32_MAX;
}

static int order_pieces(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	int order = lc_order_u64(x->method, y->method);

	return order ? order : lc_order_u64(x->class, y->class);
}

static int most_of_classes(const void *a, const void *b, void *context)
{
	const struct lc_waiter_class *x = a, *y = b;
	int order = lc_order_u64(y->samples, x->samples);

	return order ? order : lc_tree_order_text(context, x->class, y->class);
}

static int most_of_methods(const void *a, const void *b, void *context)
{
	const struct lc_waiter *x = a, *y = b;
	int order = lc_order_u64(y->samples, x->samples);

	if (!order && x->bytes != y->bytes)
		order = x->bytes > y->bytes ? -1 : 1;
	return order ? order : lc_tree_order_methods(context, x->method, y->method);
}

/* Each access in a known method as a piece, in the order of methods and classes. */
static struct piece *collect(struct lc_waiters *w, const struct lc_view *v, size_t *len)
{
	struct piece *pieces = lc_mem_zeroed(v->accesses_len, sizeof(*pieces));

	*len = 0;
	w->elsewhere = v->total;
	for (size_t i = 0; i < v->accesses_len; i++) {
		const struct lc_view_access *a = &v->accesses[i];
		const uint32_t method = a->path ? method_of(v->tree, a->path) : UINT32_MAX;

		if (method == UINT32_MAX || !a->samples)
			continue;
		w->elsewhere -= a->samples;
		pieces[(*len)++] = (struct piece){
			.method = method,
			.class = a->site ? lc_table_key(&v->tree->sites, a->site)[LC_SITE_CLASS]
			                 : UINT32_MAX,
			.samples = a->samples,
			.pairs = a->pairs,
		};
	}
	qsort(pieces, *len, sizeof(*pieces), order_pieces);
	return pieces;
}

/* Bytes that each method allocates, by number. The caller frees the array. */
static double *bytes_by_method(struct lc_waiters *w, const struct lc_view *v)
{
	const struct lc_tree *t = v->tree;
	double *bytes = lc_mem_zeroed(t->methods.count, sizeof(*bytes));

	for (size_t i = 0; i < v->sites_len + v->estimates_len; i++) {
		const bool counted = i < v->sites_len;
		const uint32_t site =
		    counted ? v->sites[i].site : v->estimates[i - v->sites_len].site;
		const double n =
		    counted ? (double)v->sites[i].bytes : v->estimates[i - v->sites_len].bytes;
		const uint32_t path = lc_table_key(&t->sites, site)[LC_SITE_PATH];
		const uint32_t method = path ? method_of(t, path) : UINT32_MAX;

		w->bytes += n;
		if (method != UINT32_MAX)
			bytes[method] += n;
	}
	return bytes;
}

/* Add a method with its pieces. */
static void add(struct lc_waiters *w, const struct lc_view *v, const struct piece *pieces,
                size_t len)
{
	struct lc_waiter *m = &w->list[w->len++];
	struct lc_waiter_class *classes = lc_arena_zeroed(&w->arena, len, sizeof(*classes));

	m->method = pieces->method;
	for (size_t i = 0; i < len; i++) {
		m->samples += pieces[i].samples;
		m->pairs += pieces[i].pairs;
		if (pieces[i].class == UINT32_MAX)
			continue;
		if (!m->classes_len || classes[m->classes_len - 1].class != pieces[i].class)
			classes[m->classes_len++].class = pieces[i].class;
		classes[m->classes_len - 1].samples += pieces[i].samples;
	}
	if (m->classes_len)
		qsort_r(classes, m->classes_len, sizeof(*classes), most_of_classes,
		        (void *)(uintptr_t)v->tree);
	m->classes = classes;
	lc_rank_interval((struct lc_weighted){ m->samples, m->pairs }, lc_view_all(v), &m->low,
	                 &m->high);
}

void lc_waiters_build(struct lc_waiters *w, const struct lc_view *v)
{
	struct piece *pieces;
	double *bytes;
	size_t len;

	*w = (struct lc_waiters){ 0 };
	pieces = collect(w, v, &len);
	bytes = bytes_by_method(w, v);
	w->list = lc_mem_zeroed(len + v->tree->methods.count, sizeof(*w->list));
	for (size_t from = 0, to; from < len; from = to) {
		for (to = from + 1; to < len && pieces[to].method == pieces[from].method; to++)
			;
		add(w, v, pieces + from, to - from);
		w->list[w->len - 1].bytes = bytes[pieces[from].method];
		bytes[pieces[from].method] = 0;
	}
	for (uint32_t m = 0; m < v->tree->methods.count; m++)
		if (bytes[m] > 0)
			w->list[w->len++] = (struct lc_waiter){ .method = m, .bytes = bytes[m] };
	if (w->len)
		qsort_r(w->list, w->len, sizeof(*w->list), most_of_methods,
		        (void *)(uintptr_t)v->tree);
	free(pieces);
	free(bytes);
}

void lc_waiters_free(struct lc_waiters *w)
{
	free(w->list);
	lc_arena_free(&w->arena);
	*w = (struct lc_waiters){ 0 };
}
