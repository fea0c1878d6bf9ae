/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/tree_names.c - replaces methods, frames, paths and sites whose names change. The new rows
 * get the counts of the old ones, which stay as rows.
 */
#include "analyzer/model/tree_names.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/tree_lines.h"

/* The string without its first `at` bytes. */
static uint32_t behind(struct lc_tree *t, uint32_t string, uint32_t at)
{
	const struct lc_text text = lc_tree_text(t, string);
	char *copy;

	if (!at)
		return string;
	copy = lc_mem_zeroed(text.len - at + 1, 1); /* the tree's own may move */
	memcpy(copy, text.bytes + at, text.len - at);
	string = lc_tree_string(t, copy, text.len - at);
	free(copy);
	return string;
}

/* "Value$Kind[]" of "org.h2.value.Value$Kind[]"; a part of a lambda's name is behind a '/'. */
static uint32_t without_package(struct lc_tree *t, uint32_t string)
{
	const struct lc_text text = lc_tree_text(t, string);
	const char *slash = memchr(text.bytes, '/', text.len);
	uint32_t at = slash ? (uint32_t)(slash - text.bytes) : text.len;

	while (at && text.bytes[at - 1] != '.')
		at--;
	return behind(t, string, at);
}

/* "Spectrum.re" of "com.acme.Spectrum.re"; a local variable has no package. */
static uint32_t member_without_package(struct lc_tree *t, uint32_t string)
{
	const struct lc_text text = lc_tree_text(t, string);
	uint32_t at = text.len;

	for (unsigned dots = 0; at; at--)
		if (text.bytes[at - 1] == '.' && ++dots == 2)
			break;
	return behind(t, string, at);
}

/* Methods that become one are the program's own if one of them is. */
static void keep_own(struct lc_tree *t, uint32_t to, uint64_t own)
{
	uint64_t *at = &lc_table_values(&t->methods, to)[LC_METHOD_OWN];

	if (*at != LC_TREE_OWN && own != LC_TREE_OWN_UNDECIDED)
		*at = own;
}

/* The method that stands for each one; UINT32_MAX: hidden. */
static uint32_t *rename_methods(struct lc_tree *t, struct lc_frame_patterns *hide, bool simple)
{
	const uint32_t count = t->methods.count;
	uint32_t *to = lc_mem_zeroed(count, sizeof(*to));

	for (uint32_t row = 0; row < count; row++) {
		uint32_t key[LC_METHOD_KEY];

		memcpy(key, lc_table_key(&t->methods, row), sizeof(key));
		if (lc_frame_fits(hide, lc_tree_text(t, key[LC_METHOD_CLASS]),
		                  lc_tree_text(t, key[LC_METHOD_NAME]), 0)) {
			to[row] = UINT32_MAX;
			continue;
		}
		if (simple && key[LC_METHOD_NAME]) /* else it is no method: "host=web1.acme.com" */
			key[LC_METHOD_CLASS] = without_package(t, key[LC_METHOD_CLASS]);
		to[row] = lc_table_put(&t->methods, key);
		keep_own(t, to[row], lc_table_values(&t->methods, row)[LC_METHOD_OWN]);
	}
	return to;
}

static uint32_t rename_path(struct lc_tree *t, const uint32_t *methods, const uint32_t *paths,
                            uint32_t path)
{
	const uint32_t parent = paths[lc_tree_parent(t, path)];
	uint32_t frame[LC_FRAME_KEY], key[LC_PATH_KEY];

	memcpy(frame, lc_tree_frame(t, path), sizeof(frame));
	frame[LC_FRAME_METHOD] = methods[frame[LC_FRAME_METHOD]];
	if (frame[LC_FRAME_METHOD] == UINT32_MAX)
		return parent;
	key[LC_PATH_PARENT] = parent;
	key[LC_PATH_FRAME] = lc_table_put(&t->frames, frame);
	return lc_table_put(&t->paths, key);
}

/* Rows that were added stand for themselves. */
static uint32_t *filled_up(uint32_t *rows, uint32_t from, uint32_t count)
{
	size_t cap = from;

	rows = lc_mem_grow(rows, &cap, count, sizeof(*rows));
	for (uint32_t row = from; row < count; row++)
		rows[row] = row;
	return rows;
}

static void rename_site_names(struct lc_tree *t)
{
	struct lc_table old = t->site_names;

	lc_table_init(&t->site_names, LC_SITE_NAME_KEY, LC_SITE_NAME_VALUES);
	for (uint32_t row = 0; row < old.count; row++) {
		uint32_t key[LC_SITE_NAME_KEY];

		memcpy(key, lc_table_key(&old, row), sizeof(key));
		key[LC_SITE_NAME_NAME] = member_without_package(t, key[LC_SITE_NAME_NAME]);
		lc_table_put(&t->site_names, key);
	}
	lc_table_free(&old);
}

void lc_tree_rename(struct lc_tree *t, struct lc_frame_patterns *hide, bool simple)
{
	const uint32_t paths_len = t->paths.count, sites_len = t->sites.count;
	uint32_t *methods = rename_methods(t, hide, simple);
	uint32_t *paths = lc_mem_zeroed(paths_len, sizeof(*paths));
	uint32_t *sites = lc_mem_zeroed(sites_len, sizeof(*sites));

	for (uint32_t path = 1; path < paths_len; path++)
		paths[path] = rename_path(t, methods, paths, path);
	for (uint32_t site = 1; site < sites_len; site++) {
		uint32_t key[LC_SITE_KEY];

		memcpy(key, lc_table_key(&t->sites, site), sizeof(key));
		key[LC_SITE_PATH] = paths[key[LC_SITE_PATH]];
		if (simple)
			key[LC_SITE_CLASS] = without_package(t, key[LC_SITE_CLASS]);
		sites[site] = lc_table_put(&t->sites, key);
	}
	paths = filled_up(paths, paths_len, t->paths.count);
	sites = filled_up(sites, sites_len, t->sites.count);
	if (simple)
		rename_site_names(t);
	lc_tree_renumber(t, paths, sites);
	free(methods);
	free(paths);
	free(sites);
}
