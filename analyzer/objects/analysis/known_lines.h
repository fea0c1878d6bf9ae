/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/known_lines.h - finds the classes whose allocation lines are known in all
 * compared profiles.
 *
 * The objects are those that were not tracked one by one. If one profile knows the lines of a class
 * and another profile does not, the class gets one row in all of them. With rows per line, equal
 * rows would look gone in one profile and new in the other.
 */
#ifndef LC_OBJECTS_ANALYSIS_KNOWN_LINES_H
#define LC_OBJECTS_ANALYSIS_KNOWN_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/model/tree.h"
#include "analyzer/objects/analysis/view.h"

/*
 * Does the profile know the lines of the samples in that row of view.classes? It does if five
 * sampled objects or more support the split. If all five are of one line, that line's part is 57%
 * or more (Wilson, 95%); with one object, 21%.
 */
bool lc_known_lines_of(const struct lc_view_site *class);

struct lc_known_lines {
	struct lc_tree names; /* strings: classes that have samples */
	unsigned char *seen;  /* by string: whether lines are known, unknown, or both */
	size_t cap;
};

/* Free with lc_known_lines_free(). */
void lc_known_lines_init(struct lc_known_lines *t);
void lc_known_lines_free(struct lc_known_lines *t);

/* Add one of the compared profiles. */
void lc_known_lines_add(struct lc_known_lines *t, const struct lc_view *v);

/* Do some profiles know the lines of the class while others do not? */
bool lc_known_lines_by_some(struct lc_known_lines *t, struct lc_text class);

#endif
