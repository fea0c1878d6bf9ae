/* uses: analyzer/diff/diff_math.c -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_diff_math.c - checks the intervals by which profiles are compared against published examples
 * and tables, and against numbers worked out by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/diff/diff_math.h"

#define ALPHA 0.05

static void is_near(double got, double expected, double off)
{
	if (fabs(got - expected) > off)
		fail_msg("got %.6f, not %.6f", got, expected);
}

static struct lc_diff_estimate shares(const struct lc_diff_run *before, size_t before_len,
                                      const struct lc_diff_run *after, size_t after_len)
{
	const struct lc_diff_runs r = { { before, after }, { before_len, after_len } };

	return lc_diff_shares(&r, 1, ALPHA);
}

/* R. G. Newcombe, Statistics in Medicine 17 (1998) 873-890, table II, method 10. */
static void newcombes_examples_have_the_published_intervals(void **state)
{
	static const struct {
		double a, m, b, n, low, high;
	} examples[] = {
		{ 56, 70, 48, 80, 0.0524, 0.3339 }, { 9, 10, 3, 10, 0.1705, 0.8090 },
		{ 6, 7, 2, 7, 0.0582, 0.8062 },     { 5, 56, 0, 29, -0.0381, 0.1926 },
		{ 0, 10, 0, 20, -0.1611, 0.2775 },  { 0, 10, 0, 10, -0.2775, 0.2775 },
		{ 10, 10, 0, 20, 0.6791, 1.0000 },  { 10, 10, 0, 10, 0.6075, 1.0000 },
	};

	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		const struct lc_diff_run after = { examples[i].a, examples[i].m, 0, 1 };
		const struct lc_diff_run before = { examples[i].b, examples[i].n, 0, 1 };
		const struct lc_diff_estimate e = shares(&before, 1, &after, 1);

		is_near(e.value, examples[i].a / examples[i].m - examples[i].b / examples[i].n,
		        1e-12);
		is_near(e.low, examples[i].low, 0.00006);
		is_near(e.high, examples[i].high, 0.00006);
	}
}

static void quantiles_are_those_of_the_tables(void **state)
{
	static const struct {
		size_t freedom;
		double at_5_percent, at_1_percent;
	} students[] = {
		{ 1, 12.706, 63.657 }, { 2, 4.303, 9.925 },  { 3, 3.182, 5.841 },
		{ 4, 2.776, 4.604 },   { 5, 2.571, 4.032 },  { 10, 2.228, 3.169 },
		{ 29, 2.045, 2.756 },  { 30, 2.042, 2.750 }, { 120, 1.980, 2.617 },
	};

	is_near(lc_diff_normal(0.05), 1.959964, 1e-6);
	is_near(lc_diff_normal(0.01), 2.575829, 1e-6);
	is_near(lc_diff_normal(0.001), 3.290527, 1e-6);
	for (size_t i = 0; i < sizeof(students) / sizeof(*students); i++) {
		is_near(lc_diff_student(0.05, students[i].freedom), students[i].at_5_percent,
		        0.0006);
		is_near(lc_diff_student(0.01, students[i].freedom), students[i].at_1_percent,
		        0.0006);
	}
}

/* 10 and 30 of 100: 0.01 between runs, 0.2 * 0.8 / 200 of sampling. */
static void runs_that_differ_have_a_design_effect(void **state)
{
	const struct lc_diff_run far[] = { { 10, 100, 0, 1 }, { 30, 100, 0, 1 } };
	const struct lc_diff_run near[] = { { 20, 100, 0, 1 }, { 20, 100, 0, 1 } };
	const struct lc_diff_run none[] = { { 0, 100, 0, 1 }, { 0, 100, 0, 1 } };

	is_near(lc_diff_design(far, 2), 12.5, 1e-9);
	is_near(lc_diff_design(near, 2), 1, 0);
	is_near(lc_diff_design(none, 2), 1, 0);
	is_near(lc_diff_design(far, 1), 1, 0);
}

/*
 * Shares of 0.1 and 0.3 before, 0.5 and 0.7 after: s^2 = 0.02, 2 degrees of freedom, so half the
 * interval is 4.3027 * sqrt(0.02 * (1/2 + 1/2)). 12.5 for the design effect gives less.
 */
