/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/own_code.c - looks for the program's own frames, and counts what is below them.
 */
#include "analyzer/objects/analysis/own_code.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/out/screen.h"
#include "src/base/jdk_class.h"
#include "src/base/order.h"

/* Samples of a path that ends in an own frame; path 0: in none. */
struct piece {
	uint32_t path, method, line1;
	uint64_t samples;
};

bool lc_own_is_jdk(struct lc_text class)
{
	return lc_jdk_class(class.bytes, class.len);
}

bool lc_own_is_jdk_frame(const struct lc_tree *t, uint32_t path)
{
	return lc_own_is_jdk(lc_tree_text(t, lc_tree_method(t, path)[LC_METHOD_CLASS]));
}

bool lc_own_is_method(const struct lc_tree *t, uint32_t method)
{
	const uint64_t own = lc_table_values(&t->methods, method)[LC_METHOD_OWN];
	const uint32_t *key = lc_table_key(&t->methods, method);

	if (own != LC_TREE_OWN_UNDECIDED)
		return own == LC_TREE_OWN;
	return lc_tree_text(t, key[LC_METHOD_NAME]).len &&
	       !lc_own_is_jdk(lc_tree_text(t, key[LC_METHOD_CLASS]));
}

static bool is_own(const struct lc_tree *t, uint32_t path)
{
	return lc_own_is_method(t, lc_tree_frame(t, path)[LC_FRAME_METHOD]);
}

uint32_t lc_own_path(const struct lc_tree *t, uint32_t path)
{
	while (path && !is_own(t, path))
		path = lc_tree_parent(t, path);
	return path;
}

uint32_t lc_own_library(const struct lc_tree *t, uint32_t path)
{
	for (; path; path = lc_tree_parent(t, path)) {
		const uint32_t *method = lc_tree_method(t, path);

		if (lc_tree_text(t, method[LC_METHOD_NAME]).len &&
		    !lc_own_is_jdk(lc_tree_text(t, method[LC_METHOD_CLASS])))
			break;
	}
	return path;
}

uint32_t lc_own_or_library(const struct lc_tree *t, uint32_t path)
{
	const uint32_t own = lc_own_path(t, path);

	return own ? own : lc_own_library(t, path);
}

static bool is_common(const struct lc_tree *t, uint32_t path)
{
	const uint32_t *frame = lc_tree_frame(t, path);

	return t->own.common_method && frame[LC_FRAME_METHOD] == t->own.common_method &&
	       frame[LC_FRAME_LINE1] == t->own.common_line1;
}

uint32_t lc_own_telling(const struct lc_tree *t, uint32_t path)
{
	const uint32_t own = lc_own_path(t, path);

	return own && !is_common(t, own) ? own : lc_own_library(t, path);
}

/* The frame is above the leaf. */
static struct piece piece_of(const struct lc_tree *t, const struct lc_rank_access *a)
{
	struct piece p = { .path = lc_own_telling(t, a->path), .samples = a->samples };

	if (p.path == a->path)
		p.path = 0;
	if (p.path) {
		p.method = lc_tree_frame(t, p.path)[LC_FRAME_METHOD];
		p.line1 = lc_tree_frame(t, p.path)[LC_FRAME_LINE1];
	}
	return p;
}

static int order_places(const void *a, const void *b, void *context)
{
	const struct piece *x = a, *y = b;
	int order = lc_order_u64(x->path != 0, y->path != 0);

	if (!order && x->method != y->method)
		order = lc_tree_order_methods(context, x->method, y->method);
	return order ? order : lc_order_u64(x->line1, y->line1);
}

uint32_t lc_own_above(const struct lc_tree *t, const struct lc_rank_access *leaves, size_t len)
{
	struct piece *pieces, best = { 0 }, one = { 0 };
	uint64_t all = 0;

	if (!len || !leaves->path || is_own(t, leaves->path))
		return 0;
	pieces = lc_mem_zeroed(len, sizeof(*pieces));
	for (size_t i = 0; i < len; i++)
		pieces[i] = piece_of(t, &leaves[i]);
	qsort_r(pieces, len, sizeof(*pieces), order_places, (void *)(uintptr_t)t);
	for (size_t i = 0; i < len; i++) {
		all += pieces[i].samples;
		if (!i || order_places(&pieces[i - 1], &pieces[i], (void *)(uintptr_t)t))
			one = (struct piece){ .path = pieces[i].path };
		one.samples += pieces[i].samples;
		if (one.path && one.samples > best.samples)
			best = one;
	}
	free(pieces);
	return 2 * best.samples >= all ? best.path : 0;
}

uint32_t lc_own_maker(const struct lc_tree *t, const struct lc_rank_row *row)
{
	struct lc_rank_access *made;
	size_t len = 0;
	uint32_t own;

	if (!row->path || is_own(t, row->path))
		return 0;
	made = lc_mem_zeroed(row->parts_len, sizeof(*made));
	for (size_t i = 0; i < row->parts_len; i++)
		if (row->parts[i].from)
			made[len++] =
			    (struct lc_rank_access){ lc_table_key(&t->sites,
				                                  row->parts[i].from)[LC_SITE_PATH],
				                     row->parts[i].samples };
	own = lc_own_above(t, made, len);
	free(made);
	return own;
}

static char *label(const struct lc_tree *t, const struct lc_rank_lines *lines, uint32_t own,
                   unsigned columns)
{
	static const char in[] = "in ";
	const unsigned taken = sizeof(in) - 1;
	char *code = lc_short_lines(t, lines->method, lines->first, lines->last), *mine, *text;
	const uint32_t *frame = own ? lc_tree_frame(t, own) : NULL;

	if (!frame) {
		lc_cut_code(code, columns, 1);
		return code;
	}
	mine = lc_short_code(t, frame[LC_FRAME_METHOD], frame[LC_FRAME_LINE1]);
	text = lc_mem_text("%s in %s", code, mine);
	for (unsigned step = 0; step < 3 && lc_columns(text) > columns; step++) {
		free(text);
		if (step < 2)
			lc_short_without_package(step ? mine : code);
		else
			lc_cut_code(mine, columns > taken ? columns - taken : 0, 1);
		text =
		    step < 2 ? lc_mem_text("%s in %s", code, mine) : lc_mem_text("%s%s", in, mine);
	}
	lc_cut_middle(text, columns);
	free(code);
	free(mine);
	return text;
}

char *lc_own_origin(const struct lc_tree *t, const struct lc_rank_row *row, unsigned columns)
{
	const uint32_t *frame = lc_tree_frame(t, row->path);
	const struct lc_rank_lines line = { .method = frame[LC_FRAME_METHOD],
		                            .first = frame[LC_FRAME_LINE1],
		                            .last = frame[LC_FRAME_LINE1] };

	return label(t, &line, lc_own_maker(t, row), columns);
}

char *lc_own_access(const struct lc_tree *t, const struct lc_rank_lines *lines, unsigned columns)
{
	static const char at[] = "at ";
	const unsigned taken = sizeof(at) - 1;
	char *code = label(t, lines, lines->own, columns > taken ? columns - taken : 0);
	char *text = lc_mem_text("%s%s", strncmp(code, "in ", 3) ? at : "", code);

	free(code);
	return text;
}
