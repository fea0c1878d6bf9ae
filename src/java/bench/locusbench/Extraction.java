// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import spoon.reflect.code.CtBlock;
import spoon.reflect.code.CtCodeSnippetExpression;
import spoon.reflect.code.CtConditional;
import spoon.reflect.code.CtExpression;
import spoon.reflect.code.CtFieldAccess;
import spoon.reflect.code.CtInvocation;
import spoon.reflect.code.CtReturn;
import spoon.reflect.code.CtStatement;
import spoon.reflect.code.CtDo;
import spoon.reflect.code.CtIf;
import spoon.reflect.code.CtLoop;
import spoon.reflect.code.CtSuperAccess;
import spoon.reflect.code.CtSwitch;
import spoon.reflect.code.CtSynchronized;
import spoon.reflect.code.CtTry;
import spoon.reflect.code.CtThisAccess;
import spoon.reflect.declaration.CtElement;
import spoon.reflect.declaration.CtExecutable;
import spoon.reflect.declaration.CtField;
import spoon.reflect.declaration.CtMethod;
import spoon.reflect.declaration.CtType;
import spoon.reflect.declaration.CtVariable;
import spoon.reflect.declaration.ModifierKind;
import spoon.reflect.path.CtRole;
import spoon.reflect.reference.CtTypeReference;
import spoon.reflect.visitor.filter.TypeFilter;

/**
 * Writes a segment as a class with a benchmark: what it is told to use stands around it as fields, constants and copied
 * methods. The model that the segment is of is as it was afterwards.
 *
 * Local variables are loaded from fields when a call begins, so that each call begins with the recorded values and the
 * compiler can keep them in registers, as it does in the program.
 */
final class Extraction {
	private static final String UNNAMED = "locusbenchmark"; // package, for classes of the unnamed one

	/** JMH has a benchmark inlined into the loop that measures, whose variables then take registers of a loop's own. */
	private static final String ALONE = "@CompilerControl(CompilerControl.Mode.DONT_INLINE)";

	private final Segment segment;
	private final Uses uses;
	private final Variables variables;
	private final List<String> notes = new ArrayList<>();
	private final StringBuilder out = new StringBuilder();
	private final Edits edits = new Edits();
	private final Unused unused;
	private int unconsumed; // values, without the rule that consumes them

	Extraction(Segment segment, Uses uses, Variables variables) {
		this.segment = segment;
		this.uses = uses;
		this.variables = variables;
		unused = new Unused(segment.statement);
	}

	/** `line`: in the name of the class; `text`: of the segment's source file. */
	Payload payload(int line, String text) throws IOException {
		Payload payload = new Payload();
		payload.isUnnamed = uses.packageName.isEmpty();
		payload.packageName = payload.isUnnamed ? UNNAMED : uses.packageName;
		payload.className = segment.type.getSimpleName().replaceFirst("^(?=[0-9])", "Local") + "_" + segment.methodName().replaceAll("[<>]", "") + "_" + line;
		payload.originalClass = segment.type.getQualifiedName();
		payload.originalMethod = segment.methodName();
		payload.firstLine = segment.firstLine();
		payload.lastLine = segment.lastLine();
		variables.inputs.forEach(i -> payload.inputNames.add(i.inProgram));
		payload.goesOn = !variables.goesOn.isEmpty();
		payload.loadsAgain = variables.loadsAgain;
		if (uses.opens) {
			CtType<?> top = segment.type.getTopLevelType();
			payload.others.put(top.getQualifiedName().replace('.', '/') + ".java", Opened.text(segment.type, uses.bridges.text(), text));
			notes.add("the project has " + top.getSimpleName() + " as its source has it, with its private members open to its package");
		}
		String result = result();
		try {
			variables.constants.forEach(c -> rewrite(c.getDefaultExpression()));
			rewrite(segment.statement);
			uses.methods.forEach(this::rewrite);
			write(payload, result);
		} finally {
			edits.undo();
		}
		payload.source = out.toString();
		payload.notes.addAll(notes);
		return payload;
	}

