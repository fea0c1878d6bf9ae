/* SPDX-License-Identifier: Apache-2.0 */
/* repeat/repeat_impl.h - declares what the formats of `locus repeat` share. */
#ifndef LC_REPEAT_REPEAT_IMPL_H
#define LC_REPEAT_REPEAT_IMPL_H

#include <stddef.h>
#include <stdio.h>

#include "analyzer/repeat/repeat.h"

/* Each writes a whole report, of `top` entries a table; the caller checks `out` for errors. */
void lc_repeat_text(FILE *out, const struct lc_repeat *r, size_t top);
void lc_repeat_json(FILE *out, const struct lc_repeat *r, size_t top);
void lc_repeat_html(FILE *out, const struct lc_repeat *r, size_t top); /* holds that JSON */

/* ---- words; the caller frees them ---- */

/* "10 of 12 runs counted; first object: Spectrum.re (double[]), in all 10 runs; first method: ...".
 */
char *lc_repeat_headline(const struct lc_repeat *r);

/* Say which entry of a table with runs came first: "Spectrum.re (double[]), in all 10 runs". */
char *lc_repeat_say_first(const struct lc_repeat_table *t);

/* Its largest self-difference: "3.1 points at most: Spectrum.re (double[]), 38.0% to 41.1%". */
char *lc_repeat_say_difference(const struct lc_repeat_table *t);

/* Is its top stable? "2 of 1% or more are in it in some runs only". */
char *lc_repeat_say_top(const struct lc_repeat_table *t);

/* Classes of 1% or more that are not told apart by line in each run; NULL: there are none. */
char *lc_repeat_say_lines(const struct lc_repeat_table *t);

/* Why there are no intervals; NULL: there are some. Static storage. */
const char *lc_repeat_withheld(const struct lc_repeat *r);

#endif
