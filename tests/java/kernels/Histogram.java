// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.Random;

/** Counters in a field, which grow with each call; nothing depends on how large they are. */
public final class Histogram {
	private static final int SIZE = 1000;

	private final int[] counts = new int[256];

	static byte[] data() {
		byte[] data = new byte[SIZE];
		new Random(7).nextBytes(data);
		return data;
	}

	void add(byte[] data) {
		/** @bench-this */
		for (int i = 0; i < data.length; i++) {
			counts[data[i] & 0xff]++;
		}
	}

	int count(int value) {
		return counts[value];
	}

	public static void main(String[] words) {
		byte[] data = data();
		int all = 0;
		for (int turn = 0; turn < 20_000; turn++) {
			Histogram histogram = new Histogram();
			histogram.add(data);
			all += histogram.count(0);
		}
		System.out.println(all);
	}
}
