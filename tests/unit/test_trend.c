/* uses: analyzer/base/trend.c -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_trend.c - checks the test for growth on simulated series: which it finds, and which not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analyzer/base/trend.h"

enum { SERIES = 1000, WRONG_MAX = SERIES / 100 };

static uint64_t state;

/* Uniform between 0 and 1. */
static double uniform(void)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(state >> 11) / (double)(UINT64_C(1) << 53);
}

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(2 * 3.14159265358979 * uniform());
}

/* The course of a series; `at` is 0 to 1. Each has parameters of its own in `p`. */
typedef double shape_fn(double at, const double *p);

static double steady(double at, const double *p)
{
	return 100;
}

/* Grows and falls back; the period is a part of the recording. */
static double sawtooth(double at, const double *p)
{
	return 100 + 100 * fmod(at + p[0], 0.05 + p[1] / 4) / (0.05 + p[1] / 4);
}

/* Fills until a time in the first 70%, at one rate. */
static double bounded(double at, const double *p)
{
	return 100 * fmin(1, at / (0.05 + 0.65 * p[0]));
}

/* Fills ever more slowly: entries that are there are replaced. */
static double saturating(double at, const double *p)
{
	return 100 * (1 - exp(-at / (0.03 + 0.17 * p[0])));
}

static double leak(double at, const double *p)
{
	return 100 + 100 * at;
}

/* ... under a cache that is emptied now and then. */
static double leak_in_sawtooth(double at, const double *p)
{
	return sawtooth(at, (const double[]){ p[0], 0.1 * p[1] }) + 300 * at;
}

/* ... that begins in the first half. */
static double late_leak(double at, const double *p)
{
	return 100 + 100 * fmax(0, at - p[0] / 2);
}

/*
 * How many of the series grow. Noise has this deviation, and depends on the noise before it (0, 0.5
 * or 0.9). A point is, like in a profile, the least of `each` numbers.
 */
static unsigned growing_of(shape_fn *shape, double deviation, size_t least_len, size_t most_len)
{
	static const double dependences[] = { 0, 0.5, 0.9 };
	struct lc_trend_point points[LC_TREND_POINTS_MAX];
	unsigned n = 0;

	for (unsigned k = 0; k < SERIES; k++) {
		const double p[] = { uniform(), uniform() }, r = dependences[k % 3];
		const size_t len =
		    least_len + (size_t)(uniform() * (double)(most_len + 1 - least_len));
		const unsigned each = 1 + (unsigned)(uniform() * 4);
		double noise = normal();

		for (size_t i = 0; i < len; i++) {
			points[i] = (struct lc_trend_point){ (double)i, INFINITY };
			for (unsigned e = 0; e < each; e++) {
				const double at = ((double)i + (double)e / each) / (double)len;

				noise = r * noise + sqrt(1 - r * r) * normal();
				points[i].y = fmin(points[i].y, shape(at, p) + deviation * noise);
			}
		}
		n += lc_trend_of(points, len).grows;
	}
	return n;
}

static unsigned growing(shape_fn *shape, double deviation, size_t least_len)
{
	return growing_of(shape, deviation, least_len, LC_TREND_POINTS_MAX);
}

static int setup(void **unused)
{
	state = 42;
	return 0;
}

static void at_most_one_in_a_hundred_that_stay_is_said_to_grow(void **unused)
{
	assert_in_range(growing(steady, 3, LC_TREND_VERY_FEW), 0, WRONG_MAX);
	assert_in_range(growing(sawtooth, 3, LC_TREND_VERY_FEW), 0, WRONG_MAX);
	assert_in_range(growing(bounded, 3, LC_TREND_VERY_FEW), 0, WRONG_MAX);
}

/* Such a cache does grow to the end, if only by a little. */
static void few_caches_that_fill_ever_more_slowly_are_said_to_grow(void **unused)
{
	assert_in_range(growing(saturating, 3, LC_TREND_VERY_FEW), 0, 3 * WRONG_MAX);
}

static void what_grows_is_found(void **unused)
{
	assert_in_range(growing(leak, 1, LC_TREND_VERY_FEW), SERIES * 95 / 100, SERIES);
	assert_in_range(growing(late_leak, 1, 24), SERIES * 80 / 100, SERIES);
	assert_in_range(growing(leak_in_sawtooth, 1, 24), SERIES * 60 / 100, SERIES);
}

/* Five to seven points that are a line: a leak. */
static void very_few_points_tell_as_well(void **unused)
{
	for (size_t len = LC_TREND_POINTS_MIN; len < LC_TREND_VERY_FEW; len++) {
		assert_in_range(growing_of(steady, 3, len, len), 0, WRONG_MAX);
		assert_in_range(growing_of(sawtooth, 3, len, len), 0, WRONG_MAX);
		assert_in_range(growing_of(bounded, 3, len, len), 0, WRONG_MAX);
		assert_in_range(growing_of(saturating, 3, len, len), 0, WRONG_MAX);
		assert_in_range(growing_of(leak, 1, len, len), SERIES * 95 / 100, SERIES);
	}
}

/* A line that rises by a quarter may be noise that depends on the noise before it. */
static void very_few_points_that_rise_by_little_tell_nothing(void **unused)
{
	struct lc_trend_point points[LC_TREND_VERY_FEW];

	for (size_t i = 0; i < LC_TREND_VERY_FEW; i++)
		points[i] = (struct lc_trend_point){ (double)i, 28 + (double)i };
	assert_false(lc_trend_of(points, LC_TREND_VERY_FEW - 1).grows);
	assert_true(lc_trend_of(points, LC_TREND_VERY_FEW).grows);
}

static void the_slope_is_that_of_the_series(void **unused)
{
	struct lc_trend_point points[32];
	struct lc_trend t;
	unsigned held = 0;

	for (unsigned k = 0; k < SERIES; k++) {
		for (size_t i = 0; i < 32; i++)
			points[i] =
			    (struct lc_trend_point){ 2 * (double)i, 7 * (double)i + 5 * normal() };
		t = lc_trend_of(points, 32);
		assert_true(fabs(t.slope - 3.5) < 0.6);
		held += t.low <= 3.5 && t.high >= 3.5;
	}
	assert_in_range(held, SERIES * 93 / 100, SERIES);
}

static void four_points_tell_nothing(void **unused)
{
	struct lc_trend_point points[LC_TREND_POINTS_MIN];

	for (size_t i = 0; i < LC_TREND_POINTS_MIN; i++)
		points[i] = (struct lc_trend_point){ (double)i, (double)i };
	assert_true(lc_trend_of(points, LC_TREND_POINTS_MIN - 1).slope == 0);
	assert_true(lc_trend_of(points, LC_TREND_POINTS_MIN).slope == 1);
	assert_true(lc_trend_of(points, LC_TREND_POINTS_MIN).grows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(at_most_one_in_a_hundred_that_stay_is_said_to_grow, setup),
		cmocka_unit_test_setup(few_caches_that_fill_ever_more_slowly_are_said_to_grow,
		                       setup),
		cmocka_unit_test_setup(what_grows_is_found, setup),
		cmocka_unit_test_setup(very_few_points_tell_as_well, setup),
		cmocka_unit_test(very_few_points_that_rise_by_little_tell_nothing),
		cmocka_unit_test_setup(the_slope_is_that_of_the_series, setup),
		cmocka_unit_test(four_points_tell_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
