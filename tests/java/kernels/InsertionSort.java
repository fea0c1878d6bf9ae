// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.Random;

/** A sort in place: what is sorted has to be unsorted again before the next one. */
public final class InsertionSort {
	private static final int SIZE = 300;

	private InsertionSort() {
	}

	static int[] unsorted() {
		return new Random(4).ints(SIZE).toArray();
	}

	/** @bench-this */
	static void sort(int[] a) {
		for (int i = 1; i < a.length; i++) {
			int value = a[i];
			int at = i;
			while (at > 0 && a[at - 1] > value) {
				a[at] = a[at - 1];
				at--;
			}
			a[at] = value;
		}
	}

	public static void main(String[] words) {
		int[] unsorted = unsorted();
		int all = 0;
		for (int turn = 0; turn < 5_000; turn++) {
			int[] a = unsorted.clone();
			sort(a);
			all += a[0];
		}
		System.out.println(all);
	}
}