	/** The type of what the segment returns, as text; null: nothing. */
	private String result() {
		CtTypeReference<?> type = segment.returnedType();
		return type == null ? null : Types.text(type);
	}

	// -- rewriting

	/** Text in place of an expression, whose casts are a part of it. */
	private static CtCodeSnippetExpression<?> snippet(CtExpression<?> of, String text) {
		String cast = text;
		for (int i = of.getTypeCasts().size() - 1; i >= 0; i--) { // the outermost stands first
			cast = "((" + Types.text(of.getTypeCasts().get(i)) + ") (" + cast + "))";
		}
		return of.getFactory().createCodeSnippetExpression(cast);
	}

	private void rewrite(CtElement of) {
		Types.erase(of, edits);
		List<CtInvocation<?>> calls = of.getElements(new TypeFilter<CtInvocation<?>>(CtInvocation.class));
		List<CtInvocation<?>> own = calls.stream().filter(c -> {
			CtExecutable<?> declaration = Dependences.ownMethod(c);
			return uses.bridges.name(c) != null || declaration instanceof CtMethod && uses.methods.stream().anyMatch(m -> m == declaration);
		}).collect(Collectors.toList());
		for (CtFieldAccess<?> access : of.getElements(new TypeFilter<CtFieldAccess<?>>(CtFieldAccess.class))) {
			if (Uses.isEnumLabel(access)) {
				edits.replace(access, snippet(access, access.getVariable().getSimpleName()));
				continue;
			}
			CtField<?> declaration = uses.declarationOf(access);
			boolean isHere = declaration != null && (uses.fields.get(declaration.getSimpleName()) == declaration
					|| variables.constants.stream().anyMatch(c -> c == declaration));
			if (isHere && Dependences.isOwnField(access)) {
				edits.replace(access, snippet(access, variables.fieldNames.get(declaration.getSimpleName())));
			}
		}
		Collections.reverse(own); // inner calls stand behind outer ones
		for (CtInvocation<?> call : own) {
			String arguments = call.getArguments().stream().map(CtElement::toString).collect(Collectors.joining(", "));
			String bridge = uses.bridges.name(call);
			String name = bridge != null ? Variables.SELF + "." + bridge : copiedName(call.getExecutable().getSimpleName());
			String text = name + "(" + arguments + ")";
			if (isStatement(call)) {
				CtStatement statement = call.getFactory().createCodeSnippetStatement(text);
				unused.rewritten(call, statement);
				edits.replace(call, statement);
			} else {
				edits.replace(call, snippet(call, text));
			}
		}
		List<CtExpression<?>> selves = new ArrayList<>(of.getElements(new TypeFilter<CtThisAccess<?>>(CtThisAccess.class)));
		of.getElements(new TypeFilter<CtSuperAccess<?>>(CtSuperAccess.class)).stream().filter(Uses::isInherited).forEach(selves::add);
		for (CtExpression<?> access : selves) {
			CtType<?> inside = access.getParent(CtType.class);
			if (inside == null || !inside.hasParent(of) && inside != of) {
				edits.replace(access, snippet(access, Variables.SELF));
			}
		}
	}

	private static boolean isStatement(CtElement e) {
		CtRole role = e.getRoleInParent();
		return (role == CtRole.STATEMENT || role == CtRole.BODY || role == CtRole.THEN || role == CtRole.ELSE)
				&& !(e.getParent() instanceof CtConditional) || role == CtRole.FOR_UPDATE || role == CtRole.FOR_INIT;
	}

	private static String copiedName(String name) {
		return Variables.TAKEN.contains(name) ? "copied_" + name : name;
	}

	// -- writing

	private void line(int depth, String text) {
		out.append("\t".repeat(depth)).append(text).append('\n');
	}

