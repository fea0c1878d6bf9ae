/* SPDX-License-Identifier: Apache-2.0 */
/* repeat/repeat_output.h - compares the outputs of a program's runs. */
#ifndef LC_REPEAT_REPEAT_OUTPUT_H
#define LC_REPEAT_REPEAT_OUTPUT_H

#include <stdbool.h>

#include "analyzer/repeat/repeat.h"

/*
 * Leave out the runs that wrote to standard error, unless `any_stderr`, and of the rest those whose
 * output is not the one that most have (of equally many the first run's), unless `any_output`.
 * Lines of Locus's own, "locus: ..." and "locus-delay: ...", are not the program's: the first one
 * is kept in run->said. Nor is HotSpot's line on JAVA_TOOL_OPTIONS. Runs without a directory have
 * no output, and stay.
 */
void lc_repeat_judge_output(struct lc_repeat *r, bool any_stderr, bool any_output);

#endif
