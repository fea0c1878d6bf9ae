// SPDX-License-Identifier: Apache-2.0
package locusbench;

import spoon.reflect.cu.SourcePosition;
import spoon.reflect.declaration.CtElement;

/** Says why no benchmark can be made of a segment: one line, with the place in the source. */
final class Refusal extends Exception {
	private static final long serialVersionUID = 1;

	Refusal(String reason) {
		super(reason);
	}

	Refusal(CtElement where, String reason) {
		super(place(where) + reason);
	}

	private static String place(CtElement where) {
		SourcePosition at = where.getPosition();
		return at.isValidPosition() ? at.getFile().getName() + ":" + at.getLine() + ": " : "";
	}
}
