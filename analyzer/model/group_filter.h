/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/group_filter.h - chooses paths in a profile that was merged by groups (groups.h), by the
 * frames that say the group.
 */
#ifndef LC_MODEL_GROUP_FILTER_H
#define LC_MODEL_GROUP_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/tree.h"
#include "analyzer/model/where.h"

/* Which paths are of groups that fit `where`: what is known of the tree's paths so far. */
struct lc_group_filter {
	const struct lc_where_terms *where;
	const struct lc_by *by;
	uint8_t *paths;
	uint32_t paths_len;
	size_t paths_cap;
};

/* Is the path in a group that fits the terms of the keys in `by`? Path 0 is in none. */
bool lc_group_filter_passes(struct lc_group_filter *f, const struct lc_tree *t, uint32_t path);
void lc_group_filter_free(struct lc_group_filter *f);

/* The value in a frame "key=value"; empty where the text is of another key. */
struct lc_text lc_group_text_value(struct lc_text text, const char *key);

#endif
