// SPDX-License-Identifier: Apache-2.0
package locusbench;

/** Student's distribution: how wide a 95% interval is. */
final class Student {
	private static final double TAIL = 0.025;
	private static final int STEPS = 200;

	private Student() {
	}

	/** The value that is exceeded with a chance of 2.5%, for `freedom` degrees of freedom. */
	static double t95(double freedom) {
		double low = 0;
		double high = 1000;
		for (int i = 0; i < STEPS; i++) {
			double middle = (low + high) / 2;
			if (beyond(middle, freedom) > TAIL) {
				low = middle;
			} else {
				high = middle;
			}
		}
		return high;
	}

	private static double beyond(double t, double freedom) {
		return beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2;
	}

	/** The regularized incomplete beta function, by its continued fraction. */
	private static double beta(double x, double a, double b) {
		if (x <= 0 || x >= 1) {
			return x <= 0 ? 0 : 1;
		}
		if (x > (a + 1) / (a + b + 2)) {
			return 1 - beta(1 - x, b, a);
		}
		double front = Math.exp(a * Math.log(x) + b * Math.log(1 - x) + logGamma(a + b) - logGamma(a) - logGamma(b)) / a;
		double tiny = 1e-300;
		double f = 1;
		double c = 1;
		double d = 0;
		for (int i = 0; i <= STEPS; i++) {
			int m = i / 2;
			double numerator = i == 0 ? 1
					: i % 2 == 0 ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
							: -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
			d = 1 + numerator * d;
			d = 1 / (Math.abs(d) < tiny ? tiny : d);
			c = 1 + numerator / c;
			c = Math.abs(c) < tiny ? tiny : c;
			f *= c * d;
		}
		return front * (f - 1);
	}

	/** Stirling's series, beyond 7. */
	private static double logGamma(double x) {
		double shift = 0;
		double at = x;
		while (at < 7) {
			shift -= Math.log(at);
			at++;
		}
		double square = at * at;
		double series = (1 / 12.0 - (1 / 360.0 - (1 / 1260.0 - 1 / 1680.0 / square) / square) / square) / at;
		return shift + (at - 0.5) * Math.log(at) - at + Math.log(2 * Math.PI) / 2 + series;
	}
}
