/* SPDX-License-Identifier: Apache-2.0 */
/* model/tree_prune.h - folds call paths with few counts into one path for each place. */
#ifndef LC_MODEL_TREE_PRUNE_H
#define LC_MODEL_TREE_PRUNE_H

#include "analyzer/model/tree.h"

/* The class of the one frame that stands for what was folded below its parent; no method name. */
#define LC_PRUNED_CLASS "(pruned)"

/*
 * Fold call paths with few counts.
 *
 * A path is folded if it and the paths below it have less than `share` (0 to 1) of each total:
 * samples of each engine, allocated bytes, estimated bytes, and cycles of spans. Its counts go to a
 * path LC_PRUNED_CLASS below its longest caller that stays, so all sums are unchanged. Folded paths
 * lose names of sites and recursion. The `outermost` frames of each path, which say its group
 * (groups.h), are not folded. Without memory the program ends.
 */
void lc_tree_prune(struct lc_tree *t, double share, unsigned outermost);

#endif