static void two_runs_a_side_are_as_wide_as_students_interval(void **state)
{
	const struct lc_diff_run before[] = { { 100, 1000, 0, 1 }, { 300, 1000, 0, 1 } };
	const struct lc_diff_run after[] = { { 500, 1000, 0, 1 }, { 700, 1000, 0, 1 } };
	const struct lc_diff_estimate e = shares(before, 2, after, 2);

	is_near(e.value, 0.4, 1e-12);
	is_near(e.low, 0.4 - 4.30265 * sqrt(0.02), 1e-4);
	is_near(e.high, 0.4 + 4.30265 * sqrt(0.02), 1e-4);
}

/* Runs that happen to agree: what is left is the error of sampling, of all runs together. */
static void equal_runs_are_as_wide_as_sampling(void **state)
{
	const struct lc_diff_run before[] = { { 30, 100, 0, 1 }, { 30, 100, 0, 1 } };
	const struct lc_diff_run after[] = { { 50, 100, 0, 1 }, { 50, 100, 0, 1 } };
	const struct lc_diff_run before_sum = { 60, 200, 0, 1 }, after_sum = { 100, 200, 0, 1 };
	const struct lc_diff_estimate e = shares(before, 2, after, 2);
	const struct lc_diff_estimate sum = shares(&before_sum, 1, &after_sum, 1);

	is_near(e.low, sum.low, 1e-12);
	is_near(e.high, sum.high, 1e-12);
}

/* The design effect of the side that has several runs is that of the other too. */
static void one_run_varies_as_the_other_side_does(void **state)
{
	const struct lc_diff_run before[] = { { 10, 100, 0, 1 },
		                              { 30, 100, 0, 1 },
		                              { 20, 100, 0, 1 } };
	const struct lc_diff_run after = { 20, 100, 0, 1 };
	const double design = lc_diff_design(before, 3);
	struct lc_diff_estimate one, e = shares(before, 3, &after, 1);

	one = lc_diff_side_share(&after, 1, design, ALPHA);
	assert_true(design > 5);
	assert_true(e.high >= one.high - one.value);
	assert_true(e.low <= one.low - one.value);
}

static void an_assumed_design_effect_is_for_one_run_a_side(void **state)
{
	const struct lc_diff_run before[] = { { 3000, 10000, 0, 1 }, { 3000, 10000, 0, 1 } };
	const struct lc_diff_run after[] = { { 5000, 10000, 0, 1 }, { 5000, 10000, 0, 1 } };
	struct lc_diff_runs r = { { before, after }, { 1, 1 } };
	const struct lc_diff_estimate plain = lc_diff_shares(&r, 1, ALPHA);
	const struct lc_diff_estimate wide = lc_diff_shares(&r, 3, ALPHA);
	struct lc_diff_estimate same;

	/* About as wide as of a third of the samples. */
	is_near((wide.high - wide.low) / (plain.high - plain.low), sqrt(3), 0.01);
	r.len[0] = r.len[1] = 2;
	same = lc_diff_shares(&r, 3, ALPHA);
	is_near(same.low, lc_diff_shares(&r, 1, ALPHA).low, 0);
}

static void an_estimated_line_widens_the_interval(void **state)
{
	const struct lc_diff_run before = { 30, 100, 0, 1 }, after = { 50, 100, 0, 1 };
	const struct lc_diff_run rough = { 30, 100, 100, 1 };
	const struct lc_diff_estimate sure = shares(&before, 1, &after, 1);
	const struct lc_diff_estimate e = shares(&rough, 1, &after, 1);

	/* 10 samples' deviation: 0.196 of the share, squared and added. */
	is_near(e.value - e.low, hypot(sure.value - sure.low, 0.195996), 1e-5);
}

