// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.Random;

/** Searches by a method of the class, which returns from within its loop. */
public final class BinarySearch {
	private static final int SIZE = 1000;
	private static final int KEYS = 30_000; // no branch predictor learns what becomes of so many

	private final int[] sorted = new Random(6).ints(SIZE).sorted().toArray();

	static int[] keys() {
		return new Random(13).ints(KEYS).toArray();
	}

	int findAll(int[] keys) {
		int sum = 0;
		/** @bench-this */
		for (int key : keys) {
			sum += find(key);
		}
		return sum;
	}

	private int find(int key) {
		int low = 0;
		int high = sorted.length - 1;
		while (low <= high) {
			int middle = low + high >>> 1;
			if (sorted[middle] < key) {
				low = middle + 1;
			} else if (sorted[middle] > key) {
				high = middle - 1;
			} else {
				return middle;
			}
		}
		return -low - 1;
	}

	public static void main(String[] words) {
		BinarySearch search = new BinarySearch();
		int[] keys = keys();
		int all = 0;
		for (int turn = 0; turn < 300; turn++) {
			all += search.findAll(keys);
		}
		System.out.println(all);
	}
}
