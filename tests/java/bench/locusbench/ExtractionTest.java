// SPDX-License-Identifier: Apache-2.0
package locusbench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Constants, fields, local variables and methods in benchmarks: the table of rules of the paper, and further ones. */
class ExtractionTest {
	private static String source(Segment segment) throws Exception {
		return Texts.payload(segment).source.replaceAll("\\s+", " ");
	}

	private static void has(String source, String part) {
		assertTrue(source.contains(part), part + " is not in " + source);
	}

	private static void hasNot(String source, String part) {
		assertFalse(source.contains(part), part + " is in " + source);
	}

	@Test
	void aStaticFinalConstantStaysOne() throws Exception {
		String s = source(Texts.method("package p; class C { private static final int K = 3 * L; static final int L = 7; int m(int a) { return a * K; } }"));
		has(s, "private static final int L = 7;");
		has(s, "private static final int K = 3 * L;");
		has(s, "return a * K;");
	}

	@Test
	void aTableIsSetOnce() throws Exception {
		String s = source(Texts.method("package p; class C { private static final int[] T = make(); static int[] make() { return new int[9]; }",
				"int m(int a) { return T[a]; } }"));
		has(s, "private static final int[] T = (int[]) values(0)[");
	}

	@Test
	void aFieldIsLoadedAndStaysVolatile() throws Exception {
		String s = source(Texts.method("package p; class C { private volatile int v; private static int w; int m() { return v + w; } }"));
		has(s, " volatile int v;");
		has(s, "static int w;");
		has(s, "v = (Integer) values[");
		has(s, "return v + w;");
	}

	@Test
	void aLocalConstantIsFoldedAsInTheProgram() throws Exception {
		String s = source(Texts.at(3, "package p; class C { int m(int[] in) {", "int n = 100; int k = in.length;",
				"for (int i = 0; i < n; i++) { in[i] += k; }", "return 0; } }"));
		has(s, "int n = 100;");
		hasNot(s, "local_n");
		has(s, "int k = local_k;");
	}

	@Test
	void aVariableThatALoopAroundChangesIsNoConstant() throws Exception {
		String s = source(Texts.at(4, "package p; class C { void m(int[] in) {", "int n = 100;", "for (int j = 0; j < 9; j++) {",
				"for (int i = 0; i < n; i++) { in[i] += n; }", "n--; } } }"));
		has(s, "int n = local_n;");
	}

	@Test
	void aVariableThatTheSegmentItselfChangesBeginsAsRecorded() throws Exception {
		String s = source(Texts.at(3, "package p; class C { int m(int[] in) {", "int sum = 0;", "for (int i : in) { sum += i; }", "return sum; } }"));
		has(s, "int sum = 0;"); // nothing but its declaration comes before
		has(s, "return sum;");
	}

	@Test
	void privateMethodsAreCopiedWithTheirModifiers() throws Exception {
		String s = source(Texts.method("package p; class C { private static synchronized int twice(int x) { return add(x, x); }",
				"static int add(int x, int y) { return x + y; } int m(int a) { return twice(a); } }"));
		has(s, "private static synchronized int twice(int x) { return add(x, x); }");
		has(s, "private static int add(int x, int y) { return x + y; }");
	}

	@Test
	void namesThatCollideArePrefixed() throws Exception {
		String s = source(Texts.method("package p; class C { int[] v; int input; int m(int[] v) { return v[0] + this.v[0] + input; } }"));
		has(s, "v[0] + field_v[0]");
		has(s, "int field_input;");
	}

	@Test
	void theObjectIsRecordedWhereItIsUsed() throws Exception {
		Payload payload = Texts.payload(Texts.method("package p; class C { int m(java.util.List<C> all) { all.add(this); return 0; } }"));
		assertEquals(List.of("all", "this"), payload.inputNames);
		has(payload.source, "all.add(self)");
	}

	@Test
	void typeVariablesAreErased() throws Exception {
		String s = source(Texts.method("package p; class C<T extends Comparable<T>> { T m(java.util.List<T> all, T a) {",
				"for (T t : all) { if (t.compareTo(a) > 0) { a = t; } } return a; } }"));
		has(s, "Comparable a = local_a;");
		hasNot(s, "T t");
	}

	@Test
	void whatHasALoopIsCompiledAlone() throws Exception {
		String alone = "@Benchmark @CompilerControl(CompilerControl.Mode.DONT_INLINE) public";
		has(source(Texts.method("package p; class C { int m(int[] in) { int a = 0; for (int i : in) { a += i; } return a; } }")), alone);
		hasNot(source(Texts.method("package p; class C { int m(int a) { return a * a; } }")), alone);
	}

