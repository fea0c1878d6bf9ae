/* SPDX-License-Identifier: Apache-2.0 */
/* objects/text/report_brief.h - declares the report that fits on one screen of 80 columns and 40
 * lines.
 */
#ifndef LC_OBJECTS_TEXT_REPORT_BRIEF_H
#define LC_OBJECTS_TEXT_REPORT_BRIEF_H

#include "analyzer/objects/analysis/report.h"

/* The default of `locus report`; r->ranking is set. */
void lc_report_brief(FILE *out, const struct lc_report *r);

struct lc_ranking;
struct lc_rank_row;
struct lc_screen;

enum { LC_REPORT_BRIEF_LEFT = 21 }; /* columns of a row's numbers: "100.0% 10.2 to 12.0  " */

/* "Main and 2 more, JDK 17.0.15 G1", without a newline; `more`: how many processes there are
 * beside. */
void lc_report_brief_process(FILE *out, const struct lc_load_process *p, size_t more);

/*
 * "Main, JDK 17.0.15 G1, 5.1 s" of the first process, without a newline; nothing where there is
 * none.
 */
void lc_report_brief_program(FILE *out, const struct lc_load *l);

/*
 * "Main, JDK 17.0.15 G1, 10.0 s, 1344 samples"; there is a process. The caller frees it, as the
 * texts of the next two.
 */
char *lc_report_brief_head(const struct lc_report *r);

/*
 * A row's objects: "o.h2.v.Value", "Page.keys (Object[])", "o.h2.v.Value.hash", "org.h2.value"; the
 * first two in at most `columns`.
 */
char *lc_report_brief_object(const struct lc_ranking *rank, const struct lc_rank_row *row,
                             unsigned columns);

/*
 * Describe the touched part of a row's objects, and where most accesses are, in at most `columns`:
 * "all over, 61% at o.h2.v.Value.compareTo:12". Parts that do not fit a narrow line have a line
 * each, which may be too long: wrap them.
 */
char *lc_report_brief_detail(const struct lc_ranking *rank, const struct lc_rank_row *row,
                             unsigned columns);

/* The row's share with its interval, its objects, and the line that allocates them. */
void lc_report_brief_row(const struct lc_screen *s, const struct lc_ranking *rank,
                         const struct lc_rank_row *row);

/*
 * The rest of a line of at most `room` columns: the row's objects, and the line that allocates
 * them. In a narrow room that has a line of its own.
 */
void lc_report_brief_names(const struct lc_screen *s, const struct lc_ranking *rank,
                           const struct lc_rank_row *row, unsigned room);

/* The row's bytes, also as a share of `all` bytes; "~": a part of them is estimated. */
void lc_report_brief_allocation(const struct lc_screen *s, const struct lc_ranking *rank,
                                const struct lc_rank_row *row, double all);

/* One line on the rows from `shown` on; nothing where they have no samples. */
void lc_report_brief_rest(const struct lc_screen *s, const struct lc_ranking *rank, size_t shown);

#endif
