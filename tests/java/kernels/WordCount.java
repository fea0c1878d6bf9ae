// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;

/** Words of a text, counted in a map that is made there. */
public final class WordCount {
	private static final int SIZE = 200;

	private WordCount() {
	}

	static String text() {
		Random random = new Random(8);
		StringBuilder text = new StringBuilder();
		for (int i = 0; i < SIZE; i++) {
			text.append(Integer.toString(1000 + random.nextInt(50), 36)).append(' ');
		}
		return text.toString();
	}

	/** @bench-this */
	static Map<String, Integer> count(String text) {
		Map<String, Integer> counts = new HashMap<>();
		int from = 0;
		for (int to = text.indexOf(' '); to >= 0; to = text.indexOf(' ', from)) {
			counts.merge(text.substring(from, to), 1, Integer::sum);
			from = to + 1;
		}
		return counts;
	}

	public static void main(String[] words) {
		String text = text();
		int all = 0;
		for (int turn = 0; turn < 20_000; turn++) {
			all += count(text).size();
		}
		System.out.println(all);
	}
}
