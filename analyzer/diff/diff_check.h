/* SPDX-License-Identifier: Apache-2.0 */
/* diff/diff_check.h - evaluates the conditions of --fail-on for a diff. */
#ifndef LC_DIFF_DIFF_CHECK_H
#define LC_DIFF_DIFF_CHECK_H

#include "analyzer/diff/diff.h"
#include "analyzer/diff/diff_condition.h"
#include "analyzer/diff/diff_impl.h"

/*
 * Does the condition hold?
 *
 * The rows that its pattern fits are summed, and the change of the sum is one comparison. The
 * condition holds if the sum changed by more than the limit, and the change is significant. It
 * cannot be decided if it does not hold but the interval of the change reaches beyond the limit:
 * estimates of a short run may be 35% off. With one profile per side, counts have no noise, and the
 * noise of CPU time is unknown.
 *
 * A pattern fits a class, with its package or without. With --group=package it fits a package, with
 * --group=field "Class.field" or the class.
 */
void lc_diff_ask(const struct lc_diff *d, const struct lc_diff_condition *c,
                 struct lc_diff_outcome *out);

#endif
