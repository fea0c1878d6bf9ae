/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/known_lines.c - keeps, for each class, which of the added profiles know its
 * allocation lines.
 */
#include "analyzer/objects/analysis/known_lines.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"

enum { SPLIT_OBJECTS = 5 };
enum { LINES_TOLD = 1, LINES_UNKNOWN = 2 };

bool lc_known_lines_of(const struct lc_view_site *class)
{
	const struct lc_view_split *split = class->split;

	return split && split->parts_len && split->objects >= SPLIT_OBJECTS;
}

void lc_known_lines_init(struct lc_known_lines *t)
{
	*t = (struct lc_known_lines){ .seen = NULL };
	lc_tree_init(&t->names);
}

void lc_known_lines_free(struct lc_known_lines *t)
{
	lc_tree_free(&t->names);
	free(t->seen);
	*t = (struct lc_known_lines){ .seen = NULL };
}

static unsigned char *seen_of(struct lc_known_lines *t, struct lc_text class)
{
	const uint32_t string = lc_tree_string(&t->names, class.bytes, class.len);
	const size_t before = t->cap;

	t->seen = lc_mem_grow(t->seen, &t->cap, (size_t)string + 1, sizeof(*t->seen));
	memset(t->seen + before, 0, t->cap - before);
	return &t->seen[string];
}

void lc_known_lines_add(struct lc_known_lines *t, const struct lc_view *v)
{
	for (size_t i = 0; i < v->classes_len; i++) {
		const struct lc_view_site *s = &v->classes[i];
		const uint32_t class = lc_table_key(&v->tree->sites, s->site)[LC_SITE_CLASS];

		if (s->samples)
			*seen_of(t, lc_tree_text(v->tree, class)) |=
			    lc_known_lines_of(s) ? LINES_TOLD : LINES_UNKNOWN;
	}
}

bool lc_known_lines_by_some(struct lc_known_lines *t, struct lc_text class)
{
	return *seen_of(t, class) == (LINES_TOLD | LINES_UNKNOWN);
}
