/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/tree_lines.c - joins the counts of paths that differ in bytecode indices only.
 *
 * All rows of paths and sites remain, so numbers that others hold stay valid. Rows that another row
 * stands for have no counts.
 */
#include "analyzer/model/tree_lines.h"

#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/slices.h"

/* For each path and each site the one that stands for it. */
struct folding {
	struct lc_tree *t;
	uint32_t *paths, *sites; /* of a renumbering: not changed */
};

/* Let the first of the rows that have one key in `groups` stand for all of them. */
static uint32_t stand_for(struct lc_table *groups, const uint32_t *key, uint32_t number,
                          const struct lc_tree *t, const uint32_t *path_of)
{
	uint32_t before = groups->count;
	uint32_t row = lc_table_put(groups, key);
	uint64_t *first = lc_table_values(groups, row);

	if (row == before || lc_tree_order_paths(t, path_of ? path_of[number] : number,
	                                         path_of ? path_of[*first] : (uint32_t)*first) < 0)
		*first = number;
	return row;
}

/* Paths: groups by method, line, and the group of the parent, which has a smaller number. */
static void fold_paths(struct folding *f)
{
	struct lc_tree *t = f->t;
	uint32_t *group = lc_mem_zeroed(t->paths.count, sizeof(*group));
	struct lc_table groups;

	lc_table_init(&groups, 3, 1);
	lc_table_put(&groups, (const uint32_t[3]){ UINT32_MAX, UINT32_MAX, UINT32_MAX });
	for (uint32_t path = 1; path < t->paths.count; path++) {
		const uint32_t *frame = lc_tree_frame(t, path);
		const uint32_t key[3] = { group[lc_tree_parent(t, path)], frame[LC_FRAME_METHOD],
			                  frame[LC_FRAME_LINE1] };

		group[path] = stand_for(&groups, key, path, t, NULL);
	}
	for (uint32_t path = 1; path < t->paths.count; path++)
		f->paths[path] = (uint32_t)*lc_table_values(&groups, group[path]);
	lc_table_free(&groups);
	free(group);
}

static void fold_sites(struct folding *f)
{
	struct lc_tree *t = f->t;
	uint32_t *group = lc_mem_zeroed(t->sites.count, sizeof(*group));
	uint32_t *path_of = lc_mem_zeroed(t->sites.count, sizeof(*path_of));
	struct lc_table groups;

	lc_table_init(&groups, 2, 1);
	for (uint32_t site = 1; site < t->sites.count; site++) {
		const uint32_t *site_key = lc_table_key(&t->sites, site);
		const uint32_t key[2] = { site_key[LC_SITE_CLASS],
			                  f->paths[site_key[LC_SITE_PATH]] };

		path_of[site] = site_key[LC_SITE_PATH];
		group[site] = stand_for(&groups, key, site, t, path_of);
	}
	for (uint32_t site = 1; site < t->sites.count; site++)
		f->sites[site] = (uint32_t)*lc_table_values(&groups, group[site]);
	lc_table_free(&groups);
	free(path_of);
	free(group);
}

/* Count the rows of a flat section anew. */
static void fold_section(const struct folding *f, const struct lc_section_spec *s)
{
	struct lc_table *table = lc_tree_table(f->t, s->number), folded;
	uint32_t *key = lc_mem_zeroed(table->key_len, sizeof(*key));

	lc_table_init(&folded, table->key_len, table->value_len);
	for (uint32_t row = 0; row < table->count; row++) {
		const uint32_t *from = lc_table_key(table, row);
		const uint64_t *values = lc_table_values(table, row);
		uint64_t *to;
		uint32_t at = 0;

		if (s->merged) {
			key[at] = from[at];
			at++;
		}
		for (unsigned i = 0; i < s->keys_len; i++, at++) {
			enum lc_column_type type = s->columns[i].type;

			key[at] = type == LC_COLUMN_PATH ? f->paths[from[at]]
			          : type == LC_COLUMN_SITE || type == LC_COLUMN_SITE_OR_0
			              ? f->sites[from[at]]
			              : from[at];
			if (lc_tree_is_wide(type)) {
				at++;
				key[at] = from[at];
			}
		}
		to = lc_table_values(&folded, lc_table_put(&folded, key));
		for (unsigned i = s->keys_len; i < s->columns_len; i++)
			lc_section_column_add(&s->columns[i], to++, *values++);
	}
	lc_table_free(table);
	*table = folded;
	free(key);
}

void lc_tree_renumber(struct lc_tree *t, const uint32_t *paths, const uint32_t *sites)
{
	const struct folding f = { .t = t,
		                   .paths = (uint32_t *)(uintptr_t)paths,
		                   .sites = (uint32_t *)(uintptr_t)sites };

	for (uint32_t site = 1; site < t->sites.count; site++) {
		uint64_t *from = lc_table_values(&t->sites, site), *to;

		if (sites[site] == site)
			continue;
		to = lc_table_values(&t->sites, sites[site]);
		for (unsigned i = 0; i < LC_SITE_VALUES; i++) {
			lc_sum_add(&to[i], from[i]);
			from[i] = 0;
		}
	}
	for (unsigned number = 0; number < LC_SECTION_COUNT; number++) {
		const struct lc_section_spec *s = lc_section_spec(number);
		bool of_spans = number >= LC_SECTION_SPANS && number <= LC_SECTION_TRACE;

		if (s && !of_spans && lc_tree_table(t, s->number))
			fold_section(&f, s);
	}
	if (t->slices)
		lc_slices_renumber(t->slices, paths, sites);
	lc_path_times_renumber(&t->times, paths, t->paths.count);
}

void lc_tree_fold_lines(struct lc_tree *t)
{
	struct folding f = { .t = t };

	f.paths = lc_mem_zeroed(t->paths.count, sizeof(*f.paths));
	f.sites = lc_mem_zeroed(t->sites.count, sizeof(*f.sites));
	fold_paths(&f);
	fold_sites(&f);
	lc_tree_renumber(t, f.paths, f.sites);
	free(f.paths);
	free(f.sites);
}
