// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import spoon.reflect.code.CtExpression;
import spoon.reflect.declaration.CtElement;
import spoon.reflect.reference.CtTypeReference;

/** Changes elements of a model, and puts all back. */
final class Edits {
	private final Deque<Runnable> undo = new ArrayDeque<>(); // the last one first

	void replace(CtElement old, CtElement with) {
		old.replace(with);
		undo.push(() -> with.replace(old));
	}

	/** Cast a value, before the casts that it has. */
	void cast(CtExpression<?> value, CtTypeReference<?> to) {
		List<CtTypeReference<?>> before = new ArrayList<>(value.getTypeCasts());
		value.addTypeCast(to); // the last one is the innermost
		undo.push(() -> value.setTypeCasts(before));
	}

	void undo() {
		while (!undo.isEmpty()) {
			undo.pop().run();
		}
	}
}
