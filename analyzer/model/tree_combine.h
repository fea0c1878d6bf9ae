/* SPDX-License-Identifier: Apache-2.0 */
/* model/tree_combine.h - adds one tree to another. */
#ifndef LC_MODEL_TREE_COMBINE_H
#define LC_MODEL_TREE_COMBINE_H

#include "analyzer/model/tree.h"

/*
 * Add all of *from, which is not changed, to *to. Both number processes and engines alike. The
 * result does not depend on which of several trees are combined first. Stretches and slices of
 * *from are not added. Stops the program without memory.
 */
void lc_tree_combine(struct lc_tree *to, const struct lc_tree *from);

/*
 * The same for a part of the paths. keep[i] says whether path i of *from stays; the parent of such
 * a path stays, too. Counts of other paths go to a path LC_PRUNED_CLASS (tree_prune.h) below their
 * longest caller that stays.
 */
void lc_tree_combine_some(struct lc_tree *to, const struct lc_tree *from, const bool *keep);

/* Bytes of memory that a tree takes, about. */
size_t lc_tree_bytes(const struct lc_tree *t);

#endif