	@Test
	void aReturnInALoopIsKept() throws Exception {
		String s = source(Texts.at(2, "package p; class C { int m(int[] in, int a) {", "for (int i = 0; i < in.length; i++) { if (in[i] == a) { return i; } }",
				"return -1; } }"));
		has(s, "public int segment(");
		has(s, "return i;");
		has(s, "return new Object[] {i");
	}

	@Test
	void eachReturnIsAStatement() throws Exception {
		String s = source(Texts.method("package p; class C { int m(int a) { if (a > 0) return 1; do { a++; } while (a < 0); return a; } }"));
		has(s, "return new Object[] {a, a}; }");
		has(s, "return new Object[] {1, a}; }");
		has(s, "while (a < 0 ); return a;");
	}

	@Test
	void fieldsThatDecideArePutBack() throws Exception {
		String s = source(Texts.method("package p; class C { private int n; void m() { if (n < 10) { n++; } } }"));
		has(s, "n = reset_n;");
	}

	@Test
	void elementsThatDecideArePutBack() throws Exception {
		String s = source(Texts.method("package p; class C { void m(int[] v) { if (v[0] > v[1]) { int t = v[0]; v[0] = v[1]; v[1] = t; } } }"));
		has(s, "for (int at : changes_local_v.toPutBack(local_v)) { local_v[at] = elements_local_v[at]; }");
	}

	@Test
	void otherStateIsPutBackBeforeEachCall() throws Exception {
		Payload payload = Texts.payload(Texts.method("package p; class C { void m(java.util.List<String> l) { while (!l.isEmpty()) { l.remove(0); } } }"));
		has(payload.source, "@Setup(Level.Invocation)");
		assertEquals(1, payload.notes.size());
	}

	private static final String MADE = "java.util.List<java.lang.Integer> all = new java.util.ArrayList<>();";

	@Test
	void aCollectionThatIsMadeForTheSegmentIsMadeInTheBenchmark() throws Exception {
		String s = source(Texts.at(3, "package p; class C { java.util.List<Integer> m(int[] in) {", "java.util.List<Integer> all = new java.util.ArrayList<>();",
				"for (int i : in) { all.add(i); }", "return all; } }"));
		has(s, MADE);
		has(s, "return all;");
		has(s, "return new Object[] {null, all}");
		hasNot(s, "Level.Invocation");
	}

	@Test
	void aCollectionWithSomethingInItIsPutBack() throws Exception {
		String used = source(Texts.at(3, "package p; class C { void m(int[] in) {", "java.util.List<Integer> all = new java.util.ArrayList<>(); all.add(7);",
				"for (int i : in) { all.add(i); }", "} }"));
		hasNot(used, MADE);
		has(used, "@Setup(Level.Invocation)");
		String filled = source(Texts.at(4, "package p; class C { void m(int[] in) {", "java.util.List<Integer> all = new java.util.ArrayList<>();",
				"for (int j = 0; j < 9; j++) {", "for (int i : in) { all.add(i); }", "} } }"));
		hasNot(filled, MADE);
		has(filled, "@Setup(Level.Invocation)");
		String other = source(Texts.at(3, "package p; class C { void m(int[] in) {", "java.util.List<Integer> all = new java.util.ArrayList<>(1 << 20);",
				"for (int i : in) { all.add(i); }", "} }"));
		has(other, "@Setup(Level.Invocation)"); // to make one takes time
	}

	private static List<Payload> united(Segment before, Segment after) throws Exception {
		Uses usesBefore = new Uses(before, false);
		Uses usesAfter = new Uses(after, false);
		Variables b = new Variables(before, usesBefore);
		Variables a = new Variables(after, usesAfter);
		b.unite(a);
		a.unite(b);
		return List.of(new Extraction(before, usesBefore, b).payload(1, ""), new Extraction(after, usesAfter, a).payload(1, ""));
	}

	@Test
	void versionsOfWhichOneMakesACollectionHaveItRecorded() throws Exception {
		Segment before = Texts.at(3, "package p; class C { void m(int[] in) {", "java.util.List<Integer> all = new java.util.ArrayList<>();",
				"for (int i : in) { all.add(i); }", "} }");
		Segment after = Texts.at(3, "package p; class C { void m(int[] in) {", "java.util.List<Integer> all = new java.util.ArrayList<>(in.length);",
				"for (int i : in) { all.add(i); }", "} }");
		for (Payload payload : united(before, after)) {
			String s = payload.source;
			has(s, "java.util.List<java.lang.Integer> all = local_all;");
			has(s, "@Setup(Level.Invocation)");
			hasNot(s, "new java.util.ArrayList");
		}
	}

