// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.ArrayList;
import java.util.List;

/** Words of a text, in a list that is made before the loop that fills it. */
public final class Tokens {
	private Tokens() {
	}

	static List<String> split(String text) {
		List<String> words = new ArrayList<>();
		int from = 0;
		/** @bench-this */
		for (int to = text.indexOf(' '); to >= 0; to = text.indexOf(' ', from)) {
			words.add(text.substring(from, to));
			from = to + 1;
		}
		return words;
	}

	public static void main(String[] args) {
		String text = WordCount.text();
		int all = 0;
		for (int turn = 0; turn < 20_000; turn++) {
			all += split(text).size();
		}
		System.out.println(all);
	}
}
