// SPDX-License-Identifier: Apache-2.0
package locusbench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import spoon.reflect.code.CtLoop;
import spoon.reflect.code.CtReturn;
import spoon.reflect.code.CtStatement;
import spoon.reflect.declaration.CtType;

final class InstrumentationTest {
	/** The text of `m` in a class C, with all statements of a kind recorded; calls of the recorder are short. */
	private static String recorded(Predicate<CtStatement> which, String... method) throws Refusal {
		String text = "class C {\n" + String.join("\n", method) + "\n}\n";
		CtType<?> type = Texts.type(text);
		Instrumentation instrumentation = new Instrumentation(text);
		for (CtStatement statement : type.getElements((CtStatement s) -> which.test(s))) {
			Segment segment = Segment.of(statement);
			instrumentation.with(segment, new Variables(segment, new Uses(segment, false)));
		}
		List<String> lines = List.of(instrumentation.text().split("\n"));
		return String.join("\n", lines.subList(1, lines.size() - 1))
				.replaceAll("final int locusTicket(\\d) = locusbench.record.Recorder.enter\\(\\); if \\(locusTicket\\d >= 0\\) "
						+ "\\{ locusbench.record.Recorder.inputs\\(locusTicket\\d, new Object\\[\\] \\{([^}]*)\\}\\); \\}", "IN$1($2);")
				.replaceAll("if \\(locusTicket(\\d) >= 0\\) \\{ locusbench.record.Recorder.outputs\\(locusTicket\\d, "
						+ "new Object\\[\\] \\{([^}]*)\\}\\); \\}", "OUT$1($2);")
				.replaceAll("catch \\(Throwable locusThrown\\) \\{ locusbench.record.Recorder.failed\\(locusTicket(\\d)\\); throw "
						+ "locusThrown; \\}", "FAILED$1");
	}

	@Test
	void nestedLoopsWithoutBracesAreRecordedOneInsideTheOther() throws Refusal {
		assertEquals(String.join("\n",
				"static int m(int n) {",
				"int s = 0;",
				"{ IN0(n); try { for (int i = 0; i < n; i++)",
				"	{ IN1(s, i, n); try { while (s < i * n) s++; OUT1(null, s); } FAILED1 } OUT0(null, s); } FAILED0 }"
						+ "{ IN2(s); try { while (s > 9) s--; OUT2(null, s); } FAILED2 }",
				"return s;",
				"}"),
				recorded(CtLoop.class::isInstance,
				"static int m(int n) {",
				"int s = 0;",
				"for (int i = 0; i < n; i++)",
				"	while (s < i * n) s++;while (s > 9) s--;",
				"return s;",
				"}"));
	}

	@Test
	void aReturnEndsAllLoopsThatItIsIn() throws Refusal {
		assertEquals(String.join("\n",
				"static long m(int n) {",
				"{ IN0(n); try { for (int i = 0; i < n; i++)",
				"	{ IN1(i); try { for (;;) { final long locusResult = i * 2; OUT1(locusResult); OUT0(locusResult); return locusResult; } }"
						+ " FAILED1 } OUT0(null); } FAILED0 }",
				"return 0;",
				"}"),
				recorded(CtLoop.class::isInstance,
				"static long m(int n) {",
				"for (int i = 0; i < n; i++)",
				"	for (;;) return i * 2;",
				"return 0;",
				"}"));
	}

	@Test
	void aVariableThatMayHaveNoValueBehindTheLoopIsNotRecorded() throws Refusal {
		assertEquals("static void m(int n) { int t; { IN0(n); try { while (n > 0) { t = n; n = t / 2; } OUT0(null, n); } FAILED0 } }",
				recorded(CtLoop.class::isInstance, "static void m(int n) { int t; while (n > 0) { t = n; n = t / 2; } }"));
	}

	@Test
	void aFieldOfASuperclassAroundTheClassIsInherited() throws Refusal {
		assertEquals("int n; int n() { return n; } static class D extends C { int m() { int s = 0; { IN0(((C) this).n); try { while (s < n()) s++;"
				+ " OUT0(null, s); } FAILED0 } return s; } }",
				recorded(CtLoop.class::isInstance, "int n; int n() { return n; } static class D extends C { int m() { int s = 0; while (s < n()) s++; return s; } }"));
	}

	@Test
	void aReturnItselfIsRecorded() throws Refusal {
		assertEquals("static int m(int n) { { IN0(n); try { { final int locusResult = n * n; OUT0(locusResult); return locusResult; } } FAILED0 } }",
				recorded(CtReturn.class::isInstance, "static int m(int n) { return n * n; }"));
	}
}
