/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/footprint.h - estimates how many cache lines the sampled code touches.
 *
 * Each sample draws a cache line. The numbers of lines drawn once and twice estimate the number of
 * lines that no sample has drawn: Chao's estimator (A. Chao, Nonparametric estimation of the number
 * of classes in a population, 1984). If some lines are touched more often than others, the estimate
 * is too small, not too large. If at most one draw in twenty is of a line drawn once, the seen
 * lines have 95% of all accesses (I. J. Good, 1953), and are the footprint. Lines that are hardly
 * ever touched do not count.
 */
#ifndef LC_OBJECTS_ANALYSIS_FOOTPRINT_H
#define LC_OBJECTS_ANALYSIS_FOOTPRINT_H

#include <stdint.h>

#include "analyzer/model/tree.h"

enum { LC_FOOTPRINT_LINE_BYTES = 64 };

struct lc_footprint {
	uint64_t drawn;       /* samples */
	uint64_t lines;       /* different ones among them */
	uint64_t once, twice; /* of these, those drawn once and twice */
	/* Lines, with their 95% interval; `high` is INFINITY where no line was drawn twice. */
	double estimate, low, high;
};

/* Compute the footprint of an engine's samples. All 0 if the profile lacks the data. */
void lc_footprint_of(struct lc_footprint *f, const struct lc_tree *t, uint32_t engine);

/* Estimate from the counts. Pure. */
void lc_footprint_estimate(struct lc_footprint *f);

#endif
