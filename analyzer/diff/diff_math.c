/* SPDX-License-Identifier: Apache-2.0 */
/* diff/diff_math.c - computes the intervals by which two groups of runs are compared. */
#include "analyzer/diff/diff_math.h"

#include <math.h>

#include "analyzer/base/wilson.h"

enum { HALVINGS = 200, KNOWN = 8, BEFORE = 0, AFTER = 1 };

static const double deviate_most = 1e12;

/* ---- distributions ---- */

/* The probability of a deviate beyond -t and t; of the normal distribution for freedom 0. */
static double beyond(double t, size_t freedom)
{
	/* Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4. */
	const double angle = atan2(t, sqrt((double)freedom)), cos2 = cos(angle) * cos(angle);
	double sum, term;

	if (!freedom)
		return erfc(t / M_SQRT2);
	if (freedom == 1)
		return 1 - 2 * angle / M_PI;
	term = sum = freedom % 2 ? cos(angle) : 1;
	for (size_t i = freedom % 2 ? 3 : 2; i < freedom; i += 2) {
		term *= cos2 * (double)(i - 1) / (double)i;
		sum += term;
	}
	sum *= sin(angle);
	return freedom % 2 ? 1 - 2 / M_PI * (angle + sum) : 1 - sum;
}

static double find_deviate(double alpha, size_t freedom)
{
	double low = 0, high = 1;

	while (beyond(high, freedom) > alpha && high < deviate_most)
		high *= 2;
	for (unsigned i = 0; i < HALVINGS; i++) {
		const double middle = (low + high) / 2;

		if (beyond(middle, freedom) > alpha)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* The rows of a diff ask for the same few, thousands of times. */
static double deviate(double alpha, size_t freedom)
{
	static struct {
		double alpha, found;
		size_t freedom;
	} known[KNOWN];
	static unsigned next;

	for (unsigned i = 0; i < KNOWN; i++)
		if (known[i].found > 0 && known[i].alpha == alpha && known[i].freedom == freedom)
			return known[i].found;
	next = (next + 1) % KNOWN;
	known[next].alpha = alpha;
	known[next].freedom = freedom;
	known[next].found = find_deviate(alpha, freedom);
	return known[next].found;
}

double lc_diff_normal(double alpha)
{
	return deviate(alpha, 0);
}

double lc_diff_student(double alpha, size_t freedom)
{
	return deviate(alpha, freedom);
}

/* ---- shares ---- */

struct sums {
	double hits, total, variance, cost, share;
};

static struct sums sums_of(const struct lc_diff_run *runs, size_t len)
{
	struct sums s = { 0 };

	for (size_t i = 0; i < len; i++) {
		s.hits += runs[i].hits;
		s.total += runs[i].total;
		s.variance += runs[i].variance;
		s.cost += runs[i].cost / (double)len;
	}
	s.share = s.total > 0 ? s.hits / s.total : 0;
	return s;
}

double lc_diff_design(const struct lc_diff_run *runs, size_t len)
{
	const struct sums s = sums_of(runs, len);
	double squares = 0, between;

	if (len < 2 || s.share <= 0 || s.share >= 1)
		return 1;
	for (size_t i = 0; i < len; i++) {
		const double off = runs[i].hits - s.share * runs[i].total;

		squares += off * off;
	}
	between = squares * (double)len / (double)(len - 1) / s.total / s.total;
	return fmax(1, between * s.total / (s.share * (1 - s.share)));
}

struct lc_diff_estimate lc_diff_side_share(const struct lc_diff_run *runs, size_t len,
                                           double design, double alpha)
{
	const struct sums s = sums_of(runs, len);
	const double z = lc_diff_normal(alpha);
	const double more = s.total > 0 ? z * sqrt(s.variance) / s.total : 0;
	struct lc_diff_estimate e = { .value = s.cost * s.share };
	double low, high;

	lc_wilson(s.share, s.total / design, z, &low, &high);
	e.low = s.cost * fmax(0, s.share - hypot(s.share - low, more));
	e.high = s.cost * fmin(1, s.share + hypot(high - s.share, more));
	return e;
}

/*
 * Half of Student's interval of the difference of two means, from the sum of the squares of what
 * values differ from their side's mean by; 0 of one run a side.
 */
static double half_width(double squares, const size_t *len, double alpha)
{
	const size_t freedom = len[BEFORE] + len[AFTER] - 2;

	if (!freedom)
		return 0;
	return lc_diff_student(alpha, freedom) *
	       sqrt(squares / (double)freedom * (1 / (double)len[BEFORE] + 1 / (double)len[AFTER]));
}

/* Sum of squared deviations of each run's share times its cost. */
static double share_squares(const struct lc_diff_run *runs, size_t len)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < len; i++)
		mean += runs[i].cost * runs[i].hits / runs[i].total / (double)len;
	for (size_t i = 0; i < len; i++) {
		const double off = runs[i].cost * runs[i].hits / runs[i].total - mean;

		squares += off * off;
	}
	return squares;
}

