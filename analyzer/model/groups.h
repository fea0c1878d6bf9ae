/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/groups.h - keeps call paths of hosts, processes or labels apart: below a frame that says
 * the group ("host=web1", without a method), as the outermost caller. Reports, flame graphs and
 * merged profiles then tell the groups apart like any other paths.
 *
 * A profile that was merged so has its keys in the manifest, as `by`.
 */
#ifndef LC_MODEL_GROUPS_H
#define LC_MODEL_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/tree.h"
#include "analyzer/model/where.h"

struct lc_load_process;

/* "host=web1": what the frame of a process's group says for a key; free() it. */
char *lc_group_frame(const struct lc_load_process *p, const char *key);

/* The path below `parent` with a frame of that text. */
uint32_t lc_group_below(struct lc_tree *t, uint32_t parent, const char *text);

/* The path of a process's group: a frame for each key. 0 without keys. */
uint32_t lc_group_root(struct lc_tree *t, const struct lc_by *by, const struct lc_load_process *p);

/*
 * The path of the group that a path is in, of `levels` frames; 0: it has fewer, and is in none.
 */
uint32_t lc_group_of(const struct lc_tree *t, size_t levels, uint32_t path);

/*
 * The value that a group's path has for key number `level`, where its frame is one of that key; an
 * empty text: it is not. Valid until a string is added to the tree.
 */
struct lc_text lc_group_value(const struct lc_tree *t, const struct lc_by *by, uint32_t group,
                              size_t level);

/* The key of request contexts: the agent makes the frame, "context=GET /cart" (core/request.h). */
#define LC_GROUP_CONTEXT "context"

/*
 * The request context, "GET /cart", of which the path's leaf is the frame; an empty text: it is
 * none. Valid until a string is added to the tree.
 */
struct lc_text lc_group_context_name(const struct lc_tree *t, uint32_t path);

static inline bool lc_group_is_context(const struct lc_tree *t, uint32_t path)
{
	return lc_group_context_name(t, path).len != 0;
}

/* Has a path of the tree a request context? */
bool lc_group_has_contexts(const struct lc_tree *t);

/*
 * The request context that a path of a group (of `levels` frames) is in, as a string of the tree:
 * "GET /cart", or LC_FACT_NONE.
 */
uint32_t lc_group_context(struct lc_tree *t, size_t levels, uint32_t path);

/* "host=web1, jdk=17.0.15" of the group that a path is in, as a string of the tree. */
uint32_t lc_group_name(struct lc_tree *t, const struct lc_by *by, uint32_t path);

#endif
