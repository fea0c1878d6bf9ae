/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/report_text.h - declares the parts of the report for a terminal (report_text*.c). */
#ifndef LC_OBJECTS_TEXT_REPORT_TEXT_H
#define LC_OBJECTS_TEXT_REPORT_TEXT_H

#include "analyzer/objects/analysis/report.h"

/* Write measurements on a line that begins with `label`; nothing if `m` is NULL. */
void lc_report_text_metric(FILE *out, const char *label, const struct lc_view_metric *m);

/* " load", " store", " load+store", or "". Static storage. */
const char *lc_report_touch_word(bool loads, bool stores);

/* "next", "[5]", "[0..63]". */
void lc_report_text_field(FILE *out, const struct lc_tree *t, const struct lc_view_field *f);

/* A call path from its leaf on, at most `frames` frames, a line each. */
void lc_report_text_path(FILE *out, const struct lc_report *r, uint32_t path, unsigned frames);

/* A line for each thing that makes the profile less than whole; nothing where it is whole. */
void lc_report_text_notes(FILE *out, const struct lc_report *r);

/* How many lines or classes are not shown, and how many have too few samples: lc_live_is_vague().
 */
void lc_report_text_live_rest(FILE *out, size_t more, size_t vague);

/* A line if collections cannot tell whether a line leaks, but a walk of the heap can. */
void lc_report_text_live_note(FILE *out, const struct lc_report *r);

/* The views of --view. Each says so where there is nothing to show. */
void lc_report_text_objects(FILE *out, const struct lc_report *r); /* the rows, opened */
void lc_report_text_allocations(FILE *out, const struct lc_report *r);
void lc_report_text_live(FILE *out, const struct lc_report *r);
void lc_report_text_footprint(FILE *out, const struct lc_report *r);
void lc_report_text_offheap(FILE *out, const struct lc_report *r);
void lc_report_text_code(FILE *out, const struct lc_report *r);
void lc_report_text_sharing(FILE *out, const struct lc_report *r);
void lc_report_text_threads(FILE *out, const struct lc_report *r);
void lc_report_text_recording(FILE *out, const struct lc_report *r);

#endif
