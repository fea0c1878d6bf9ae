/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/waiters.c - deals samples and bytes out to the program's own methods. */
#include "analyzer/objects/analysis/waiters.h"

#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/own_code.h"
#include "analyzer/objects/analysis/ranking.h"
#include "analyzer/objects/analysis/waiters_below.h"
#include "src/base/order.h"

static int order_pieces(const void *a, const void *b)
{
	const struct lc_waiter_piece *x = a, *y = b;
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

/* Pieces of own methods, and those of libraries' methods, which have no own one above them. */
struct pieces {
	struct lc_waiter_piece *own, *others;
	size_t own_len, others_len;
};

/* Add a piece. Returns whether it has an own method. */
static bool add_piece(const struct lc_view *v, struct pieces *to, struct lc_waiter_piece piece)
{
	const uint32_t path = lc_own_or_library(v->tree, piece.path);
	bool own;

	if (!path)
		return false;
	piece.method = lc_tree_method_number(v->tree, path);
	own = lc_own_is_method(v->tree, piece.method);
	if (own)
		to->own[to->own_len++] = piece;
	else
		to->others[to->others_len++] = piece;
	return own;
}

static uint32_t class_of(const struct lc_view *v, uint32_t site)
{
	return site ? lc_table_key(&v->tree->sites, site)[LC_SITE_CLASS] : UINT32_MAX;
}

/* Accesses and allocations as pieces, in the order of methods and classes. The caller frees them.
 */
static struct pieces collect(struct lc_waiters *w, const struct lc_view *v)
{
	const size_t most = v->accesses_len + v->sites_len + v->estimates_len;
	struct pieces to = { .own = lc_mem_zeroed(most, sizeof(*to.own)),
		             .others = lc_mem_zeroed(most, sizeof(*to.others)) };

	w->elsewhere = v->total;
	for (size_t i = 0; i < v->accesses_len; i++) {
		const struct lc_view_access *a = &v->accesses[i];
		const struct lc_waiter_piece piece = { .path = a->path,
			                               .class = class_of(v, a->site),
			                               .samples = a->samples,
			                               .pairs = a->pairs };

		if (a->samples && add_piece(v, &to, piece))
			w->elsewhere -= a->samples;
	}
	for (size_t i = 0; i < v->sites_len + v->estimates_len; i++) {
		const bool counted = i < v->sites_len;
		const uint32_t site =
		    counted ? v->sites[i].site : v->estimates[i - v->sites_len].site;
		const struct lc_waiter_piece piece = {
			.path = lc_table_key(&v->tree->sites, site)[LC_SITE_PATH],
			.class = UINT32_MAX,
			.bytes = counted ? (double)v->sites[i].bytes
			                 : v->estimates[i - v->sites_len].bytes,
		};

		w->bytes += piece.bytes;
		if (piece.bytes > 0)
			(void)add_piece(v, &to, piece);
	}
	qsort(to.own, to.own_len, sizeof(*to.own), order_pieces);
	qsort(to.others, to.others_len, sizeof(*to.others), order_pieces);
	return to;
}

void lc_waiter_sum(struct lc_waiters *w, const struct lc_view *v, struct lc_waiter *m,
                   const struct lc_waiter_piece *pieces, size_t len)
{
	struct lc_waiter_class *classes = lc_arena_zeroed(&w->arena, len, sizeof(*classes));

	for (size_t i = 0; i < len; i++) {
		m->samples += pieces[i].samples;
		m->pairs += pieces[i].pairs;
		m->bytes += pieces[i].bytes;
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
	if (m->samples)
		lc_rank_interval((struct lc_weighted){ m->samples, m->pairs }, lc_view_all(v),
		                 &m->low, &m->high);
}

/* The methods of pieces, which are in their order. The caller frees the array. */
static struct lc_waiter *sum_methods(struct lc_waiters *w, const struct lc_view *v,
                                     const struct lc_waiter_piece *pieces, size_t pieces_len,
                                     size_t *len)
{
	struct lc_waiter *list = lc_mem_zeroed(pieces_len, sizeof(*list));

	*len = 0;
	for (size_t from = 0, to; from < pieces_len; from = to) {
		struct lc_waiter *m = &list[(*len)++];

		for (to = from + 1; to < pieces_len && pieces[to].method == pieces[from].method;
		     to++)
			;
		m->method = pieces[from].method;
		lc_waiter_sum(w, v, m, pieces + from, to - from);
		if (lc_own_is_method(v->tree, m->method)) /* others are one line of the screen */
			lc_waiters_open(w, v, m, pieces + from, to - from);
	}
	if (*len)
		qsort_r(list, *len, sizeof(*list), most_of_methods, (void *)(uintptr_t)v->tree);
	return list;
}

void lc_waiters_build(struct lc_waiters *w, const struct lc_view *v)
{
	struct pieces pieces;

	*w = (struct lc_waiters){ 0 };
	pieces = collect(w, v);
	w->list = sum_methods(w, v, pieces.own, pieces.own_len, &w->len);
	w->others = sum_methods(w, v, pieces.others, pieces.others_len, &w->others_len);
	free(pieces.own);
	free(pieces.others);
}

void lc_waiters_free(struct lc_waiters *w)
{
	free(w->list);
	free(w->others);
	lc_arena_free(&w->arena);
	*w = (struct lc_waiters){ 0 };
}
