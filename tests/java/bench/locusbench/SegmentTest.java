// SPDX-License-Identifier: Apache-2.0
package locusbench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;
import spoon.reflect.declaration.CtType;

/** Which statements a line of the profile leads to. */
class SegmentTest {
	private static final String[] TEXT = {
		"class C {", // 1
		"	int m(int[] in) {", // 2
		"		int sum = 0;", // 3
		"		for (int i : in) {", // 4
		"			int t = i;", // 5
		"			for (int j : in) {", // 6
		"				t += j;", // 7
		"			}", // 8
		"			sum += t;", // 9
		"		}", // 10
		"		/** @bench-this */", // 11
		"		sum = sum * 3;", // 12
		"		return sum;", // 13
		"	}", // 14
		"	int n() { return 1; }", // 15
		"}"};

	private static int[] lines(Map<Integer, Long> samples, int line) throws Refusal {
		CtType<?> type = Texts.type(TEXT);
		Segment segment = Segment.atLine(type, line, samples, samples.values().stream().mapToLong(Long::longValue).sum());
		return new int[] {segment.firstLine(), segment.lastLine()};
	}

	private static void is(int first, int last, int[] lines) {
		assertEquals(first + "-" + last, lines[0] + "-" + lines[1]);
	}

	@Test
	void innermostLoopThatHoldsMost() throws Refusal {
		is(6, 8, lines(Map.of(7, 80L, 9, 20L), 7));
	}

	@Test
	void grownWhileItHoldsLess() throws Refusal {
		is(4, 10, lines(Map.of(7, 79L, 9, 21L), 7));
		is(4, 10, lines(Map.of(7, 10L, 9, 10L, 12, 80L), 7)); // there is no loop around
	}

	@Test
	void statementWhereThereIsNoLoop() throws Refusal {
		is(12, 12, lines(Map.of(), 12));
		is(3, 3, lines(Map.of(), 3));
	}

	@Test
	void markedStatement() throws Refusal {
		assertEquals(12, Segment.ofMark(Texts.type(TEXT)).firstLine());
	}

	@Test
	void wholeMethod() throws Refusal {
		Segment segment = Segment.ofMethod(Texts.type(TEXT), "n", null, Map.of());
		assertTrue(segment.isWholeMethod());
		assertEquals(15, segment.firstLine());
	}

	private static final String[] OVERLOADS = {"class C {", "int m(int a) { return a; }", "int m(java.util.List<String> a, int[] b) { return 2; }", "}"};

	private static int line(String parameters, Map<Integer, Long> samples) throws Refusal {
		return Segment.ofMethod(Texts.type(OVERLOADS), "m", parameters, samples).firstLine();
	}

	@Test
	void theOverloadThatRuns() throws Refusal {
		assertEquals(2, line(null, Map.of(2, 5L)));
		assertEquals(3, line(null, Map.of(2, 4L, 3, 5L)));
		assertEquals(3, line("List,int[]", Map.of(2, 5L)));
		assertEquals(3, line("java.util.List,int[]", Map.of()));
		String said = assertThrows(Refusal.class, () -> line(null, Map.of())).getMessage();
		assertTrue(said.endsWith("there are m(int) at line 2, m(List,int[]) at line 3"), said);
		said = assertThrows(Refusal.class, () -> line("long", Map.of(2, 5L))).getMessage();
		assertTrue(said.startsWith("no method m(long) of C"), said);
	}

	@Test
	void sameLoopOfAnotherVersion() throws Refusal {
		Segment inner = Segment.atLine(Texts.type(TEXT), 7, Map.of(), 0);
		String[] other = TEXT.clone();
		other[6] = "t ^= j; t++;";
		Segment counterpart = inner.counterpart(Texts.type(other));
		assertEquals(6, counterpart.firstLine());
		assertTrue(counterpart.statement.toString().contains("t ^= j"));
		other[6] = "while (t > j) { t -= j; }";
		Refusal refusal = assertThrows(Refusal.class, () -> inner.counterpart(Texts.type(other)));
		assertTrue(refusal.getMessage().contains("--at C#m"), refusal.getMessage());
		other[1] = "int m(long[] in) {";
		assertTrue(assertThrows(Refusal.class, () -> inner.counterpart(Texts.type(other))).getMessage().contains("no method m(int[])"));
	}

	@Test
	void otherVersionOfTheSource() {
		assertTrue(assertThrows(Refusal.class, () -> lines(Map.of(), 16)).getMessage().contains("another version"));
		assertThrows(Refusal.class, () -> Segment.ofMethod(Texts.type(TEXT), "none", null, Map.of()));
	}

	private static final String[] TASKS = {"package p; class C { void m(java.util.concurrent.ExecutorService e, int a) throws Exception {",
		"for (int i = 0; i < a; i++) { e.submit(new Named(i)).get(); }",
		"e.submit(() -> {", "return a + 1;", "}).get();",
		"new Thread(new Runnable() { public void run() { a(); } }).start();",
		"Part part = new Part();",
		"java.util.stream.Stream.of(1).map(x -> x + a).count();",
		"}", "static void a() { }",
		"static class Named implements Runnable { int n; Named(int n) { this.n = n; } public void run() { n++; } }",
		"static class Part extends java.util.concurrent.RecursiveTask<Integer> { public Integer compute() { return 7; } } }"};

	/** Profiles know a task by the line that makes it; what is worth a benchmark is what it does. */
	@Test
	void aTaskIsItsBody() throws Refusal {
		assertEquals("{ n++; }", flat(Texts.at(2, TASKS)));
		assertEquals("{ return a + 1; }", flat(Texts.at(3, TASKS)));
		assertEquals("int", Texts.at(3, TASKS).returnedType().toString());
		assertTrue(flat(Texts.at(6, TASKS)).startsWith("{"));
		assertEquals("{ return 7; }", flat(Texts.at(7, TASKS)));
		assertTrue(flat(Texts.at(8, TASKS)).contains("count()")); // no task
	}

	private static String flat(Segment segment) {
		return segment.statement.toString().replaceAll("\\s+", " ");
	}

	@Test
	void aSourceOfAnotherVersionIsRefused() throws Refusal {
		Segment segment = Texts.at(3, "class C {", "int m(int[] in) {", "for (int i : in) { }", "return 1;", "}", "}");
		segment.check("m", Map.of(2, 1L, 5, 9L));
		segment.check("lambda$n$0", Map.of(70, 1L)); // in a lambda expression, whose method is the compiler's
		assertEquals("C.java:3: it is in m here, and in n in the profile: the source is of another version",
				assertThrows(Refusal.class, () -> segment.check("n", Map.of())).getMessage());
		assertEquals("C.java:2: m has lines 2 to 5 here, and samples at line 7 in the profile: the source is of another version",
				assertThrows(Refusal.class, () -> segment.check("m", Map.of(3, 5L, 7, 1L))).getMessage());
	}
}
