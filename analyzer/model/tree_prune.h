/* model/tree_prune.h - folds the call paths of which little was counted into one for each place. */
#ifndef LC_MODEL_TREE_PRUNE_H
#define LC_MODEL_TREE_PRUNE_H

#include "analyzer/model/tree.h"

/* The class of the one frame that stands for what was folded below its parent; no method name. */
#define LC_PRUNED_CLASS "(pruned)"

/*
 * Fold each call path in and below which little was counted: less than `share` (0 to 1) of the
 * samples of each engine, of the bytes that were allocated, of those that are estimated, and of the
 * cycles of spans. What was counted for it is counted for a path LC_PRUNED_CLASS below the longest
 * of its callers that stays, so that all sums are what they were. Names of sites whose path was
 * folded and recursion in such paths are not kept. The `outermost` frames of each path, which say
 * its group (groups.h), are not folded. Stops the program without memory.
 */
void lc_tree_prune(struct lc_tree *t, double share, unsigned outermost);

#endif
