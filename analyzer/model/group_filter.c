/* SPDX-License-Identifier: Apache-2.0 */
/* model/group_filter.c - matches the groups of paths, each path of the tree once. */
#include "analyzer/model/group_filter.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"

/* Result for a path: bit 0, and in the other bits how many frames of its group the path has. */
enum { FITS = 1, LEVEL_SHIFT = 1 };

struct lc_text lc_group_text_value(struct lc_text text, const char *key)
{
	const size_t len = strlen(key);

	if (text.len <= len || memcmp(text.bytes, key, len) != 0 || text.bytes[len] != '=')
		return (struct lc_text){ "", 0 };
	return (struct lc_text){ text.bytes + len + 1, text.len - (uint32_t)len - 1 };
}

static bool frame_fits(const struct lc_group_filter *f, const struct lc_tree *t, uint32_t path,
                       size_t level)
{
	const char *key = f->by->keys[level];
	const uint32_t *method = lc_tree_method(t, path);
	const struct lc_text value =
	    lc_group_text_value(lc_tree_text(t, method[LC_METHOD_CLASS]), key);
	char *copy = lc_mem_text("%.*s", (int)value.len, value.bytes);
	const bool fits =
	    lc_where_value_fits(f->where, key, copy, strcmp(key, "command") ? NULL : copy);

	free(copy);
	return fits;
}

bool lc_group_filter_passes(struct lc_group_filter *f, const struct lc_tree *t, uint32_t path)
{
	const size_t levels = f->by->len;

	if (path >= f->paths_len) {
		f->paths = lc_mem_grow(f->paths, &f->paths_cap, t->paths.count, 1);
		for (; f->paths_len < t->paths.count; f->paths_len++) {
			const uint32_t row = f->paths_len;
			/* A parent has a smaller number. */
			const uint8_t above = row ? f->paths[lc_tree_parent(t, row)] : FITS;
			const size_t level = above >> LEVEL_SHIFT;
			const bool in_group = row && level < levels;

			f->paths[row] =
			    !row       ? FITS
			    : in_group ? (uint8_t)(((level + 1) << LEVEL_SHIFT) |
			                           ((above & FITS) && frame_fits(f, t, row, level)))
			               : above;
		}
	}
	return (size_t)(f->paths[path] >> LEVEL_SHIFT) == levels && (f->paths[path] & FITS);
}
_Static_assert(LC_BY_MAX < 1 << (8 - LEVEL_SHIFT), "the number of frames fits");

void lc_group_filter_free(struct lc_group_filter *f)
{
	free(f->paths);
	f->paths = NULL;
	f->paths_len = 0;
	f->paths_cap = 0;
}
