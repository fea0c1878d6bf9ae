/* SPDX-License-Identifier: Apache-2.0 */
/* model/tree_lines.h - joins call paths that look alike when lines are shown. */
#ifndef LC_MODEL_TREE_LINES_H
#define LC_MODEL_TREE_LINES_H

#include "analyzer/model/tree.h"

/*
 * Count what was counted for a path or a site for the one that stands for it: of the paths whose
 * frames have the same methods and lines, and of the sites of one class with such paths, the first
 * by lc_tree_order_paths(). A site keeps its number, and so its lc_tree_site_id(). Sums stay what
 * they are. Sections of spans are left as they are.
 */
void lc_tree_fold_lines(struct lc_tree *t);

/*
 * Count for path paths[i] what was counted for path i, and so for sites, whose own allocations are
 * counted anew too. Spans and what is in them keep theirs.
 */
void lc_tree_renumber(struct lc_tree *t, const uint32_t *paths, const uint32_t *sites);

#endif
