/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/report_allocates.h - says how much was allocated, and where most of it. */
#ifndef LC_OBJECTS_TEXT_REPORT_ALLOCATES_H
#define LC_OBJECTS_TEXT_REPORT_ALLOCATES_H

#include "analyzer/objects/analysis/report.h"
#include "analyzer/out/screen.h"

/*
 * Write one line: "allocated ~1.8 GB (330 MB per CPU second): 41% at a.Main.load:20", with
 * as many lines of code as the screen is wide; nothing if no allocation is known.
 */
void lc_report_allocates(const struct lc_screen *s, const struct lc_report *r);

#endif
