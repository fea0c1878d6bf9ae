/* SPDX-License-Identifier: Apache-2.0 */
/* model/tree_names.h - hides frames and packages in a report, without changing counts. */
#ifndef LC_MODEL_TREE_NAMES_H
#define LC_MODEL_TREE_NAMES_H

#include "analyzer/model/frame_filter.h"

/*
 * Remove each frame that fits `hide` from all call paths, and with `simple` the packages of all
 * classes. Rows that then have equal names are joined. A path without frames becomes unknown. Spans
 * keep their names.
 */
void lc_tree_rename(struct lc_tree *t, struct lc_frame_patterns *hide, bool simple);

#endif