	@Test
	void modelIsAsItWas() throws Exception {
		Segment segment = Texts.method("package p; class C { int f; int m(int a) { return help(a) + f; } private int help(int a) { return a + f; } }");
		String before = segment.type.toString();
		String first = Texts.payload(segment).source;
		assertEquals(before, segment.type.toString());
		assertEquals(first, Texts.payload(segment).source);
	}

	@Test
	void versionsHaveTheSameInputsAndOutputs() throws Exception {
		Segment before = Texts.method("package p; class C { int f; int g; int[] h; int m(int a) { f = a; return f + h[0]; } }");
		Segment after = Texts.method("package p; class C { int f; int g; int[] h; int m(int a) { h[1] = g; f = a; return a; } }");
		List<Payload> both = united(before, after);
		Payload first = both.get(0);
		Payload second = both.get(1);
		assertEquals(List.of("a", "this.f", "this.g", "this.h"), first.inputNames);
		assertEquals(first.inputNames, second.inputNames);
		has(first.source, "return new Object[] {f + h[0], f, h}");
		has(second.source, "return new Object[] {a, f, h}");
	}

	@Test
	void fieldsOfTheObjectAreItsOwnWhereItIsUsedToo() throws Refusal, IOException {
		String text = "package p; class C { private int n; final int f = g(); int g() { return 1; }\n"
				+ "C add(int a) { for (int i = 0; i < a; i++) { put(i); } return this; } C put(int i) { n = n * f + i; return this; } }";
		String source = Texts.payload(Texts.at(2, text), text).source;
		has(source, "self.n = (self.n * f) + i;");
		has(source, "return new Object[] {null, self.n}");
		hasNot(source, "int n;");
	}

	@Test
	void anInheritedFieldIsOneOfTheObject() throws Refusal, IOException {
		String text = "package p; class B { int n; } class C extends B { int m(int[] in) {\nfor (int i : in) { n += i; in[n] = 0; }\nreturn n; } }";
		Segment segment = Segment.atLine(Sources.model(text, "C.java", List.of()).getAllTypes().stream()
				.filter(t -> t.getSimpleName().equals("C")).findFirst().orElseThrow(), 2, Map.of(), 0);
		Payload payload = Texts.payload(segment, text);
		has(payload.source, "self.n += i;");
		has(payload.source, "return new Object[] {null, in, self}");
		assertTrue(payload.loadsAgain, "n is an index");
	}

	/** No class of the benchmark's package but a subclass can name it. */
	@Test
	void aProtectedFieldOfAnotherPackageIsAnInput() throws Exception {
		Payload payload = Texts.payload(Texts.method("package p; class C extends java.util.AbstractList<String> { public String get(int i) { return null; }",
				"public int size() { return 0; } int m() { return modCount * 3; } }"));
		assertEquals(List.of("this.modCount"), payload.inputNames);
		has(payload.source, "return modCount * 3;");
	}

	@Test
	void whatARawTypeGivesIsCast() throws Refusal, IOException {
		String source = Texts.payload(Texts.method("package p; class C<T extends C.E<T>> { interface E<S> { S twice(); } T m(T a, java.util.List<T> all) {"
				+ " for (T t : all) { a = t.twice().twice(); } return a; } }")).source;
		has(source, "for (p.C.E t : ((java.lang.Iterable<p.C.E>) (all))) {");
		has(source, "a = ((p.C.E) (((p.C.E) (t.twice())).twice()));");
	}

	@Test
	void whatIsReplacedKeepsItsCasts() throws Refusal, IOException {
		String source = Texts.payload(Texts.method(
				"package p; class C { int a; int b; double m() { return (double) a / (long) (short) b() + (float) b; } int b() { return b; } }")).source;
		has(source, "return (((double) (a)) / ((long) (((short) (b()))))) + ((float) (b));");
	}

	@Test
	void aResultHasTheTypeOfTheMethod() throws Refusal, IOException {
		String source = Texts.payload(Texts.method("package p; class C { byte b; int m() { return b; } }")).source;
		has(source, "return b;");
		has(source, "return new Object[] {(int) (b)};");
	}

