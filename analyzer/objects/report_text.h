/*
 * objects/report_text.h - declares the parts of the report for a terminal, which lie in
 * report_text.c and report_text_objects.c.
 */
#ifndef LC_OBJECTS_REPORT_TEXT_H
#define LC_OBJECTS_REPORT_TEXT_H

#include "analyzer/objects/report.h"

/* What was measured, in a line that begins with `label`; nothing where `m` is NULL. */
void lc_report_text_metric(FILE *out, const char *label, const struct lc_view_metric *m);

/* Sections. One that has nothing to say prints nothing, but for lc_report_text_sites(). */
void lc_report_text_sites(FILE *out, const struct lc_report *r);
void lc_report_text_classes(FILE *out, const struct lc_report *r);
void lc_report_text_sharing(FILE *out, const struct lc_report *r);
void lc_report_text_estimates(FILE *out, const struct lc_report *r);

#endif
