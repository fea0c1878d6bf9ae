/*
 * objects/analysis/footprint.h - estimates how many cache lines the code touches whose samples
 * there are.
 *
 * Samples are draws of cache lines. Those drawn once and twice tell how many there are that no
 * sample has drawn: Chao's estimator (A. Chao, Nonparametric estimation of the number of classes in
 * a population, 1984). Lines that are touched more often than others make it too small, not too
 * large. Where one draw in twenty or fewer is of a line drawn once, the lines seen have 95% of all
 * accesses (I. J. Good, 1953), and are the footprint: lines that are hardly ever touched do not
 * count.
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

/* Of an engine's samples. All 0 where the profile does not tell. */
void lc_footprint_of(struct lc_footprint *f, const struct lc_tree *t, uint32_t engine);

/* Estimate from the counts. Pure. */
void lc_footprint_estimate(struct lc_footprint *f);

#endif
