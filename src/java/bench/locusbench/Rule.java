// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.util.Locale;

/** Rules that keep a benchmark true. Each can be left out to measure the error without it. */
enum Rule {
	/** Results are consumed; otherwise the compiler removes the computation. */
	SINKS,
	/** Values that vary in the program are read from fields; otherwise the compiler knows them. */
	FOLDING,
	/** Constants of the program stay constants; otherwise they are read from fields. */
	CONSTANTS,
	/** State that decides what a later call does is put back; otherwise that call does something else. */
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
