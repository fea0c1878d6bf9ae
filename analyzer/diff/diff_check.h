/* diff/diff_check.h - asks the conditions of --fail-on of a diff. */
#ifndef LC_DIFF_DIFF_CHECK_H
#define LC_DIFF_DIFF_CHECK_H

#include "analyzer/diff/diff.h"
#include "analyzer/diff/diff_condition.h"
#include "analyzer/diff/diff_impl.h"

/*
 * Does the condition hold? The rows that its pattern fits are added up, and what they have become
 * is one comparison: it holds when the sum changed by more than the limit, and the change is
 * significant. It cannot be decided where it does not hold, but the interval of the change reaches
 * beyond the limit: estimates of a short run may be 35% off. What is counted has no noise in one
 * profile a side, and CPU time none that is known. A pattern fits a class, with its package or
 * without; with --group=package a package, with
 * --group=field "Class.field" or the class too.
 */
void lc_diff_ask(const struct lc_diff *d, const struct lc_diff_condition *c,
                 struct lc_diff_outcome *out);

#endif
