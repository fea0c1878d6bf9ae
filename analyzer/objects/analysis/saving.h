/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/saving.h - computes which part of the CPU time goes to the objects of rows: to
 * their accesses alone, and with all that exists only for them; and which part goes to calls.
 *
 * docs/objects.md says what is counted. No sample counts twice. All are upper limits of what a
 * change can save.
 */
#ifndef LC_OBJECTS_ANALYSIS_SAVING_H
#define LC_OBJECTS_ANALYSIS_SAVING_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/objects/analysis/ranking.h"

/* A part of the CPU time, with its 95% interval. */
struct lc_saving_part {
	double share, low, high;
};

struct lc_saving {
	struct lc_saving_part accesses; /* that waited for the objects */
	struct lc_saving_part all;      /* with making, filling, copying and collecting them */
	struct lc_saving_part calls;    /* all below the calls that use the objects */
};

struct lc_savings; /* opaque: facts of a ranking that all its rows share */

/* The ranking, of LC_GROUP_LINE, must outlive it. Free with lc_savings_free(). */
struct lc_savings *lc_savings_new(const struct lc_ranking *r);
void lc_savings_free(struct lc_savings *s);

/* The part of the CPU time that the samples are of; 1 if it is not known. */
double lc_savings_threads(const struct lc_savings *s);

/*
 * The JDK's collection whose code exists only for objects of the class, which are its nodes or its
 * table: "java.util.HashMap" of "java.util.HashMap$Node[]"; "" if there is none.
 */
struct lc_text lc_saving_collection(struct lc_text class);

/*
 * Find the parts of the CPU time that go to the objects of all these rows. `gone`: flags by method
 * of the JDK's code that goes with the objects; NULL: only that of their collection.
 */
struct lc_saving lc_saving_of(const struct lc_savings *s, const struct lc_rank_row *const *rows,
                              size_t len, const bool *gone);

/*
 * Find the part that goes to the flagged paths, which have these samples, with the collector's work
 * for what they allocate.
 */
struct lc_saving_part lc_saving_of_paths(const struct lc_savings *s, struct lc_weighted sum,
                                         const bool *on);

#endif
