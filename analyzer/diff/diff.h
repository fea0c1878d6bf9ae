/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff/diff.h - compares two sides, each of one or several profiles of the same work: matches the
 * rows of their rankings, and computes each change with its interval.
 *
 * Counts (allocations and bytes of tracked objects) are exact: with one profile per side their
 * difference is no estimate. Shares of samples, CPU time and figures from sampled allocations are
 * estimates. Numbers of a side with several profiles are means.
 */
#ifndef LC_DIFF_DIFF_H
#define LC_DIFF_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/arena.h"
#include "analyzer/model/load.h"
#include "analyzer/model/slices.h"
#include "analyzer/objects/analysis/ranking.h"
#include "analyzer/objects/analysis/view.h"

enum lc_diff_which { LC_DIFF_BEFORE, LC_DIFF_AFTER, LC_DIFF_SIDES };

/* One profile's figures for a row, as absolute numbers. */
struct lc_diff_counts {
	uint64_t samples, pairs; /* as in struct lc_weighted */
	double variance;         /* of the samples: that they are of this row is an estimate */
	uint64_t allocations, bytes;
	uint64_t spread; /* of the allocations: that they are this row's is an estimate */
	double objects, objects_variance, object_bytes, object_bytes_variance;
	struct lc_rank_offheap offheap;
	double live, live_variance; /* bytes of objects after the last collection */
};

/* A number of both sides, and its change. */
struct lc_diff_number {
	bool known;
	bool estimate; /* of samples; else it was counted or measured */
	bool exact; /* counted in both sides, each of which is of one profile, or of equal ones */
	double before, after;
	double change, low, high; /* after less before, with its 95% interval */
	/* Is the change larger than noise explains? false if not `tested`: then that is unknown. */
	bool tested, significant;
};

/* A profile, loaded: `view` and `ranking` are of the samples that are compared. */
struct lc_diff_profile {
	const char *path;
	enum lc_diff_which which;
	struct lc_tree tree;
	struct lc_slices slices; /* of the tree, where a page is to be written */
	struct lc_load load;
	struct lc_view view;
	struct lc_ranking ranking;
	bool live;        /* it tells what was live after the last collection */
	uint64_t samples; /* all of the engine's */
	double cpu_ns;    /* that they stand for; 0: the engine is not the timer */
};

/* A row's place in one side. */
struct lc_diff_place {
	const struct lc_diff_profile *profile; /* in which it has most; NULL: the side has no row */
	const struct lc_rank_row *row;         /* of the profile's ranking */
	uint32_t line1; /* of the allocation + 1, with LC_GROUP_LINE; 0: not known */
};

struct lc_diff_row {
	struct lc_diff_place side[LC_DIFF_SIDES];
	bool moved; /* its line of allocation, or lines of its path, moved */
	bool rest;  /* too few samples to compare shares */
	/* shares of all samples, before and after, 0 to 1; ns; counted; estimated */
	struct lc_diff_number share, cpu_ns, allocations, bytes, objects, object_bytes;
	/* bytes outside the heap that were allocated, and that are live at the end */
	struct lc_diff_number offheap_bytes, offheap_live;
	struct lc_diff_number live;          /* bytes of objects after the last collection */
	const struct lc_diff_counts *counts; /* of each profile, as lc_diff.profiles has them */
};

struct lc_diff {
	struct lc_diff_profile *profiles; /* those before, then those after */
	size_t len, sides[LC_DIFF_SIDES]; /* of profiles: all, and of each side */
	enum lc_rank_group group;
	const struct lc_load_engine *engine; /* of the samples; NULL: none are compared */
	char *mixed;                         /* why none are, where there are some; or NULL */
	bool repeated;                       /* a side has several profiles */

	struct lc_diff_row *rows; /* see lc_diff_build() */
	size_t rows_len;
	size_t significant; /* rows, the first ones, whose share changed so */
	size_t compared;    /* rows with enough samples for a verdict */

	struct lc_diff_row all;         /* the sum of all rows */
	struct lc_diff_number total_ns; /* CPU time of the samples; see lc_report_cpu_ns() */
	struct lc_arena arena;
};

/*
 * Compare profiles, which are loaded: `path`, `which`, `tree` and `load` are set, those before come
 * first, and there is one of each side. They stay the caller's, as does `engine_word`, --engine or
 * NULL. Rows whose share changed significantly come first, most CPU time (or share) first; then
 * those that can be compared, by share; then the rest, by how much their bytes changed. Free with
 * lc_diff_free(). Returns 0, or an exit status after one line on stderr: there is no such engine.
 */
int lc_diff_build(struct lc_diff *d, struct lc_diff_profile *profiles, size_t len,
                  enum lc_rank_group group, const char *engine_word);
void lc_diff_free(struct lc_diff *d);

/*
 * Fill in a row's numbers from its counts, with intervals and verdicts of 95%: of a row that stands
 * alone, such as the sum of several.
 */
void lc_diff_numbers(const struct lc_diff *d, struct lc_diff_row *row);

/* Add what each profile says of a row to sum[], one for each profile. */
void lc_diff_add(const struct lc_diff *d, struct lc_diff_counts *sum,
                 const struct lc_diff_row *row);

/* For diff.c: total_ns, `all`, and all rows' numbers and verdicts: see diff_numbers.c. */
void lc_diff_judge(struct lc_diff *d);

/*
 * For diff.c: match rows of both sides, by what their names are, and in a method whose lines moved
 * by how far; sets `rows` and `rows_len`, and of each row side, moved and counts.
 */
void lc_diff_match(struct lc_diff *d);

#endif
