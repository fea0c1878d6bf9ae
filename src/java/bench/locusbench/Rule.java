// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.util.Locale;

/** Rules that keep a benchmark true. Each can be left out, so that it can be measured what would be wrong without it. */
enum Rule {
	/** What is computed is consumed; without it the compiler removes the computation. */
	SINKS,
	/** What varies in the program is read from a field; without it the compiler knows its value. */
	FOLDING,
	/** What is a constant in the program is one; without it it is read from a field. */
	CONSTANTS,
	/** State that decides what a later call does is put back; without it that call is another one. */
	RESET;

	static Rule of(String name) throws Refusal {
		for (Rule rule : values()) {
			if (rule.name().toLowerCase(Locale.ROOT).equals(name)) {
				return rule;
			}
		}
		throw new Refusal("there is no rule '" + name + "' to leave out");
	}
}
