// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.Arrays;
import java.util.Random;

/** Insertions into a hash table: private methods, and fields that the next insertion depends on. */
public final class OpenTable {
	private static final int BITS = 14;
	private static final int SIZE = 8000;

	private final int[] keys = new int[1 << BITS];
	private int count;

	static int[] some() {
		return new Random(5).ints(SIZE, 1, Integer.MAX_VALUE).toArray();
	}

	void addAll(int[] all) {
		/** @bench-this */
		for (int key : all) {
			add(key);
		}
	}

	private void add(int key) {
		int at = slot(key);
		while (keys[at] != 0) {
			if (keys[at] == key) {
				return;
			}
			at = at + 1 & keys.length - 1;
		}
		keys[at] = key;
		count++;
	}

	private static int slot(int key) {
		return key * 0x9E3779B9 >>> 32 - BITS;
	}

	void clear() {
		Arrays.fill(keys, 0);
		count = 0;
	}

	int size() {
		return count;
	}

	public static void main(String[] words) {
		OpenTable table = new OpenTable();
		int[] some = some();
		int all = 0;
		for (int turn = 0; turn < 2_000; turn++) {
			table.clear();
			table.addAll(some);
			all += table.size();
		}
		System.out.println(all);
	}
}
