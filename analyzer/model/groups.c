/* SPDX-License-Identifier: Apache-2.0 */
/* model/groups.c - makes the frames that say a group, and finds them again. */
#include "analyzer/model/groups.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/facts.h"
#include "analyzer/model/group_filter.h"

char *lc_group_frame(const struct lc_load_process *p, const char *key)
{
	char *value = lc_fact(p, key);
	char *text = lc_mem_text("%s=%s", key, value);

	free(value);
	return text;
}

uint32_t lc_group_below(struct lc_tree *t, uint32_t parent, const char *text)
{
	/* A reader of the merged profile uses the same function, so the texts stay equal. */
	const uint32_t class = lc_tree_class(t, text, strlen(text));
	const uint32_t method[LC_METHOD_KEY] = { [LC_METHOD_CLASS] = class };
	const uint32_t frame[LC_FRAME_KEY] = { [LC_FRAME_METHOD] =
		                                   lc_table_put(&t->methods, method) };
	const uint32_t path[LC_PATH_KEY] = {
		[LC_PATH_PARENT] = parent, [LC_PATH_FRAME] = lc_table_put(&t->frames, frame)
	};

	return lc_table_put(&t->paths, path);
}

uint32_t lc_group_root(struct lc_tree *t, const struct lc_by *by, const struct lc_load_process *p)
{
	uint32_t path = 0;

	for (size_t i = 0; i < by->len; i++) {
		char *frame = lc_group_frame(p, by->keys[i]);

		path = lc_group_below(t, path, frame);
		free(frame);
	}
	return path;
}

uint32_t lc_group_of(const struct lc_tree *t, size_t levels, uint32_t path)
{
	uint32_t depth = lc_tree_depth(t, path);

	if (!levels || depth < levels)
		return 0;
	for (; depth > levels; depth--)
		path = lc_tree_parent(t, path);
	return path;
}

struct lc_text lc_group_value(const struct lc_tree *t, const struct lc_by *by, uint32_t group,
                              size_t level)
{
	const uint32_t *method;

	for (size_t at = by->len; at > level + 1 && group; at--)
		group = lc_tree_parent(t, group);
	if (!group)
		return (struct lc_text){ "", 0 };
	method = lc_tree_method(t, group);
	if (method[LC_METHOD_NAME])
		return (struct lc_text){ "", 0 };
	return lc_group_text_value(lc_tree_text(t, method[LC_METHOD_CLASS]), by->keys[level]);
}

struct lc_text lc_group_context_name(const struct lc_tree *t, uint32_t path)
{
	const uint32_t *method = path ? lc_tree_method(t, path) : NULL;

	return method && !method[LC_METHOD_NAME]
	           ? lc_group_text_value(lc_tree_text(t, method[LC_METHOD_CLASS]), LC_GROUP_CONTEXT)
	           : (struct lc_text){ "", 0 };
}

bool lc_group_has_contexts(const struct lc_tree *t)
{
	for (uint32_t path = 1; path < t->paths.count; path++)
		if (lc_group_is_context(t, path))
			return true;
	return false;
}

uint32_t lc_group_context(struct lc_tree *t, size_t levels, uint32_t path)
{
	const struct lc_text name = lc_group_context_name(t, lc_group_of(t, levels + 1, path));
	/* A new string may move the tree's texts. */
	char *text = name.len ? lc_mem_text("%.*s", (int)name.len, name.bytes)
	                      : lc_mem_text("%s", LC_FACT_NONE);
	const uint32_t string = lc_tree_string(t, text, strlen(text));

	free(text);
	return string;
}

uint32_t lc_group_name(struct lc_tree *t, const struct lc_by *by, uint32_t path)
{
	const uint32_t group = lc_group_of(t, by->len, path);
	uint32_t name;
	char *text;
	size_t len;
	FILE *out = lc_text_open(&text, &len);

	for (size_t i = 0; i < by->len; i++) {
		const struct lc_text value = lc_group_value(t, by, group, i);

		fprintf(out, "%s%s=", i ? ", " : "", by->keys[i]);
		fwrite(value.bytes, 1, value.len, out);
	}
	lc_mem_close_text(out);
	name = lc_tree_string(t, text, len);
	free(text);
	return name;
}
