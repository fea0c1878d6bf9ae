/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/report_resident.h - writes what the resident memory of the process consists of. */
#ifndef LC_OBJECTS_TEXT_REPORT_RESIDENT_H
#define LC_OBJECTS_TEXT_REPORT_RESIDENT_H

#include "analyzer/objects/analysis/report.h"

struct lc_screen;

/* A table for each process; nothing where none was recorded. */
void lc_report_resident(const struct lc_screen *s, const struct lc_report *r);

/* A line for the first screen, if most of a large resident memory is not heap. */
void lc_report_resident_brief(const struct lc_screen *s, const struct lc_report *r);

#endif