	private void write(Payload payload, String result) throws IOException {
		String returned = returned(result);
		if (!payload.isUnnamed) {
			line(0, "package " + payload.packageName + ";");
			line(0, "");
		}
		line(0, "import java.util.concurrent.TimeUnit;");
		line(0, "import locusbench.record.Inputs;");
		line(0, "import org.openjdk.jmh.annotations.*;");
		line(0, "import org.openjdk.jmh.infra.Blackhole;");
		line(0, "");
		line(0, "/**");
		line(0, " * Measures lines " + payload.firstLine + " to " + payload.lastLine + " of " + payload.originalClass + "."
				+ payload.originalMethod + ", with what the program had there.");
		line(0, " */");
		forJmh(0, "@State(Scope.Thread)");
		forJmh(0, "@BenchmarkMode(Mode.AverageTime)");
		forJmh(0, "@OutputTimeUnit(TimeUnit.NANOSECONDS)");
		line(0, "@SuppressWarnings({\"unchecked\", \"rawtypes\", \"cast\", \"deprecation\"})");
		line(0, "public class " + payload.className
				+ (payload.isUnnamed ? " extends " + payload.packageName + "." + payload.className + ".Segment {" : " {"));
		constants();
		fields();
		load();
		benchmark(result, returned);
		outputs(result);
		methods();
		line(0, "}");
		if (payload.isUnnamed) {
			boolean primitive = returned == null || !boxed(returned).equals(returned);
			payload.others.put(payload.packageName + "/" + payload.className + ".java", new Template("project/Unnamed.java.txt")
					.with("CLASS", payload.className).with("LEVEL", level()).with("ALONE", hasLoop() ? "\t" + ALONE + "\n" : "").with("ORIGINAL", payload.originalClass)
					.with("RETURNED", returned == null ? "void" : primitive ? returned : "Object")
					.with("RETURN", returned == null ? "" : "return ").text());
		}
	}

	/** A line that a class of the unnamed package has not, since JMH takes none of it: Unnamed.java.txt calls that one. */
	private void forJmh(int depth, String text) {
		if (!uses.packageName.isEmpty()) {
			line(depth, text);
		}
	}

	private boolean hasLoop() {
		return !segment.statement.getElements(new TypeFilter<CtLoop>(CtLoop.class)).isEmpty();
	}

	private String level() {
		return variables.loadsAgain ? "Invocation" : "Trial";
	}

	private void constants() {
		for (CtVariable<?> constant : variables.constants) {
			if (constant instanceof CtField) {
				line(1, "private static final " + Types.text(constant.getType()) + " "
						+ variables.fieldNames.get(constant.getSimpleName()) + " = " + constant.getDefaultExpression() + ";");
			}
		}
	}

	private void fields() {
		for (int i = 0; i < variables.inputs.size(); i++) {
			Variables.Input input = variables.inputs.get(i);
			if (input.isOfSelf()) {
				continue;
			} else if (input.isFinal) {
				line(1, "private static final " + input.type + " " + input.name + " = (" + boxed(input.type)
						+ ") values(0)[" + i + "];");
			} else {
				line(1, (input.isStatic ? "static " : "") + (input.isVolatile ? "volatile " : "") + input.type + " " + input.name + ";");
			}
		}
		for (Variables.Input input : variables.resetVariables) {
			line(1, "private " + input.type + " reset_" + input.plainName() + ";");
		}
		for (Variables.Input input : variables.resetArrays) {
			line(1, "private " + input.type + " elements_" + input.plainName() + ";");
			line(1, "private locusbench.record.Elements changes_" + input.plainName() + ";");
		}
		forJmh(1, "/** Which of the recorded executions. */");
		forJmh(1, "@Param({/*INPUTS*/})");
		forJmh(1, "public int input;");
	}

	private static String boxed(String type) {
		switch (type) {
		case "int":
			return "Integer";
		case "char":
			return "Character";
		case "long":
		case "short":
		case "byte":
		case "boolean":
		case "float":
		case "double":
			return Character.toUpperCase(type.charAt(0)) + type.substring(1);
		default:
			return type;
		}
	}

