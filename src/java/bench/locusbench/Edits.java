package locusbench;

import java.util.ArrayDeque;
import java.util.Deque;
import spoon.reflect.declaration.CtElement;

/** Replaces elements of a model, and puts all back. */
final class Edits {
	private final Deque<CtElement[]> made = new ArrayDeque<>(); // what stood there, and what stands there now

	void replace(CtElement old, CtElement with) {
		old.replace(with);
		made.push(new CtElement[] {old, with});
	}

	void undo() {
		while (!made.isEmpty()) {
			CtElement[] edit = made.pop();
			edit[1].replace(edit[0]);
		}
	}
}
