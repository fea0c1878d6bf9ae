// SPDX-License-Identifier: Apache-2.0
package locusbench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import spoon.reflect.code.CtInvocation;
import spoon.reflect.code.CtLocalVariable;
import spoon.reflect.declaration.CtType;
import spoon.reflect.visitor.filter.TypeFilter;

/** Compares the analysis with javac, which compiles a use of a variable only where the variable has a value. */
class AssignedTest {
	/** Bodies of a method; @ is the segment. */
	private static final String[] BODIES = {
		"@", "k = 1; @", "if (a > 0) { k = 1; } @", "if (a > 0) { k = 1; } else { k = 2; } @", "if (a > 0) { k = 1; } else { return; } @",
		"for (int i = 0; i < a; i++) { k = i; } @", "for (int i = 0; i < a; i++) { k = i; @ }", "for (k = 0; k < a; k++) { } @",
		"while (true) { k = 1; if (a > 0) { break; } } @", "while (true) { if (a > 0) { break; } k = 1; } @", "while (a > 0 && (k = a) > 1) { @ break; }",
		"while (a > 0 && (k = a) > 1) { } @", "while (!(a > 0 && (k = a) > 1)) { return; } @", "do { k = a; } while (k > 3); @",
		"do { if (a > 2) { continue; } k = a; } while (a > 3); @", "if (a > 0 || (k = a) > 1) { return; } @", "if (a > 0 || (k = a) > 1) { @ }",
		"switch (a) { case 1: k = 1; break; default: k = 2; } @", "switch (a) { case 1: k = 1; default: @ }", "switch (a) { case 1: k = 1; } @",
		"switch (a) { case 1 -> k = 1; default -> { return; } } @", "switch (a) { case 1: k = 1; break; default: return; } @",
		"try { k = Integer.parseInt(t); } catch (NumberFormatException e) { k = 2; } @", "try { k = Integer.parseInt(t); } catch (NumberFormatException e) { } @",
		"try { k = Integer.parseInt(t); } catch (NumberFormatException e) { return; } @", "try { a++; } finally { k = 1; } @", "synchronized (t) { k = 1; } @",
		"int j = (k = a) + 1; @", "int j = a > 0 ? (k = 1) : (k = 2); @", "int j = a > 0 ? (k = 1) : 3; @", "Runnable r = () -> { int l; l = 1; }; @",
		"out: { if (a > 0) { break out; } k = 1; } @", "out: { k = 1; if (a > 0) { break out; } k = 2; } @",
		"out: for (int i = 0; ; i++) { for (;;) { k = 1; if (a > i) { break out; } } } @", "for (;;) { if (a > 0) { k = 3; break; } } @",
		"if (a > 0) { throw new IllegalStateException(); } else { k = 2; } @", "if (!(a > 0)) { k = 1; @ }", "k = 1; for (int i : new int[3]) { @ }",
		"for (int i : new int[(k = 3)]) { } @", "t.length(); (new int[2])[k = 1]++; @", "boolean b = a > 0 && (k = 1) > 0; @", "if (true) { k = 1; } @",
		"int j = switch (a) { case 1 -> { k = 1; yield 2; } default -> 3; }; @"};

	private static final String SEGMENT = "m(0, null);";

	private static String text(String body, String at) {
		return "class C { void m(int a, String t) {\nint k; " + body.replace("@", at) + "} }";
	}

	private static boolean compiles(String text) {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		JavaFileObject source = new SimpleJavaFileObject(URI.create("string:///C.java"), JavaFileObject.Kind.SOURCE) {
			@Override
			public CharSequence getCharContent(boolean ignored) {
				return text;
			}
		};
		return compiler.getTask(null, null, problem -> { }, List.of("-proc:none", "-Xlint:none", "-XDshould-stop.ifNoError=FLOW"), null, List.of(source)).call();
	}

	private static boolean isAssigned(String text) throws Refusal {
		CtType<?> type = Texts.type(text);
		CtLocalVariable<?> k = type.getElements(new TypeFilter<CtLocalVariable<?>>(CtLocalVariable.class)).stream()
				.filter(v -> v.getSimpleName().equals("k")).findFirst().orElseThrow();
		return Assigned.isBefore(k, Segment.of(type.getElements(new TypeFilter<CtInvocation<?>>(CtInvocation.class)).stream()
				.filter(i -> i.getExecutable().getSimpleName().equals("m")).findFirst().orElseThrow()));
	}

	@Test
	void whatHasAValueIsWhatJavacSays() throws Exception {
		List<String> wrong = new ArrayList<>();
		for (String body : BODIES) {
			assertEquals(true, compiles(text(body, SEGMENT)), body);
			boolean truth = compiles(text(body, "m(k, null);"));
			if (isAssigned(text(body, SEGMENT)) != truth) {
				wrong.add(body + (truth ? " has a value" : " has none"));
			}
		}
		assertEquals(List.of(), wrong);
	}
}