struct lc_diff_estimate lc_diff_shares(const struct lc_diff_runs *r, double lone, double alpha)
{
	const bool none = r->len[BEFORE] == 1 && r->len[AFTER] == 1;
	double design[2], half, squares = 0;
	struct lc_diff_estimate side[2], e;

	for (unsigned i = 0; i < 2; i++) {
		design[i] = lc_diff_design(r->runs[i], r->len[i]);
		squares += share_squares(r->runs[i], r->len[i]);
	}
	for (unsigned i = 0; i < 2; i++)
		side[i] = lc_diff_side_share(r->runs[i], r->len[i],
		                             none ? lone : design[r->len[i] > 1 ? i : !i], alpha);
	e.value = side[AFTER].value - side[BEFORE].value;
	e.low = e.value -
	        hypot(side[AFTER].value - side[AFTER].low, side[BEFORE].high - side[BEFORE].value);
	e.high = e.value +
	         hypot(side[AFTER].high - side[AFTER].value, side[BEFORE].value - side[BEFORE].low);
	half = half_width(squares, r->len, alpha);
	e.low = fmin(e.low, e.value - half);
	e.high = fmax(e.high, e.value + half);
	return e;
}

/* ---- means ---- */

static double mean_of(const struct lc_diff_value *values, size_t len, double *variance,
                      double *squares)
{
	double mean = 0;

	for (size_t i = 0; i < len; i++) {
		mean += values[i].value / (double)len;
		*variance += values[i].variance / (double)len / (double)len;
	}
	for (size_t i = 0; i < len; i++)
		*squares += (values[i].value - mean) * (values[i].value - mean);
	return mean;
}

struct lc_diff_estimate lc_diff_side_mean(const struct lc_diff_value *values, size_t len,
                                          double alpha)
{
	double variance = 0, squares = 0, half;
	struct lc_diff_estimate e = { .value = mean_of(values, len, &variance, &squares) };

	half = variance > 0 ? lc_diff_normal(alpha) * sqrt(variance) : 0;
	e.low = fmax(0, e.value - half);
	e.high = e.value + half;
	return e;
}

struct lc_diff_estimate lc_diff_run_mean(const double *values, size_t len, double alpha)
{
	struct lc_diff_estimate e = { .value = 0 };
	double squares = 0, half;

	for (size_t i = 0; i < len; i++)
		e.value += values[i] / (double)len;
	for (size_t i = 0; i < len; i++)
		squares += (values[i] - e.value) * (values[i] - e.value);
	half = lc_diff_student(alpha, len - 1) * sqrt(squares / (double)(len - 1) / (double)len);
	e.low = e.value - half;
	e.high = e.value + half;
	return e;
}

struct lc_diff_estimate lc_diff_means(const struct lc_diff_values *v, double alpha)
{
	double variance = 0, squares = 0, half;
	const double before = mean_of(v->values[BEFORE], v->len[BEFORE], &variance, &squares);
	const double after = mean_of(v->values[AFTER], v->len[AFTER], &variance, &squares);
	struct lc_diff_estimate e = { .value = after - before };

	half = fmax(variance > 0 ? lc_diff_normal(alpha) * sqrt(variance) : 0,
	            half_width(squares, v->len, alpha));
	e.low = e.value - half;
	e.high = e.value + half;
	return e;
}
