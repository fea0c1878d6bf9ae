/* report.h - what the formats of `locus report` share. */
#ifndef LC_REPORT_H
#define LC_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "view.h"

/* Exit status of a report that was written although parts of its profile are damaged. */
enum { LC_REPORT_PARTIAL = 2 };

struct lc_source;

struct lc_report {
	const struct lc_view *view;
	const struct lc_load_engine *engine;
	struct lc_source *source; /* NULL without --source-path */
	size_t top;               /* sites to show; SIZE_MAX: all */
	bool filtered;            /* --thread was given */
};

/* Each writes a whole report; the caller checks `out` for errors. */
void lc_report_text(FILE *out, const struct lc_report *r);
void lc_report_json(FILE *out, const struct lc_report *r);
void lc_report_collapsed(FILE *out, const struct lc_report *r);
void lc_report_html(FILE *out, const struct lc_report *r);

/*
 * The members that JSON and HTML reports have in common, "format" to "details", without braces.
 */
void lc_report_json_head(FILE *out, const struct lc_report *r);

#endif
