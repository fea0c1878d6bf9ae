/* SPDX-License-Identifier: Apache-2.0 */
/* diff/diff_impl.h - declares what the formats of `locus diff` share. */
#ifndef LC_DIFF_DIFF_IMPL_H
#define LC_DIFF_DIFF_IMPL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/diff/diff.h"

/* A condition of --fail-on, asked. */
struct lc_diff_outcome {
	const char *condition; /* as it was given */
	bool known;            /* something matches, and the metric is known of it */
	bool holds;
	bool undecided; /* it does not hold, but its limit lies within the interval of the change */
	char *text;     /* one line: what it is about, or why nothing is known; free() it */
};

struct lc_diff_report {
	const struct lc_diff *diff;
	const struct lc_diff_outcome *outcomes;
	size_t outcomes_len;
	size_t top; /* rows to show; SIZE_MAX: all */
};

/* Each writes a whole report; the caller checks `out` for errors. */
void lc_diff_text(FILE *out, const struct lc_diff_report *r);
void lc_diff_json(FILE *out, const struct lc_diff_report *r);
void lc_diff_markdown(FILE *out, const struct lc_diff_report *r);
/* The page of the first profile after, whose tree has slices. */
void lc_diff_html(FILE *out, const struct lc_diff_report *r);

/* ---- words; the caller frees them ---- */

/* The name of a row's objects, in at most `columns`: the name after, if there is one. */
char *lc_diff_object(const struct lc_diff_row *row, unsigned columns);

/* "o.h2.v.Value.get:42", of the allocation; of both sides where the line moved; NULL: none. */
char *lc_diff_origin(const struct lc_diff_row *row);

/*
 * "reached through Page.keys, before through Page.rows[]", if most samples of each side came
 * through another reference; else NULL.
 */
char *lc_diff_reached(const struct lc_diff_row *row);

/*
 * "arrays looked at used 48.0% on average, before 1.1%", if both sides have looked at enough, and
 * they differ; else NULL.
 */
char *lc_diff_used(const struct lc_diff_row *row);

/* "Spectrum.re (double[]) 40.8% to 18.4%, significant"; "no significant change ...". */
char *lc_diff_headline(const struct lc_diff *d);

/* "new", "gone", or "" of a row that both sides have. */
const char *lc_diff_fate(const struct lc_diff_row *row);

/* Is the row of all lines that allocate its class, since not every profile tells them? */
bool lc_diff_all_lines(const struct lc_diff_row *row);

/* "significant", "no significant change", or "too few samples" of a row's share. */
const char *lc_diff_verdict(const struct lc_diff_row *row);

/* "3.0 s to 1.1 s, -63.3% (-1.9 s to -1.7 s)" of ns. */
char *lc_diff_time_words(const struct lc_diff_number *n);

/* "1024 to 1030, +0.6%"; "equal: 1024"; with `~` and an interval where it is an estimate. */
char *lc_diff_count_words(const struct lc_diff_number *n, bool bytes);

/* Has the row's number of allocations, or of bytes, changed as far as that is known? */
bool lc_diff_allocates_otherwise(const struct lc_diff_row *row);

/* Have the row's live bytes changed significantly, by 1% of all live bytes or more? */
bool lc_diff_lives_otherwise(const struct lc_diff *d, const struct lc_diff_row *row);

#endif
