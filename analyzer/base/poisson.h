/* SPDX-License-Identifier: Apache-2.0 */
/* base/poisson.h - computes 95% intervals of counts, and of sums of weighted observations. */
#ifndef LC_BASE_POISSON_H
#define LC_BASE_POISSON_H

#include <math.h>

/*
 * The ends of the interval of a Poisson count's mean: Byar's approximation (N. E. Breslow,
 * N. E. Day, Statistical methods in cancer research II, 1987). `n` need not be a whole number.
 * Context: any.
 */
static inline double lc_poisson_low(double n)
{
	return n > 0 ? n * pow(fmax(0, 1 - 1 / (9 * n) - 1.96 / (3 * sqrt(n))), 3) : 0;
}

static inline double lc_poisson_high(double n)
{
	return (n + 1) * pow(1 - 1 / (9 * (n + 1)) + 1.96 / (3 * sqrt(n + 1)), 3);
}

/*
 * The interval of what a sum of weights estimates, given the estimate of its variance: the sum is
 * taken for a count of sum^2 / variance observations of equal weight (A. J. Dobson, K. Kuulasmaa,
 * E. Eberle, J. Scherer, Statistics in Medicine 10, 1991; M. P. Fay, E. J. Feuer, ibid. 16, 1997).
 * So the interval reaches further up than down: few observations of large weight are mostly missed,
 * and then the variance looks small. Context: any.
 */
static inline void lc_poisson_sum(double sum, double variance, double *low, double *high)
{
	double n, each;

	*low = *high = sum;
	if (sum <= 0 || variance <= 0)
		return;
	n = sum * sum / variance;
	each = variance / sum;
	*low = each * lc_poisson_low(n);
	*high = each * lc_poisson_high(n);
}

#endif
