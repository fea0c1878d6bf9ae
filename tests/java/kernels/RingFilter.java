// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.Random;

/** A filter over a ring whose size is a constant: the compiler masks where it would have to divide. */
public final class RingFilter {
	private static final int CAPACITY = 1 << 10;
	private static final int TAPS = 500;

	private final int[] ring = new Random(11).ints(CAPACITY, 0, 1000).toArray();
	private int head = 700;

	static int[] taps() {
		return new Random(12).ints(TAPS, -8, 8).toArray();
	}

	int filter(int[] taps) {
		int sum = 0;
		/** @bench-this */
		for (int i = 0; i < taps.length; i++) {
			sum += ring[(head + i) % CAPACITY] * taps[i];
		}
		return sum;
	}

	public static void main(String[] words) {
		RingFilter filter = new RingFilter();
		int[] taps = taps();
		int all = 0;
		for (int turn = 0; turn < 20_000; turn++) {
			all += filter.filter(taps);
		}
		System.out.println(all);
	}
}