	private void load() {
		line(0, "");
		if (variables.loadsAgain) {
			line(1, "/** Before each call, since the segment changes what it branches by, or computes floating-point numbers from; that is not measured. */");
			notes.add("state that the segment changes, and by which it branches or from which it computes floating-point numbers, is put back before each call, outside what is"
					+ " measured: below some microseconds a call the time is not to be trusted");
		}
		if (!variables.loadsAgain && !variables.goesOn.isEmpty()) {
			notes.add("a call finds " + String.join(", ", variables.goesOn) + " as the call before has left it: by that it takes no other branch");
		}
		forJmh(1, "@Setup(Level." + level() + ")");
		line(1, "public void load() {");
		line(2, "Object[] values = values(input);");
		for (int i = 0; i < variables.inputs.size(); i++) {
			Variables.Input input = variables.inputs.get(i);
			if (!input.isFinal && !input.isOfSelf()) {
				line(2, input.name + " = (" + boxed(input.type) + ") values[" + i + "];");
			}
		}
		for (Variables.Input input : variables.resetVariables) {
			line(2, "reset_" + input.plainName() + " = " + input.name + ";");
		}
		for (Variables.Input input : variables.resetArrays) {
			line(2, "elements_" + input.plainName() + " = " + input.name + ".clone();");
			line(2, "changes_" + input.plainName() + " = new locusbench.record.Elements(elements_" + input.plainName() + ");");
		}
		line(1, "}");
		line(0, "");
		line(1, "/** What the program had when the segment began, in their order. */");
		line(1, "private static Object[] values(int input) {");
		line(2, Project.VALUES);
		line(2, "return Inputs.load().values(input);");
		line(1, "}");
	}

	private void begin() {
		for (Variables.Input input : variables.resetVariables) {
			line(2, input.name + " = reset_" + input.plainName() + ";");
		}
		for (Variables.Input input : variables.resetArrays) {
			line(2, "for (int at : changes_" + input.plainName() + ".toPutBack(" + input.name + ")) {");
			line(3, input.name + "[at] = elements_" + input.plainName() + "[at];");
			line(2, "}");
		}
		for (CtVariable<?> constant : variables.constants) {
			if (!(constant instanceof CtField)) {
				line(2, Types.text(constant.getType()) + " " + constant.getSimpleName() + " = " + constant.getDefaultExpression() + ";");
			}
		}
		for (Variables.Input input : variables.inputs) {
			if (input.isLocal()) {
				line(2, input.type + " " + input.variable.getSimpleName() + " = " + input.name + ";");
			}
		}
		for (CtVariable<?> variable : variables.uninitialised) {
			String type = Types.text(variable.getType());
			line(2, type + " " + variable.getSimpleName() + " = " + nothing(type) + ";");
		}
	}

	/** The segment's text, with its returns as `render` has them. */
	private String body(java.util.function.Function<CtExpression<?>, String> render, boolean consumes) {
		Edits here = new Edits();
		if (consumes) {
			unused.consume(here);
		}
		CtStatement whole = segment.statement;
		for (CtReturn<?> r : segment.returns()) {
			CtStatement rendered = r.getFactory().createCodeSnippetStatement(render.apply(r.getReturnedExpression()));
			here.replace(r, rendered);
			whole = r == segment.statement ? rendered : whole;
		}
		StringBuilder text = new StringBuilder();
		if (segment.isWholeMethod()) {
			for (CtStatement statement : ((CtBlock<?>) segment.statement).getStatements()) {
				text.append(statement).append(ends(statement)).append('\n');
			}
		} else {
			boolean isResult = consumes && whole instanceof CtInvocation && Unused.hasResult((CtInvocation<?>) whole);
			text.append(isResult ? Unused.consumed(whole.toString()) : whole).append(ends(whole)).append('\n');
		}
		here.undo();
		return text.toString();
	}

	/** The text that has to follow the statement's. */
	private static String ends(CtStatement statement) {
		boolean block = statement instanceof CtBlock || statement instanceof CtIf || statement instanceof CtLoop && !(statement instanceof CtDo)
				|| statement instanceof CtSwitch || statement instanceof CtTry || statement instanceof CtSynchronized
				|| statement instanceof CtType;
		return block || statement.toString().endsWith(";") ? "" : ";";
	}

