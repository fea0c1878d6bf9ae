/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/roll_up.c - sums call paths of accesses up by line, neighbouring lines, and
 * caller. */
#include "analyzer/objects/analysis/ranking.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/own_code.h"
#include "src/base/order.h"

/* An access, by what it is rolled up by. `method` and so on are UINT32_MAX where unknown. */
struct piece {
	uint32_t path, method, line1;
	uint32_t caller, caller_line1;
	uint64_t samples;
};

/* The order does not depend on that of the inputs: methods are in that of their names. */
static int order_place(const struct lc_tree *t, uint32_t method_a, uint32_t line_a,
                       uint32_t method_b, uint32_t line_b)
{
	int order = lc_order_u64(method_a == UINT32_MAX, method_b == UINT32_MAX);

	if (!order && method_a != method_b)
		order = lc_tree_order_methods(t, method_a, method_b);
	if (!order)
		order = lc_order_u64(method_a, method_b);
	return order ? order : lc_order_u64(line_a, line_b);
}

static int order_lines(const void *a, const void *b, void *context)
{
	const struct piece *x = a, *y = b;

	return order_place(context, x->method, x->line1, y->method, y->line1);
}

static int order_callers(const void *a, const void *b, void *context)
{
	const struct piece *x = a, *y = b;

	return order_place(context, x->caller, x->caller_line1, y->caller, y->caller_line1);
}

static int most_of_lines(const void *a, const void *b, void *context)
{
	const struct lc_rank_lines *x = a, *y = b;
	int order = lc_order_u64(y->samples, x->samples);

	return order ? order : order_place(context, x->method, x->first, y->method, y->first);
}

static int most_of_callers(const void *a, const void *b, void *context)
{
	const struct lc_rank_caller *x = a, *y = b;
	int order = lc_order_u64(y->samples, x->samples);

	return order ? order : order_place(context, x->method, x->line1, y->method, y->line1);
}

/* Is this the JDK's way to an access (of a VarHandle, of Unsafe) that another method asked for? */
static bool is_means(const struct lc_tree *t, uint32_t path)
{
	static const char *const prefixes[] = { "java.lang.invoke.", "jdk.internal.misc.Unsafe",
		                                "jdk.internal.misc.ScopedMemoryAccess",
		                                "sun.misc.Unsafe" };
	const struct lc_text class = lc_tree_text(t, lc_tree_method(t, path)[LC_METHOD_CLASS]);

	return lc_text_begins_any(class, prefixes, sizeof(prefixes) / sizeof(*prefixes));
}

/* The path to the frame that made an access on `path`; 0: none. */
static uint32_t accessor(const struct lc_tree *t, uint32_t path)
{
	while (path && is_means(t, path) && lc_tree_parent(t, path))
		path = lc_tree_parent(t, path);
	return path;
}

static struct piece piece_of(const struct lc_tree *t, const struct lc_rank_access *a)
{
	struct piece p = { 0, UINT32_MAX, 0, UINT32_MAX, 0, a->samples };
	const uint32_t *frame;
	uint32_t path = accessor(t, a->path), parent;

	if (!path)
		return p;
	frame = lc_tree_frame(t, path);
	p.path = path;
	p.method = frame[LC_FRAME_METHOD];
	p.line1 = frame[LC_FRAME_LINE1];
	parent = lc_tree_parent(t, path);
	if (!parent)
		return p;
	frame = lc_tree_frame(t, parent);
	p.caller = frame[LC_FRAME_METHOD];
	p.caller_line1 = frame[LC_FRAME_LINE1];
	return p;
}

static void add_callers(struct lc_arena *arena, const struct lc_tree *t, struct lc_rank_lines *out,
                        struct piece *pieces, size_t len)
{
	struct lc_rank_caller *callers = lc_arena_zeroed(arena, len, sizeof(*callers));

	qsort_r(pieces, len, sizeof(*pieces), order_callers, (void *)(uintptr_t)t);
	for (size_t i = 0; i < len; i++) {
		struct lc_rank_caller *c;

		out->samples += pieces[i].samples;
		if (pieces[i].caller == UINT32_MAX)
			continue;
		if (!out->callers_len ||
		    order_callers(&pieces[i - 1], &pieces[i], (void *)(uintptr_t)t))
			out->callers_len++;
		c = &callers[out->callers_len - 1];
		c->method = pieces[i].caller;
		c->line1 = pieces[i].caller_line1;
		c->samples += pieces[i].samples;
	}
	out->callers = callers;
	qsort_r(callers, out->callers_len, sizeof(*callers), most_of_callers, (void *)(uintptr_t)t);
}

static uint32_t own_of(const struct lc_tree *t, const struct piece *pieces, size_t len)
{
	struct lc_rank_access *leaves = lc_mem_zeroed(len, sizeof(*leaves));
	uint32_t own;

	for (size_t i = 0; i < len; i++)
		leaves[i] = (struct lc_rank_access){ pieces[i].path, pieces[i].samples };
	own = lc_own_above(t, leaves, len);
	free(leaves);
	return own;
}

struct lc_rank_lines *lc_rank_roll_up(struct lc_arena *arena, const struct lc_tree *t,
                                      const struct lc_rank_access *accesses, size_t len,
                                      size_t *out_len)
{
	struct lc_rank_lines *out = lc_arena_zeroed(arena, len, sizeof(*out));
	struct piece *pieces = lc_mem_zeroed(len, sizeof(*pieces));

	*out_len = 0;
	for (size_t i = 0; i < len; i++)
		pieces[i] = piece_of(t, &accesses[i]);
	qsort_r(pieces, len, sizeof(*pieces), order_lines, (void *)(uintptr_t)t);
	for (size_t from = 0, to; from < len; from = to) {
		struct lc_rank_lines *l = &out[(*out_len)++];

		*l = (struct lc_rank_lines){ .method = pieces[from].method,
			                     .first = pieces[from].line1,
			                     .last = pieces[from].line1 };
		for (to = from + 1; to < len && pieces[to].method == l->method; to++) {
			/* An unknown line is no neighbour of line 0. */
			if (pieces[to].line1 != l->last &&
			    (!l->last || pieces[to].line1 != l->last + 1))
				break;
			l->last = pieces[to].line1;
		}
		l->own = own_of(t, pieces + from, to - from);
		add_callers(arena, t, l, pieces + from, to - from);
	}
	qsort_r(out, *out_len, sizeof(*out), most_of_lines, (void *)(uintptr_t)t);
	free(pieces);
	return out;
}
