/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/own_code.c - looks for frames that are not the JDK's, and counts what is below
 * them. */
#include "analyzer/objects/analysis/own_code.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/out/screen.h"
#include "src/base/order.h"

/* Samples of a path that ends in an own frame. */
struct piece {
	uint32_t path, method, line1;
	uint64_t samples;
};

struct pieces {
	struct piece *list;
	size_t len, cap;
};

bool lc_own_is_jdk(struct lc_text class)
{
	static const char *const packages[] = { "java.", "javax.", "jdk.", "sun.",
		                                "com.sun.proxy." };

	for (size_t i = 0; i < sizeof(packages) / sizeof(*packages); i++)
		if (class.len > strlen(packages[i]) &&
		    !memcmp(class.bytes, packages[i], strlen(packages[i])))
			return true;
	return false;
}

static bool is_own(const struct lc_tree *t, uint32_t path)
{
	const struct lc_text class = lc_tree_text(t, lc_tree_method(t, path)[LC_METHOD_CLASS]);

	return lc_tree_text(t, lc_tree_method(t, path)[LC_METHOD_NAME]).len &&
	       !lc_own_is_jdk(class);
}

uint32_t lc_own_path(const struct lc_tree *t, uint32_t path)
{
	while (path && !is_own(t, path))
		path = lc_tree_parent(t, path);
	return path;
}

static void add(struct pieces *p, const struct lc_tree *t, uint32_t path, uint64_t samples)
{
	const uint32_t own = lc_own_path(t, path);
	struct piece one = { .path = own, .samples = samples };

	if (own) {
		one.method = lc_tree_frame(t, own)[LC_FRAME_METHOD];
		one.line1 = lc_tree_frame(t, own)[LC_FRAME_LINE1];
	}
	p->list = lc_mem_grow(p->list, &p->cap, p->len + 1, sizeof(*p->list));
	p->list[p->len++] = one;
}

static int order_places(const void *a, const void *b, void *context)
{
	const struct piece *x = a, *y = b;
	int order = lc_order_u64(x->path != 0, y->path != 0);

	if (!order && x->method != y->method)
		order = lc_tree_order_methods(context, x->method, y->method);
	return order ? order : lc_order_u64(x->line1, y->line1);
}

/* The place that has half of the samples or more. Frees the list. */
static struct lc_own_code most_of(struct pieces *p, const struct lc_tree *t)
{
	struct lc_own_code best = { 0 }, one = { 0 };
	uint64_t all = 0;

	if (p->len)
		qsort_r(p->list, p->len, sizeof(*p->list), order_places, (void *)(uintptr_t)t);
	for (size_t i = 0; i < p->len; i++) {
		all += p->list[i].samples;
		if (!i || order_places(&p->list[i - 1], &p->list[i], (void *)(uintptr_t)t))
			one = (struct lc_own_code){ .path = p->list[i].path };
		one.samples += p->list[i].samples;
		if (one.path && one.samples > best.samples)
			best = one;
	}
	free(p->list);
	return 2 * best.samples >= all ? best : (struct lc_own_code){ 0 };
}

struct lc_own_code lc_own_maker(const struct lc_tree *t, const struct lc_rank_row *row)
{
	struct pieces p = { 0 };

	if (!row->path || is_own(t, row->path))
		return (struct lc_own_code){ 0 };
	for (size_t i = 0; i < row->parts_len; i++) {
		const uint32_t from = row->parts[i].from;

		if (from)
			add(&p, t, lc_table_key(&t->sites, from)[LC_SITE_PATH],
			    row->parts[i].samples);
	}
	return most_of(&p, t);
}

struct lc_own_code lc_own_accessor(const struct lc_tree *t, const struct lc_rank_row *row,
                                   const struct lc_rank_lines *lines)
{
	struct pieces p = { 0 };

	for (size_t i = 0; i < row->accesses_len; i++) {
		const uint32_t path = lc_rank_accessor(t, row->accesses[i].path);
		const uint32_t *frame = path ? lc_tree_frame(t, path) : NULL;

		if (!frame || frame[LC_FRAME_METHOD] != lines->method ||
		    frame[LC_FRAME_LINE1] < lines->first || frame[LC_FRAME_LINE1] > lines->last)
			continue;
		if (is_own(t, path)) {
			free(p.list);
			return (struct lc_own_code){ 0 };
		}
		add(&p, t, path, row->accesses[i].samples);
	}
	return most_of(&p, t);
}

/* "HashMap.newNode:1901" of "j.u.HashMap.newNode:1901". */
static void drop_package(char *code)
{
	char *method = strrchr(code, '.'), *class = method;

	while (class && class > code && class[-1] != '.')
		class --;
	if (class)
		memmove(code, class, strlen(class) + 1);
}

static char *label(const struct lc_tree *t, const struct lc_rank_lines *lines,
                   struct lc_own_code own, unsigned columns)
{
	char *code = lc_short_lines(t, lines->method, lines->first, lines->last), *mine, *text;
	const uint32_t *frame = own.path ? lc_tree_frame(t, own.path) : NULL;

	if (!frame) {
		lc_cut_code(code, columns, 1);
		return code;
	}
	mine = lc_short_code(t, frame[LC_FRAME_METHOD], frame[LC_FRAME_LINE1]);
	text = lc_mem_text("%s in %s", code, mine);
	for (unsigned step = 0; step < 3 && lc_columns(text) > columns; step++) {
		free(text);
		if (step < 2)
			drop_package(step ? mine : code);
		text = step < 2 ? lc_mem_text("%s in %s", code, mine) : lc_mem_text("in %s", mine);
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

char *lc_own_access(const struct lc_tree *t, const struct lc_rank_row *row,
                    const struct lc_rank_lines *lines, unsigned columns)
{
	static const char at[] = "at ";
	const unsigned taken = sizeof(at) - 1;
	char *code =
	    label(t, lines, lc_own_accessor(t, row, lines), columns > taken ? columns - taken : 0);
	char *text = lc_mem_text("%s%s", strncmp(code, "in ", 3) ? at : "", code);

	free(code);
	return text;
}