	private void indent(String text) {
		for (String row : text.split("\n")) {
			line(2, row.replaceFirst("^((    )*)", "$1").replace("    ", "\t"));
		}
	}

	/** The type of what a call of the benchmark returns; null: nothing. */
	private String returned(String result) {
		if (!variables.consumes) {
			return null;
		}
		if (result == null && segment.returns().isEmpty() && !variables.sinks.isEmpty()) {
			return Types.text(variables.sinks.get(0).getType());
		}
		return result;
	}

	private void benchmark(String result, String returned) {
		List<CtVariable<?>> sinks = variables.sinks;
		boolean completes = Completes.normally(segment.statement);
		line(0, "");
		forJmh(1, "@Benchmark");
		if (hasLoop()) {
			forJmh(1, ALONE);
		}
		line(1, "public " + (returned == null ? "void" : returned) + " segment(Blackhole blackhole) throws Throwable {");
		begin();
		indent(body(value -> value == null ? "return"
				: variables.consumes ? "return " + value : result + " unused" + ++unconsumed + " = " + value + "; return", variables.consumes));
		if (completes && variables.consumes) {
			for (int i = result == null && returned != null ? 1 : 0; i < sinks.size(); i++) {
				line(2, "blackhole.consume(" + sinks.get(i).getSimpleName() + ");");
			}
			if (result != null) {
				line(2, "return " + nothing(result) + ";");
			} else if (returned != null) {
				line(2, "return " + sinks.get(0).getSimpleName() + ";");
			}
		}
		line(1, "}");
	}

	private static String nothing(String type) {
		String boxed = boxed(type);
		return boxed.equals(type) ? "null" : type.equals("boolean") ? "false" : type.equals("char") ? "'\\0'" : "0";
	}

	/** A value that will be boxed as one of this type. */
	private static String asType(String type, CtExpression<?> value) {
		boolean is = boxed(type).equals(type) || value.getType() != null && value.getType().toString().equals(type);
		return is ? value.toString() : "(" + type + ") (" + value + ")";
	}

	/** Writes the segment's outputs for the regression test: the value it returns, then the variables it changes. */
	private void outputs(String result) {
		String left = variables.outputs.stream().map(o -> ", " + o.inBenchmark).collect(Collectors.joining());
		line(0, "");
		line(1, "/** Runs the segment once, and returns what it leaves: for the regression test. */");
		line(1, "public Object[] outputs() throws Throwable {");
		begin();
		indent(body(value -> "return new Object[] {" + (value == null ? "null" : asType(result, value)) + left + "}", false));
		if (Completes.normally(segment.statement)) {
			line(2, "return new Object[] {null" + left + "};");
		}
		line(1, "}");
	}

	private void methods() {
		boolean overridable = false;
		for (CtMethod<?> original : uses.methods) {
			CtMethod<?> method = original.clone();
			overridable |= !method.hasModifier(ModifierKind.PRIVATE) && !method.hasModifier(ModifierKind.STATIC)
					&& !method.hasModifier(ModifierKind.FINAL) && !segment.type.hasModifier(ModifierKind.FINAL);
			method.setVisibility(ModifierKind.PRIVATE);
			method.removeModifier(ModifierKind.ABSTRACT);
			method.setAnnotations(new ArrayList<>());
			method.setDocComment("");
			method.setComments(new ArrayList<>());
			method.setDefaultMethod(false);
			method.setSimpleName(copiedName(method.getSimpleName()));
			line(0, "");
			for (String row : method.toString().split("\n")) {
				line(1, row.replace("    ", "\t"));
			}
		}
		if (overridable) {
			notes.add("methods of " + segment.type.getSimpleName() + " are copied as they are there: that no subclass"
					+ " overrides them is assumed, and tested by the recorded results alone");
		}
	}
}
