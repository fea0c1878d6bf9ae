// SPDX-License-Identifier: Apache-2.0
package locusbench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Sinks and resets, on methods whose dependences are plain to see. */
class DependencesTest {
	private static Set<String> names(Iterable<?> values) {
		Set<String> names = new TreeSet<>();
		values.forEach(v -> names.add(v.toString()));
		return names;
	}

	private static void sinks(Set<String> expected, String... body) throws Refusal {
		assertEquals(expected, names(new Dependences(method(body).statement).sinks()));
	}

	private static void resets(Set<String> expected, String... body) throws Refusal {
		assertEquals(expected, names(new Dependences(method(body).statement).resets()));
	}

	private static Segment method(String... body) throws Refusal {
		return Texts.method("class C { int f; int[] g; double[] d; double e; native void blur(double[] of); static class N { N next; int v; private int twice() { return add(v); }",
				"private int add(int n) { return n + v; } private int turn() { return next.v = v++; } int any() { return v; } }", "void m(int a, int b, int sum, int x,"
				+ " boolean flag, int[] in, N node, java.util.List<Integer> list) {", String.join("\n", body), "} }");
	}

	@Test
	void whatAnotherSinkNeedsIsNone() throws Refusal {
		// The paper's example: a and c are needed for d, the first value of b as well; the second one is needed by nothing.
		sinks(Set.of("d", "b1"), "int c = a * 2; b = c + a; int d = c + b; b = a - 3;");
	}

	@Test
	void valuesThatNeedOneAnotherAreOne() throws Refusal {
		assertEquals(1, new Dependences(method("while (a < 100) { a = a + b; b = b + a; }").statement).sinks().size());
	}

	@Test
	void conditionIsNeededByWhatItChooses() throws Refusal {
		sinks(Set.of("b2"), "a = x * x; if (a > 3) { b = sum; } else { b = 2; }"); // b and b1 are those of the two branches
	}

	@Test
	void whatOutlivesTheSegmentIsNoSink() throws Refusal {
		sinks(Set.of(), "a = x * 3; in[0] = a;");
		sinks(Set.of(), "a = x * 3; f = a;");
		sinks(Set.of(), "a = x * 3; node.v = a;");
		sinks(Set.of("a"), "a = x * 3; in[0] = x;");
	}

	@Test
	void variablesOfInnerBlocksAreGone() throws Refusal {
		sinks(Set.of("sum2"), "sum = a; for (int i = 0; i < x; i++) { int t = i * 2; sum += t; }");
	}

	@Test
	void onlyWhatDecidesIsPutBack() throws Refusal {
		// The paper's example: sum and x grow with each call, but by sum alone the next call branches.
		resets(Set.of("sum"), "for (int i = 0; i < in.length; i++) { x = x * 31 + in[i]; if (sum > 100) { sum = 0; } sum += in[i]; }");
	}

	@Test
	void anIndexIsPutBackSinceItsBoundsDecide() throws Refusal {
		resets(Set.of("x"), "for (int i = 0; i < a; i++) { in[x++] = i; }");
		resets(Set.of("x"), "System.arraycopy(in, 0, in, x, a); x += a;");
	}

	@Test
	void aFlagThatIsSetIsPutBack() throws Refusal {
		resets(Set.of("flag"), "if (!flag) { f = a; flag = true; }");
	}

	@Test
	void aMethodThatOnlyLooksChangesNothing() throws Refusal {
		resets(Set.of("a", "node"), "while (node != null && a > 0) { sum += node.twice(); node = node.next; a--; }");
		resets(Set.of("a", "node", "node[]"), "while (node != null && a > 0) { sum += node.turn(); node = node.next; a--; }");
		resets(Set.of("a", "node", "node[]"), "while (node != null && a > 0) { sum += node.any(); node = node.next; a--; }"); // of a subclass
	}