	@Test
	void localVariablesThatOneVersionHasAloneAreNotCompared() throws Refusal, IOException {
		Segment before = Texts.at(2, "class C { int m(int[] a) { int s = 0;\nfor (int x : a) { s += x; }\nreturn s; } }");
		Segment after = Texts.at(2, "class C { int m(int[] a) { int s = 0, n = 0;\nfor (int x : a) { s += x; n++; }\nreturn s; } }");
		Uses uses = new Uses(after, false);
		Variables a = new Variables(after, uses);
		a.unite(new Variables(before, new Uses(before, false)));
		has(new Extraction(after, uses, a).payload(1, "").source, "return new Object[] {null, s}");
		has(Texts.payload(after).source, "return new Object[] {null, s, n}");
	}

	private static void refused(String why, Segment segment) {
		Refusal refusal = assertThrows(Refusal.class, () -> Texts.payload(segment));
		assertTrue(refusal.getMessage().contains(why), refusal.getMessage());
		assertTrue(refusal.getMessage().startsWith("C.java:"), refusal.getMessage());
	}

	@Test
	void refusalsSayWhyAndWhere() throws Exception {
		refused("input or output", Texts.method("package p; class C { void m() { System.out.println(1); } }"));
		refused("jumps out", Texts.at(3, "package p; class C { void m(int[] in) { outer: for (int i : in) {", "int k = i;",
				"for (int j : in) { if (j == k) { continue outer; } }", "} } }"));
		refused("super", Texts.method("package p; class C extends B { int m() { return super.f; } }"));
		refused("private, in a class without a name", Texts.method("package p; interface C { class N { private int v; } ",
				"default int m(N n) { return n.v; } }"));
	}

	@Test
	void anObjectThatCannotBeMadeUpIsNamed() throws Exception {
		Segment segment = Texts.method("package p; class C { int m() { return hashCode(); } }");
		Variables variables = new Variables(segment, new Uses(segment, false));
		String said = assertThrows(Refusal.class, () -> MadeInputs.make(variables)).getMessage();
		assertTrue(said.endsWith("no value of p.C can be made up for 'this'"), said);
	}

	/** The project's copy of the class's source, and the benchmark. */
	private static String[] opened(String text) throws Exception {
		Payload payload = Texts.payload(Texts.method(text), text);
		assertEquals(Set.of("p/C.java"), payload.others.keySet());
		return new String[] {payload.others.get("p/C.java"), payload.source.replaceAll("\\s+", " ")};
	}

	@Test
	void whatIsPrivateInAnotherObjectIsOpenedToThePackage() throws Exception {
		String[] texts = opened("package p; class C { private int f; private static final int K = 1; private int g() { return f; }"
				+ " private static int h() { return K; } int m(C c) { return c.f + c.g(); } /* private */ }");
		assertEquals("package p; class C {  int f;  static final int K = 1; final int g() { return f; }"
				+ "  static int h() { return K; } int m(C c) { return c.f + c.g(); } /* private */ }", texts[0]);
		has(texts[1], "return c.f + c.g();");
	}

	@Test
	void privateClassesAndTheirConstructorsAreOpened() throws Exception {
		String[] texts = opened("package p; class C { private static class N { int v; private N(int v) { this.v = v; } }"
				+ " int m(N[] n) { N o = new N(2); return o.v + n[0].v; } }");
		has(texts[0], "{  static class N { int v;  N(int v)");
		has(texts[1], "p.C.N[] local_n;");
		has(texts[1], "new p.C.N(2)");
	}

	@Test
	void whatOnlyTheClassCanCallIsCalledByAMethodOfIt() throws Exception {
		String[] texts = opened("package p; class C extends java.util.AbstractList<String> { private int n; int m(int a) {"
				+ " removeRange(a, n); return super.hashCode(); } public String get(int i) { return null; } public int size() { return 0; } }");
		has(texts[0], "final void locusBridge0_removeRange(int a0, int a1) { removeRange(a0, a1); }"
				+ " final int locusBridge1_hashCode() { return super.hashCode(); }}");
		has(texts[1], "self.locusBridge0_removeRange(a, self.n);");
		has(texts[1], "return self.locusBridge1_hashCode();");
	}

	@Test
	void aSegmentOfTheUnnamedPackageStaysThere() throws Exception {
		Payload payload = Texts.payload(Texts.method("class C { int v; int m(C c) { C d = c; return d.v; } }"));
		assertEquals("C_m_1.java", payload.file());
		String s = payload.source.replaceAll("\\s+", " ");
		has(s, "public class C_m_1 extends locusbenchmark.C_m_1.Segment { C local_c;");
		hasNot(s, "package");
		hasNot(s, "@Benchmark");
		String jmh = payload.others.get("locusbenchmark/C_m_1.java").replaceAll("\\s+", " ");
		has(jmh, "@Setup(Level.Trial)");
		has(jmh, "@Benchmark public int segment(Blackhole blackhole) throws Throwable { return segment.segment(blackhole); }");
	}

