/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/trend.h - tells whether a series of numbers grows, and how fast.
 *
 * Sources: the test is Mann and Kendall's (H. B. Mann, Econometrica 13, 1945; M. G. Kendall, Rank
 * correlation methods, 1975), its variance corrected for numbers that depend on those before them
 * (K. H. Hamed, A. R. Rao, Journal of Hydrology 204, 1998). The slope is Theil and Sen's, and its
 * interval Sen's (P. K. Sen, Journal of the American Statistical Association 63, 1968).
 */
#ifndef LC_BASE_TREND_H
#define LC_BASE_TREND_H

#include <stdbool.h>
#include <stddef.h>

struct lc_trend_point {
	double x, y; /* x rises from point to point */
};

enum {
	LC_TREND_POINTS_MAX = 64,
	LC_TREND_POINTS_MIN = 5, /* fewer have no slope that is worth telling */
	LC_TREND_VERY_FEW = 8,   /* fewer must rise from each to the next, along a line */
	LC_TREND_FEW = 12,       /* fewer must rise more clearly */
};

struct lc_trend {
	double slope, low, high; /* y for each x, with the 95% interval */
	double z; /* of the corrected test: above 1.96 only 1 of 40 series that do not grow */
	/*
	 * It grows to the end: the test says so with 1 in 1,000, of few points with 1 in 2,000.
	 * Very few points cannot pass the test: each must be above the one before it, the first at
	 * most two thirds of the last, and their line must pass Student's test with 1 in 10,000.
	 * The last third is at least half as steep as the whole, and 0.6 times as steep as a line
	 * through the least and the largest number of the last two thirds would be; the low end of
	 * its interval is 0.3 times as steep as that at least. The least numbers of the last three
	 * sixths rise, though neighbours may be equal.
	 */
	bool grows;
};

/* The trend of at most LC_TREND_POINTS_MAX points; all 0 for fewer than LC_TREND_POINTS_MIN. */
struct lc_trend lc_trend_of(const struct lc_trend_point *points, size_t len);

#endif
