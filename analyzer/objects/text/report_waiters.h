/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/report_waiters.h - writes who waits: own methods, with their objects. */
#ifndef LC_OBJECTS_TEXT_REPORT_WAITERS_H
#define LC_OBJECTS_TEXT_REPORT_WAITERS_H

#include "analyzer/objects/analysis/report.h"
#include "analyzer/out/screen.h"

/* Write at most so many methods, with a line that says what the columns are; nothing without one.
 */
void lc_report_waiters(const struct lc_screen *s, const struct lc_report *r, size_t most);

/* Lines that this takes. */
unsigned lc_report_waiters_lines(const struct lc_report *r, size_t most);

#endif
