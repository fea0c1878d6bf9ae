// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import spoon.reflect.declaration.CtType;

/** Java texts of tests, and the segments in them. */
final class Texts {
	private Texts() {
	}

	/** The first class of the text. */
	static CtType<?> type(String... lines) throws Refusal {
		return Sources.model(String.join("\n", lines), "C.java", List.of()).getAllTypes().iterator().next();
	}

	/** The body of the method `m`. */
	static Segment method(String... lines) throws Refusal {
		return Segment.ofMethod(type(lines), "m", null, Map.of());
	}

	/** The loop or statement at a line, counted from 1. */
	static Segment at(int line, String... lines) throws Refusal {
		return Segment.atLine(type(lines), line, Map.of(), 0);
	}

	static Payload payload(Segment segment, Rule... without) throws Refusal, IOException {
		return payload(segment, "", without);
	}

	/** `text`: of the source file, for a segment that names what is private. */
	static Payload payload(Segment segment, String text, Rule... without) throws Refusal, IOException {
		Uses uses = new Uses(segment, false);
		return new Extraction(segment, uses, new Variables(segment, uses, Set.of(without))).payload(segment.firstLine(), text);
	}
}