	@Test
	void aReturnCanBeTheWholeSegment() throws Exception {
		String text = "package p; class C { int m(int a) {\nreturn a + 1; } }";
		Segment segment = Texts.at(2, text);
		String s = source(segment);
		has(s, "segment(Blackhole blackhole) throws Throwable { int a = local_a; return a + 1; }");
		has(s, "return new Object[] {a + 1};");
		Uses uses = new Uses(segment, false);
		has(new Instrumentation(text).with(segment, new Variables(segment, uses)).text(),
				"try { { final int locusResult = a + 1; if (locusTicket0 >= 0)");
	}

	@Test
	void aPatternHasItsVariables() throws Exception {
		String s = source(Texts.method("package p; class C { record A(int v) { } static int m(Object o) {",
				"return switch (o) { case A(int v) when v > 3 -> v; case A a -> a.v(); default -> 0; }; } }"));
		has(s, "when v > 3");
		has(s, "java.lang.Object o = local_o;");
	}

	/** The labels of an enum have the name of its class since Java 21 alone. */
	@Test
	void theCasesOfAnEnumAreItsNames() throws Exception {
		String s = source(Texts.method("package p; class C { enum E { A, B } static int m(E e, java.util.concurrent.TimeUnit u) {",
				"switch (u) { case DAYS: return 3; default: } return switch (e) { case A -> 1; case B -> 2; }; } }"));
		has(s, "case A -> 1;");
		has(s, "case DAYS : return 3;");
		hasNot(s, "values[2]"); // they are no inputs
	}

	@Test
	void whatHasNoValueYetIsNoInput() throws Exception {
		Payload payload = Texts.payload(Texts.at(3, "package p; class C { int m(int[] in) { int k; int n = in[0];", "for (int i : in) { k = i; }",
				"for (int i = 0; i < n; i++) { k = in[i]; in[k] = k; }", "return 0; } }"));
		assertEquals(List.of("n", "in"), payload.inputNames);
		has(payload.source, "int k = 0;");
	}

	@Test
	void resultsThatNothingUsesAreConsumed() throws Exception {
		String s = source(Texts.method("package p; class C { static double f(double x) { return x * x; } void m(double[] in, java.util.List<Object> all) {",
				"for (double d : in) { double r = f(d); double q; q = d * 2; Math.sin(d); f(q); all.add(d); } } }"));
		has(s, "double r = f(d); blackhole.consume(r);");
		has(s, "double q; q = d * 2; blackhole.consume(java.lang.Math.sin(d)); blackhole.consume(f(q)); all.add(d); }");
		has(s, "double r = f(d); double q; q = d * 2; java.lang.Math.sin(d); f(q);"); // of outputs()
		has(source(Texts.at(2, "package p; class C { void m(java.util.List<Object> all) {", "all.add(all);", "} }")), "blackhole.consume(all.add(all));");
	}

	@Test
	void numbersThatACallFindsChangedArePutBackOrSaid() throws Exception {
		Payload fft = Texts.payload(Texts.method("package p; class C { void m(double[] v) { for (int i = 1; i < v.length; i++) { v[i] += v[i - 1]; } } }"));
		has(fft.source, "for (int at : changes_local_v.toPutBack(local_v)) {");
		assertFalse(fft.goesOn);
		Payload count = Texts.payload(Texts.method("package p; class C { void m(int[] v) { for (int i = 1; i < v.length; i++) { v[i] += 3; } } }"));
		assertTrue(count.goesOn);
		assertEquals(List.of("a call finds v[] as the call before has left it: by that it takes no other branch"), count.notes);
		for (Payload payload : List.of(fft, count)) {
			String test = Project.test(payload, 1);
			has(test, "check(benchmark, input, AGAIN);");
			assertEquals(payload.goesOn, test.contains("\t\tbenchmark.load();\n\t\tcheck"));
		}
	}

	@Test
	void inputAndOutputAreTakenWhereAskedFor() throws Exception {
		Segment segment = Texts.method("package p; class C { void m() { System.out.println(1); } }");
		Uses uses = new Uses(segment, true);
		has(new Extraction(segment, uses, new Variables(segment, uses)).payload(1, "").source, "System.out.println(1)");
	}
}
