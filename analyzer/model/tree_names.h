/* model/tree_names.h - leaves frames and packages out of what a report shows; counts stay. */
#ifndef LC_MODEL_TREE_NAMES_H
#define LC_MODEL_TREE_NAMES_H

#include "analyzer/model/frame_filter.h"

/*
 * Leave each frame that fits `hide` out of all call paths, and with `simple` the packages of all
 * classes. What is then called the same is counted as one. A path of which no frame is left is not
 * known. Spans keep their names.
 */
void lc_tree_rename(struct lc_tree *t, struct lc_frame_patterns *hide, bool simple);

#endif