/* Half the share of half the time. */
static void a_cost_multiplies_the_share_and_its_limits(void **state)
{
	const struct lc_diff_run before = { 40, 100, 0, 4e9 }, after = { 20, 100, 0, 2e9 };
	const struct lc_diff_estimate e = shares(&before, 1, &after, 1);
	const struct lc_diff_estimate b = lc_diff_side_share(&before, 1, 1, ALPHA);
	const struct lc_diff_estimate a = lc_diff_side_share(&after, 1, 1, ALPHA);

	is_near(b.value, 1.6e9, 1);
	is_near(a.value, 0.4e9, 1);
	is_near(e.value, -1.2e9, 1);
	is_near(e.low, -1.2e9 - hypot(a.value - a.low, b.high - b.value), 1);
	is_near(e.high, -1.2e9 + hypot(a.high - a.value, b.value - b.low), 1);
}

static void counts_of_one_run_a_side_have_no_error(void **state)
{
	const struct lc_diff_value before = { 1000, 0 }, after = { 1030, 0 };
	const struct lc_diff_values v = { { &before, &after }, { 1, 1 } };
	const struct lc_diff_estimate e = lc_diff_means(&v, ALPHA);

	is_near(e.value, 30, 0);
	is_near(e.low, 30, 0);
	is_near(e.high, 30, 0);
}

/* Means 10 and 20; squares 2 and 8, so s^2 = 10 / 2; 4.3027 * sqrt(5 * (1/2 + 1/2)). */
static void counts_that_differ_have_students_interval(void **state)
{
	const struct lc_diff_value before[] = { { 9, 0 }, { 11, 0 } };
	const struct lc_diff_value after[] = { { 18, 0 }, { 22, 0 } };
	const struct lc_diff_values v = { { before, after }, { 2, 2 } };
	const struct lc_diff_estimate e = lc_diff_means(&v, ALPHA);

	is_near(e.value, 10, 1e-12);
	is_near(e.low, 10 - 4.30265 * sqrt(5), 1e-3);
	is_near(e.high, 10 + 4.30265 * sqrt(5), 1e-3);
}

/* Variances of 3 and 4, squared: the difference of one run each deviates by 5. */
static void estimates_have_the_error_of_their_samples(void **state)
{
	const struct lc_diff_value before = { 100, 9 }, after = { 120, 16 };
	const struct lc_diff_values v = { { &before, &after }, { 1, 1 } };
	const struct lc_diff_estimate e = lc_diff_means(&v, ALPHA);

	is_near(e.low, 20 - 1.959964 * 5, 1e-4);
	is_near(e.high, 20 + 1.959964 * 5, 1e-4);
	is_near(lc_diff_side_mean(&before, 1, ALPHA).high, 100 + 1.959964 * 3, 1e-4);
}

/* 1, 2, 3: the standard error is sqrt(2 / 2 / 3), and t of 2 degrees of freedom 4.302653. */
static void a_mean_over_runs_has_students_interval(void **state)
{
	const double values[] = { 1, 2, 3 }, equal[] = { 4, 4 };
	struct lc_diff_estimate e = lc_diff_run_mean(values, 3, ALPHA);

	is_near(e.value, 2, 1e-12);
	is_near(e.low, 2 - 2.484138, 1e-5);
	is_near(e.high, 2 + 2.484138, 1e-5);
	e = lc_diff_run_mean(equal, 2, ALPHA);
	assert_true(e.low == 4 && e.high == 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mean_over_runs_has_students_interval),
		cmocka_unit_test(newcombes_examples_have_the_published_intervals),
		cmocka_unit_test(quantiles_are_those_of_the_tables),
		cmocka_unit_test(runs_that_differ_have_a_design_effect),
		cmocka_unit_test(two_runs_a_side_are_as_wide_as_students_interval),
		cmocka_unit_test(equal_runs_are_as_wide_as_sampling),
		cmocka_unit_test(one_run_varies_as_the_other_side_does),
		cmocka_unit_test(an_assumed_design_effect_is_for_one_run_a_side),
		cmocka_unit_test(an_estimated_line_widens_the_interval),
		cmocka_unit_test(a_cost_multiplies_the_share_and_its_limits),
		cmocka_unit_test(counts_of_one_run_a_side_have_no_error),
		cmocka_unit_test(counts_that_differ_have_students_interval),
		cmocka_unit_test(estimates_have_the_error_of_their_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
