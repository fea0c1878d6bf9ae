/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge/inputs_groups.h - finds the keys that keep a merge's call paths apart, and each process's
 * group.
 */
#ifndef LC_MERGE_INPUTS_GROUPS_H
#define LC_MERGE_INPUTS_GROUPS_H

#include "analyzer/merge/inputs.h"

/*
 * Set in->by: the keys that were asked for, else those that most of the inputs were merged by, and
 * of several the first in the order of their bytes. Inputs that were merged by others cannot be
 * used, and their lines say so.
 */
void lc_merge_groups_choose(struct lc_merge_inputs *in);

/* Find the groups of the processes whose paths are not kept apart yet. */
void lc_merge_groups_find(struct lc_merge_inputs *in);

#endif
