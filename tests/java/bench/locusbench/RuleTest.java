// SPDX-License-Identifier: Apache-2.0
package locusbench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** A benchmark without a rule has the mistake that the rule is against, and no other. scripts/evaluate-bench-truth measures it. */
class RuleTest {
	private static String source(Segment segment, Rule... without) throws Exception {
		return Texts.payload(segment, without).source.replaceAll("\\s+", " ");
	}

	/** The part stands in the benchmark with all rules, and not without this one. */
	private static void only(Rule rule, Segment segment, String part) throws Exception {
		assertTrue(source(segment).contains(part), part + " is not in " + source(segment));
		assertFalse(source(segment, rule).contains(part), part + " is in " + source(segment, rule));
	}

	private static void instead(Rule rule, Segment segment, String part) throws Exception {
		assertFalse(source(segment).contains(part), part + " is in " + source(segment));
		assertTrue(source(segment, rule).contains(part), part + " is not in " + source(segment, rule));
	}

	@Test
	void withoutSinksNothingIsConsumed() throws Exception {
		Segment loop = Texts.at(3, "package p; class C { int m(int[] in) {", "int a = 0; int b = 0;",
				"for (int i : in) { a += i; b ^= i; }", "return a + b; } }");
		only(Rule.SINKS, loop, "blackhole.consume(b);");
		only(Rule.SINKS, loop, "return a;");
		instead(Rule.SINKS, loop, "public void segment(");
	}

	@Test
	void withoutSinksWhatIsReturnedIsComputedAlone() throws Exception {
		Segment method = Texts.method("package p; class C { int m(int a) { if (a > 0) { return a * 3; } throw new Error(); } }");
		instead(Rule.SINKS, method, "{ int unused1 = a * 3; return; } throw");
		String sinkless = source(method, Rule.SINKS);
		assertTrue(sinkless.contains("return new Object[] {a * 3}"), "the regression test compares it still: " + sinkless);
	}

	@Test
	void withoutFoldingWhatVariesIsAConstant() throws Exception {
		Segment method = Texts.method("package p; class C { int f; int g; int m(int a) { g = a; return a * f; } }");
		instead(Rule.FOLDING, method, "private static final int local_a = (Integer) values(0)[");
		instead(Rule.FOLDING, method, "private static final int f = (Integer) values(0)[");
		assertTrue(source(method, Rule.FOLDING).contains(" int g;"), "what is assigned to cannot be a constant");
	}

	@Test
	void withoutConstantsTheyAreLoaded() throws Exception {
		Segment method = Texts.method("package p; class C { static final int K = 8; static final int[] T = {1}; int m(int a) { return a / K + T[0]; } }");
		only(Rule.CONSTANTS, method, "private static final int K = 8;");
		instead(Rule.CONSTANTS, method, " static int K;");
		instead(Rule.CONSTANTS, method, "K = (Integer) values[");
		instead(Rule.CONSTANTS, method, " static int[] T;");
		Segment loop = Texts.at(3, "package p; class C { int m(int[] in) {", "int n = 100;", "for (int i = 0; i < n; i++) { in[i] += n; }", "return 0; } }");
		only(Rule.CONSTANTS, loop, "int n = 100;");
		instead(Rule.CONSTANTS, loop, "int n = local_n;");
	}

	@Test
	void withoutResetStateStays() throws Exception {
		only(Rule.RESET, Texts.method("package p; class C { int n; void m() { if (n < 10) { n++; } } }"), "n = reset_n;");
		only(Rule.RESET, Texts.method("package p; class C { void m(int[] v) { if (v[0] > v[1]) { v[0]--; } } }"), ".toPutBack(");
		only(Rule.RESET, Texts.method("package p; class C { void m(java.util.List<String> l) { while (!l.isEmpty()) { l.remove(0); } } }"),
				"Level.Invocation");
	}

	@Test
	void ruleHasTheNameOfTheRequest() throws Exception {
		assertEquals(Rule.SINKS, Rule.of("sinks"));
		assertThrows(Refusal.class, () -> Rule.of("sink"));
	}
}