	@Test
	void stateOverTwoVariablesIsPutBack() throws Refusal {
		resets(Set.of("a", "b"), "int t = a; a = b + 1; b = t; if (a > 100) { x = 1; }");
	}

	@Test
	void whatIsSetBeforeItIsReadNeedsNoReset() throws Refusal {
		resets(Set.of(), "sum = 0; for (int i = 0; i < x; i++) { sum += i; if (sum > 9) { f = 1; } }");
	}

	@Test
	void sortedElementsArePutBack() throws Refusal {
		resets(Set.of("in[]"), "for (int i = 1; i < in.length; i++) { int t = in[i]; int j = i;"
				+ " while (j > 0 && in[j - 1] > t) { in[j] = in[j - 1]; j--; } in[j] = t; }");
		resets(Set.of(), "for (int i = 0; i < in.length; i++) { in[i] = in[i] * 3 + 1; }");
	}

	private static void carried(Set<String> expected, String... body) throws Refusal {
		assertEquals(expected, names(new Dependences(method(body).statement).carried()));
	}

	@Test
	void floatingPointNumbersThatGoOnArePutBack() throws Refusal {
		String fft = "for (int i = 0; i < d.length - 1; i++) { double t = d[i] + d[i + 1]; d[i + 1] = d[i] - d[i + 1]; d[i] = t; }";
		resets(Set.of("d[]"), fft);
		carried(Set.of("d[]"), fft);
		resets(Set.of("d[]"), "blur(d);"); // a method of which no source is here may read them
		resets(Set.of("e"), "e = e * 1.5;");
		resets(Set.of(), "for (int i = 0; i < a; i++) { d[i] = a * 0.5; }"); // only written
		carried(Set.of(), "for (int i = 0; i < a; i++) { d[i] = a * 0.5; } e = 2;");
	}

	@Test
	void integersThatGoOnAreKnown() throws Refusal {
		resets(Set.of(), "for (int i = 0; i < in.length; i++) { in[i] = in[i] * 3 + 1; } f += in[0];");
		carried(Set.of("in[]", "f"), "for (int i = 0; i < in.length; i++) { in[i] = in[i] * 3 + 1; } f += in[0];");
	}

	@Test
	void aCollectionThatIsEmptiedIsPutBack() throws Refusal {
		resets(Set.of("list[]"), "while (!list.isEmpty()) { sum += list.remove(0); }");
	}

	@Test
	void aCollectionThatGrowsIsPutBack() throws Refusal {
		resets(Set.of("list[]"), "for (int i = 0; i < x; i++) { list.add(i); }");
		resets(Set.of("list[]"), "java.util.List<N> nodes = (java.util.List) list; nodes.add(node);"); // and not node[]
		resets(Set.of(), "sum = list.get(x) + list.size();");
	}

	@Test
	void whatIsSortedByTheJdkIsPutBack() throws Refusal {
		resets(Set.of("in[]"), "java.util.Arrays.sort(in);");
		resets(Set.of("list[]"), "java.util.Collections.sort(list);");
		resets(Set.of(), "java.util.Arrays.fill(in, x);");
	}

	@Test
	void elementsAreTheSameByAnotherName() throws Refusal {
		resets(Set.of("in[]"), "int[] v = in; if (v[0] > a) { v[0]++; }");
	}

	@Test
	void methodsOfTheClassAreWalkedThrough() throws Refusal {
		Segment segment = Texts.method("class C { int[] g; void put(int[] to, int v) { to[0] = v; } int take(int[] of) { return of[0]; }",
				"void m(int[] in, int a) { int b = take(in) + a; put(g, b); } }");
		Dependences dependences = new Dependences(segment.statement);
		assertEquals(Set.of(), names(dependences.sinks()));
		assertEquals(Set.of(), names(dependences.resets()));
		assertEquals(true, names(dependences.assigned()).contains("g[]"));
		assertEquals(false, names(dependences.assigned()).contains("in[]"));
	}
}
