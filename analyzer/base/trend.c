/* SPDX-License-Identifier: Apache-2.0 */
/* base/trend.c - tests a series for growth, and estimates its slope. */
#include "analyzer/base/trend.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { PAIRS_MAX = LC_TREND_POINTS_MAX * (LC_TREND_POINTS_MAX - 1) / 2, PARTS = 6 };

#define Z95 1.96
#define Z_GROWS 3.09 /* 1 in 1,000, on one side */
#define Z_FEW 3.3    /* 1 in 2,000 */
/* Least parts that the slope of the last third, and the low end of its interval, must be. */
#define SPREAD_PART 0.6
#define LOW_PART 0.3
#define STEADY_PART 0.5      /* of the whole slope that the last third has at least */
#define FIRST_PART (2.0 / 3) /* of the last of very few numbers that the first is at most */

static int order(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The number of that rank (from 0). Reorders the numbers, without sorting all of them. */
static double ranked(double *v, long n, long rank)
{
	long from = 0, to = n - 1;

	while (from < to) {
		const double pivot = v[from + (to - from) / 2];
		long i = from, k = to;

		while (i <= k) {
			while (v[i] < pivot)
				i++;
			while (v[k] > pivot)
				k--;
			if (i <= k) {
				const double swapped = v[i];

				v[i++] = v[k];
				v[k--] = swapped;
			}
		}
		if (rank <= k)
			to = k;
		else if (rank >= i)
			from = i;
		else
			break; /* all between are equal to the pivot */
	}
	return v[rank];
}

static double median(double *v, long n)
{
	return n % 2 ? ranked(v, n, n / 2) : (ranked(v, n, n / 2 - 1) + ranked(v, n, n / 2)) / 2;
}

static bool is_constant(const struct lc_trend_point *p, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (p[i].y < p[0].y || p[i].y > p[0].y)
			return false;
	return true;
}

/* Kendall's S: pairs that rise less those that fall. */
static double kendall(const struct lc_trend_point *p, size_t n)
{
	double s = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			s += (p[k].y > p[i].y) - (p[k].y < p[i].y);
	return s;
}

/* The variance of S if the numbers are independent, with equal ones. */
static double variance(const struct lc_trend_point *p, size_t n)
{
	const double len = (double)n;
	double sum = len * (len - 1) * (2 * len + 5), sorted[LC_TREND_POINTS_MAX];

	for (size_t i = 0; i < n; i++)
		sorted[i] = p[i].y;
	qsort(sorted, n, sizeof(*sorted), order);
	for (size_t i = 0, end; i < n; i = end) {
		double ties;

		for (end = i; end < n && sorted[end] <= sorted[i]; end++)
			;
		ties = (double)(end - i);
		sum -= ties * (ties - 1) * (2 * ties + 5);
	}
	return sum / 18;
}

/* The rank of each number less the trend; equal ones have their mean rank. */
static void ranks_beside(const struct lc_trend_point *p, size_t n, double slope, double *ranks)
{
	for (size_t i = 0; i < n; i++) {
		const double at = p[i].y - slope * p[i].x;

		ranks[i] = 0.5;
		for (size_t k = 0; k < n; k++) {
			const double other = p[k].y - slope * p[k].x;

			ranks[i] += other < at ? 1 : other > at ? 0 : 0.5;
		}
	}
}

/*
 * The factor by which dependence widens the variance: the autocorrelation of the ranks at each lag
 * at which it is significant. Below 1 it is not believed.
 */
static double dependence(const struct lc_trend_point *p, size_t n, double slope)
{
	const double len = (double)n, mean = (len + 1) / 2;
	double ranks[LC_TREND_POINTS_MAX], whole = 0, sum = 0;

	ranks_beside(p, n, slope, ranks);
	for (size_t i = 0; i < n; i++)
		whole += (ranks[i] - mean) * (ranks[i] - mean);
	for (size_t lag = 1; whole > 0 && lag + 3 < n; lag++) {
		double r = 0;

		for (size_t i = 0; i + lag < n; i++)
			r += (ranks[i] - mean) * (ranks[i + lag] - mean);
		r /= whole;
		if (fabs(r) > Z95 / sqrt(len))
			sum += (double)((n - lag) * (n - lag - 1) * (n - lag - 2)) * r;
	}
	return fmax(1, 1 + 2 * sum / (len * (len - 1) * (len - 2)));
}

/* Sen's slope. The interval is of the rank of the slopes, by the variance of S. */
static struct lc_trend slope_of(const struct lc_trend_point *p, size_t n)
{
	double slopes[PAIRS_MAX];
	struct lc_trend t = { 0 };
	long len = 0;
	double width;

	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			slopes[len++] = (p[k].y - p[i].y) / (p[k].x - p[i].x);
	if (!len)
		return t;
	t.slope = median(slopes, len);
	width = Z95 * sqrt(variance(p, n) * dependence(p, n, t.slope));
	t.low = ranked(slopes, len, (long)fmax(0, floor(((double)len - width) / 2)));
	t.high = ranked(slopes, len, (long)fmin((double)len - 1, ceil(((double)len + width) / 2)));
	return t;
}

/* The least number of the part of the series' time that begins at `from` and ends at `to` (0 to 1).
 */
static double least(const struct lc_trend_point *p, size_t n, double from, double to)
{
	const double begin = p[0].x, length = p[n - 1].x - begin;
	double y = DBL_MAX;

	for (size_t i = 0; i < n; i++)
		if (p[i].x >= begin + from * length && p[i].x <= begin + to * length)
			y = fmin(y, p[i].y);
	return y;
}

/* By how much the numbers of the last two thirds differ, for each x. */
static double spread(const struct lc_trend_point *p, size_t n)
{
	const double begin = p[0].x + (p[n - 1].x - p[0].x) / 3;
	double low = DBL_MAX, high = -DBL_MAX;

	for (size_t i = 0; i < n; i++)
		if (p[i].x >= begin) {
			low = fmin(low, p[i].y);
			high = fmax(high, p[i].y);
		}
	return (high - low) / (p[n - 1].x - begin);
}

/*
 * Do the least numbers of the last sixths rise? Neighbours may be equal, since a collection may
 * know no more than the one before it. A sixth without a point tells nothing.
 */
static bool minima_rise(const struct lc_trend_point *p, size_t n)
{
	double first = DBL_MAX, before = -DBL_MAX;

	for (unsigned i = PARTS / 2; i < PARTS; i++) {
		const double y = least(p, n, (double)i / PARTS, (double)(i + 1) / PARTS);

		if (y >= DBL_MAX)
			continue;
		if (y < before)
			return false;
		first = fmin(first, y);
		before = y;
	}
	return before > first;
}

/*
 * Do very few numbers rise from each to the next, by much, and along a line? Noise that depends on
 * the noise before it can do the first and the last, but not the second; a sawtooth or a cache that
 * has filled can do the second, but hardly the last.
 */
static bool rises_along_line(const struct lc_trend_point *p, size_t n)
{
	/* Student's at 1 in 10,000, on one side, with 3 to 5 degrees of freedom. */
	static const double t[] = { 22.2, 13.03, 9.68 };
	const double limit = t[n - LC_TREND_POINTS_MIN], len = (double)n;
	double x = 0, y = 0, xx = 0, xy = 0, yy = 0;

	for (size_t i = 0; i < n; i++) {
		if (i && p[i].y <= p[i - 1].y)
			return false;
		x += p[i].x / len;
		y += p[i].y / len;
	}
	for (size_t i = 0; i < n; i++) {
		xx += (p[i].x - x) * (p[i].x - x);
		xy += (p[i].x - x) * (p[i].y - y);
		yy += (p[i].y - y) * (p[i].y - y);
	}
	return p[0].y <= FIRST_PART * p[n - 1].y &&
	       xy * xy * (len - 2) >= limit * limit * (xx * yy - xy * xy);
}

static bool passes_test(const struct lc_trend_point *p, size_t n, double z)
{
	if (n < LC_TREND_VERY_FEW)
		return rises_along_line(p, n);
	return z >= (n < LC_TREND_FEW ? Z_FEW : Z_GROWS);
}

struct lc_trend lc_trend_of(const struct lc_trend_point *p, size_t n)
{
	struct lc_trend all = { 0 }, last;
	size_t third = 0;
	double s, v, steep;

	if (n < LC_TREND_POINTS_MIN || n > LC_TREND_POINTS_MAX || is_constant(p, n))
		return all;
	all = slope_of(p, n);
	s = kendall(p, n);
	v = variance(p, n) * dependence(p, n, all.slope);
	all.z = v > 0 ? (s - (s > 0) + (s < 0)) / sqrt(v) : 0;
	while (p[third].x < p[0].x + (p[n - 1].x - p[0].x) * 2 / 3)
		third++;
	last = slope_of(p + third, n - third);
	steep = spread(p, n);
	all.grows = passes_test(p, n, all.z) && all.low > 0 && last.low > 0 &&
	            last.slope >= STEADY_PART * all.slope && last.slope >= SPREAD_PART * steep &&
	            last.low >= LOW_PART * steep && minima_rise(p, n);
	return all;
}
