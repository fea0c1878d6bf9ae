/* base/wilson.h - computes the interval of a share (E. B. Wilson, Probable inference, 1927). */
#ifndef LC_BASE_WILSON_H
#define LC_BASE_WILSON_H

#include <math.h>

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

#endif
