/*
 * objects/analysis/known_lines.h - told are the classes whose lines of allocation a profile can
 * tell, of objects that were not tracked one by one. Where profiles are compared, a class that one
 * profile tells the lines of and another does not has one row in all of them: by lines, what is the
 * same in both would be gone from one and new in the other.
 */
#ifndef LC_OBJECTS_ANALYSIS_KNOWN_LINES_H
#define LC_OBJECTS_ANALYSIS_KNOWN_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/model/tree.h"
#include "analyzer/objects/analysis/view.h"

/*
 * Does the profile tell which lines the samples of that row of view.classes are of? It does where
 * five sampled objects or more are behind the split: if all five are of one line, that line's part
 * of all is 57% or more (Wilson, 95%); with one object, 21%.
 */
bool lc_known_lines_of(const struct lc_view_site *class);

struct lc_known_lines {
	struct lc_tree names; /* its strings are classes that have samples */
	unsigned char *seen;  /* by string: whether lines were told, were not, or both */
	size_t cap;
};

/* Free with lc_known_lines_free(). */
void lc_known_lines_init(struct lc_known_lines *t);
void lc_known_lines_free(struct lc_known_lines *t);

/* One more profile is compared. */
void lc_known_lines_add(struct lc_known_lines *t, const struct lc_view *v);

/* Do some of the profiles tell the lines of a class, and others not? */
bool lc_known_lines_by_some(struct lc_known_lines *t, struct lc_text class);

#endif
