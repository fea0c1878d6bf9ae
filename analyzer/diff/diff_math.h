/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff/diff_math.h - compares proportions and means of two groups of runs: differences with
 * intervals.
 *
 * Shares. One run a side: the difference has Newcombe's hybrid score interval, made of the Wilson
 * intervals of both shares by squaring and adding (R. G. Newcombe, Interval estimation for the
 * difference between independent proportions: comparison of eleven methods, Statistics in Medicine
 * 17 (1998) 873-890, method 10). It holds for small numbers and near 0 and 1, and knows the
 * error of sampling alone.
 *
 * Several runs per side differ by more than sampling. The design effect is the variance of the
 * share, as the ratio estimator estimates it from the runs, divided by the binomial variance. If it
 * is above 1, the number of samples is divided by it (J. N. K. Rao and A. J. Scott, A simple method
 * for the analysis of clustered binary data, Biometrics 48 (1992) 577-585). Student's t interval
 * over the runs, with the variance pooled over both sides, is the other measure of the same noise.
 * The wider of both is taken: few runs estimate a design effect badly, and a t interval of runs
 * that happen to agree knows nothing of sampling.
 *
 * A share times a cost per run (CPU time of the run) has the same intervals, with each share's
 * limits multiplied (G. Y. Zou and A. Donner, Construction of confidence limits about effect
 * measures, Statistics in Medicine 27 (2008) 1693-1702, who square and add limits in general).
 */
#ifndef LC_DIFF_DIFF_MATH_H
#define LC_DIFF_DIFF_MATH_H

#include <stdbool.h>
#include <stddef.h>

/* One run's data for a share. */
struct lc_diff_run {
	double hits, total; /* independent observations; not 0 of them */
	double variance;    /* of `hits`: what their being an estimate adds */
	double cost;        /* that `total` stand for; 1 for the share itself */
};

/* A value of one run, with the variance of its being an estimate; 0: it is exact. */
struct lc_diff_value {
	double value, variance;
};

/* Runs of both sides, those before and those after. */
struct lc_diff_runs {
	const struct lc_diff_run *runs[2];
	size_t len[2];
};
struct lc_diff_values {
	const struct lc_diff_value *values[2];
	size_t len[2];
};

struct lc_diff_estimate {
	double value, low, high;
};

/* The normal deviate that is exceeded, in either direction, with probability `alpha`. */
double lc_diff_normal(double alpha);

/* Student's likewise, of so many degrees of freedom, 1 or more. */
double lc_diff_student(double alpha, size_t freedom);

/*
 * By how much the variance between runs exceeds that of sampling; 1 or more. 1 of one run, and of
 * shares of 0 and 1.
 */
double lc_diff_design(const struct lc_diff_run *runs, size_t len);

/*
 * The share of one side times its mean cost, with an interval that misses it with probability
 * `alpha`. `design`: of lc_diff_design().
 */
struct lc_diff_estimate lc_diff_side_share(const struct lc_diff_run *runs, size_t len,
                                           double design, double alpha);

/*
 * The difference, after less before, of two such sides. Each side has a run. A side of one run is
 * thought to vary as the other does; where both are of one run, `lone` is the design effect.
 */
struct lc_diff_estimate lc_diff_shares(const struct lc_diff_runs *r, double lone, double alpha);

/* The mean over one side's runs, with the interval of its estimates' errors. */
struct lc_diff_estimate lc_diff_side_mean(const struct lc_diff_value *values, size_t len,
                                          double alpha);

/*
 * The mean of exact values of 2 runs or more, with Student's interval over the runs: how far the
 * mean of as many other runs may be, whatever they differ by.
 */
struct lc_diff_estimate lc_diff_run_mean(const double *values, size_t len, double alpha);

/* The difference of two means, as lc_diff_side_mean() has one: of exact values of one run a side it
 * has no width. */
struct lc_diff_estimate lc_diff_means(const struct lc_diff_values *v, double alpha);

#endif
