/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/wilson.h - computes the interval of a share (E. B. Wilson, Probable inference, 1927), also
 * of samples that came several at a time.
 */
#ifndef LC_BASE_WILSON_H
#define LC_BASE_WILSON_H

#include <math.h>
#include <stdint.h>

/*
 * The interval, right at 0 and at 1, of a share `p` of `n` independent observations, for a normal
 * deviate `z`: 1.96 for 95%. 0 to 1 without observations. Context: any.
 */
static inline void lc_wilson(double p, double n, double z, double *low, double *high)
{
	const double z2 = z * z;
	double centre, half;

	*low = 0;
	*high = 1;
	if (n <= 0)
		return;
	centre = (p + z2 / (2 * n)) / (1 + z2 / n);
	half = z / (1 + z2 / n) * sqrt(p * (1 - p) / n + z2 / (4 * n * n));
	*low = fmax(0, fmin(p, centre - half));
	*high = fmin(1, fmax(p, centre + half));
}

/*
 * Samples, and how many pairs of them came with one interrupt. An interrupt is one observation,
 * however many samples it counts as. The sum of w^2 over interrupts of w samples is samples + 2 *
 * pairs.
 */
struct lc_weighted {
	uint64_t samples, pairs;
};

static inline struct lc_weighted lc_wilson_sum(struct lc_weighted a, struct lc_weighted b)
{
	return (struct lc_weighted){ a.samples + b.samples, a.pairs + b.pairs };
}

static inline double lc_wilson_squares(struct lc_weighted w)
{
	return (double)w.samples + 2 * (double)w.pairs;
}

/*
 * How many interrupts of one weight tell as much as these do (L. Kish, Survey sampling, 1965): the
 * sum of w, squared, / the sum of w^2. Context: any.
 */
static inline double lc_wilson_effective(struct lc_weighted w)
{
	return w.samples ? (double)w.samples * (double)w.samples / lc_wilson_squares(w) : 0;
}

/*
 * The number of independent observations behind the share of `part` in `whole`. It is the whole's
 * number. If interrupts of the part weigh more than others, it is the lower number that gives a
 * proportion the variance of the share (delta method). Context: any.
 */
static inline double lc_wilson_independent(struct lc_weighted part, struct lc_weighted whole)
{
	const double sum = (double)whole.samples, all = lc_wilson_squares(whole);
	const double squares = fmin(lc_wilson_squares(part), all);
	const double p = whole.samples ? (double)part.samples / sum : 0;
	const double n = lc_wilson_effective(whole);

	if (!whole.pairs || p <= 0 || p >= 1)
		return n;
	return fmin(n, p * (1 - p) * sum * sum /
	                   ((1 - p) * (1 - p) * squares + p * p * (all - squares)));
}

/* The interval of that share, as lc_wilson() has it. Context: any. */
static inline void lc_wilson_weighted(struct lc_weighted part, struct lc_weighted whole, double z,
                                      double *low, double *high)
{
	lc_wilson(whole.samples ? (double)part.samples / (double)whole.samples : 0,
	          lc_wilson_independent(part, whole), z, low, high);
}

#endif
