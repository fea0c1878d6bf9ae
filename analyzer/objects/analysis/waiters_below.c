/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/waiters_below.c - finds the calls that the time of an own method divides into.
 *
 * A program whose main() calls a library waits in main(), by its own code. The calls below say
 * more. They are followed as long as one of them has most of the time; where it divides, each
 * larger part is named by the deepest method that still has most of the part. Methods of the JDK
 * are passed over: they are the library's in turn.
 */
#include "analyzer/objects/analysis/waiters_below.h"

#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/own_code.h"
#include "src/base/order.h"

enum {
	OPEN_PERCENT = 50, /* an own method with less of all samples says enough */
	MOST_PERCENT = 80, /* a call with so much of the time stands for all of it */
	PART_PERCENT = 10, /* of all samples, in a part that is named */
	PARTS_MAX = 4,
};

/* Samples or bytes of one call path below the own method. */
struct call {
	struct lc_waiter_piece piece;
	const uint32_t *methods; /* outside the JDK, from the own method's callee to the leaf */
	size_t len;
};

/* Calls [from, to) of the sorted list, whose first `depth` methods are equal. */
struct range {
	size_t from, to, depth;
	uint64_t samples;
};

/* The path's methods below its nearest own frame; one that calls itself counts once. */
static void read_methods(struct lc_arena *arena, const struct lc_tree *t, uint32_t path,
                         struct call *call)
{
	const uint32_t own = lc_own_path(t, path);
	uint32_t *methods;
	size_t depth = 0, at;

	for (uint32_t p = path; p != own; p = lc_tree_parent(t, p))
		depth++;
	methods = lc_arena_zeroed(arena, depth, sizeof(*methods));
	at = depth;
	for (uint32_t p = path; p != own; p = lc_tree_parent(t, p)) {
		const uint32_t method = lc_tree_frame(t, p)[LC_FRAME_METHOD];
		const uint32_t *key = lc_table_key(&t->methods, method);

		if (lc_tree_text(t, key[LC_METHOD_NAME]).len &&
		    !lc_own_is_jdk(lc_tree_text(t, key[LC_METHOD_CLASS])) &&
		    (at == depth || methods[at] != method))
			methods[--at] = method;
	}
	call->methods = methods + at;
	call->len = depth - at;
}

static int order_calls(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	for (size_t i = 0; i < x->len && i < y->len; i++)
		if (x->methods[i] != y->methods[i])
			return lc_order_u64(x->methods[i], y->methods[i]);
	if (x->len != y->len)
		return lc_order_u64(x->len, y->len);
	return lc_order_u64(x->piece.class, y->piece.class);
}

/*
 * The next range in `of` from call `at` on, of calls that have the same method at of->depth. Its
 * `to` is of->to where there is no other.
 */
static struct range next_range(const struct call *calls, const struct range *of, size_t at)
{
	struct range r = { .depth = of->depth + 1 };

	while (at < of->to && calls[at].len <= of->depth)
		at++;
	r.from = r.to = at;
	for (; r.to < of->to && calls[r.to].methods[of->depth] == calls[at].methods[of->depth];
	     r.to++)
		r.samples += calls[r.to].piece.samples;
	return r;
}

/* Follow the calls below `of` for as long as one has most of its samples. */
static struct range follow(const struct call *calls, struct range of)
{
	const uint64_t all = of.samples;

	for (size_t at = of.from; at < of.to;) {
		const struct range r = next_range(calls, &of, at);

		at = r.to;
		if (r.samples && 100 * r.samples >= MOST_PERCENT * all) {
			of = r;
			at = r.from;
		}
	}
	return of;
}

static int most_first(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->samples != y->samples ? lc_order_u64(y->samples, x->samples)
	                                : lc_order_u64(x->from, y->from);
}

/* The parts that the calls divide into. Returns how many; `parts` has room for PARTS_MAX. */
static size_t divide(const struct call *calls, size_t len, uint64_t total, struct range *parts)
{
	struct range all = { .to = len }, *found;
	size_t found_len = 0;

	for (size_t i = 0; i < len; i++)
		all.samples += calls[i].piece.samples;
	all = follow(calls, all);
	found = lc_mem_zeroed(len, sizeof(*found));
	for (size_t at = all.from; at < all.to;) {
		const struct range r = next_range(calls, &all, at);

		at = r.to;
		if (r.samples && 100 * r.samples >= PART_PERCENT * total)
			found[found_len++] = follow(calls, r);
	}
	if (found_len)
		qsort(found, found_len, sizeof(*found), most_first);
	else if (all.depth)
		found[found_len++] = all;
	found_len = found_len < PARTS_MAX ? found_len : PARTS_MAX;
	for (size_t i = 0; i < found_len; i++)
		parts[i] = found[i];
	free(found);
	return found_len;
}

static int order_classes(const void *a, const void *b)
{
	const struct lc_waiter_piece *x = a, *y = b;

	return lc_order_u64(x->class, y->class);
}

static void add_parts(struct lc_waiters *w, const struct lc_view *v, struct lc_waiter *own,
                      const struct call *calls, const struct range *parts, size_t len)
{
	struct lc_waiter *below = lc_arena_zeroed(&w->arena, len, sizeof(*below));

	for (size_t i = 0; i < len; i++) {
		const size_t pieces_len = parts[i].to - parts[i].from;
		struct lc_waiter_piece *pieces = lc_mem_zeroed(pieces_len, sizeof(*pieces));

		for (size_t k = 0; k < pieces_len; k++)
			pieces[k] = calls[parts[i].from + k].piece;
		qsort(pieces, pieces_len, sizeof(*pieces), order_classes);
		lc_waiter_sum(w, v, &below[i], pieces, pieces_len);
		below[i].method = calls[parts[i].from].methods[parts[i].depth - 1];
		free(pieces);
	}
	own->below = below;
	own->below_len = len;
}

void lc_waiters_open(struct lc_waiters *w, const struct lc_view *v, struct lc_waiter *own,
                     const struct lc_waiter_piece *pieces, size_t len)
{
	struct call *calls;
	struct lc_arena arena = { 0 };
	struct range parts[PARTS_MAX];

	if (!own->samples || 100 * own->samples < OPEN_PERCENT * v->total)
		return;
	calls = lc_mem_zeroed(len, sizeof(*calls));
	for (size_t i = 0; i < len; i++) {
		calls[i].piece = pieces[i];
		read_methods(&arena, v->tree, pieces[i].path, &calls[i]);
	}
	qsort(calls, len, sizeof(*calls), order_calls);
	add_parts(w, v, own, calls, parts, divide(calls, len, v->total, parts));
	free(calls);
	lc_arena_free(&arena);
}
