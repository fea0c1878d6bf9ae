/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/report_next.h - puts together the command that gets the lines that rows lack. */
#ifndef LC_OBJECTS_TEXT_REPORT_NEXT_H
#define LC_OBJECTS_TEXT_REPORT_NEXT_H

#include "analyzer/objects/analysis/report.h"

struct lc_screen;

/*
 * Lines for the end of the first screen, within its width from 43 columns on: a command to copy,
 * which tracks the classes of rows without a line. It has the recorded command if that is known,
 * was given in this directory, and fits. "" if each row has its line, or a collector hides them, or
 * r->profile is NULL. The caller frees it.
 */
char *lc_report_next(const struct lc_screen *s, const struct lc_report *r);

#endif
