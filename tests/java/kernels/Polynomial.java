// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.Random;

/** A polynomial with a table of coefficients and a scale that are constants, at many places. */
public final class Polynomial {
	private static final double[] COEFFICIENTS = {1.0 / 5040, -1.0 / 120, 1.0 / 6, -1, 1};
	private static final double SCALE = 0.125;
	private static final int SIZE = 500;

	private Polynomial() {
	}

	static double[] places() {
		return new Random(10).doubles(SIZE).toArray();
	}

	static void evaluate(double[] at, double[] results) {
		/** @bench-this */
		for (int i = 0; i < at.length; i++) {
			double x = at[i] * SCALE;
			double value = 0;
			for (double coefficient : COEFFICIENTS) {
				value = value * x + coefficient;
			}
			results[i] = value;
		}
	}

	public static void main(String[] words) {
		double[] places = places();
		double all = 0;
		for (int turn = 0; turn < 20_000; turn++) {
			double[] results = new double[places.length];
			evaluate(places, results);
			all += results[0];
		}
		System.out.println(all);
	}
}
