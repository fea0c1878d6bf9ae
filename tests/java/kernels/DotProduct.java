// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.Random;

/** A loop of which nothing is left but a local variable. */
public final class DotProduct {
	private static final int SIZE = 1000;

	private DotProduct() {
	}

	static double[] vector(long seed) {
		return new Random(seed).doubles(SIZE).toArray();
	}

	static double dot(double[] a, double[] b) {
		double sum = 0;
		/** @bench-this */
		for (int i = 0; i < a.length; i++) {
			sum += a[i] * b[i];
		}
		return sum;
	}

	public static void main(String[] words) {
		double[] a = vector(1);
		double[] b = vector(2);
		double all = 0;
		for (int turn = 0; turn < 20_000; turn++) {
			all += dot(a, b);
		}
		System.out.println(all);
	}
}
