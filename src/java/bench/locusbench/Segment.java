// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import spoon.reflect.code.CtBlock;
import spoon.reflect.code.CtBodyHolder;
import spoon.reflect.code.CtComment;
import spoon.reflect.code.CtLambda;
import spoon.reflect.code.CtLoop;
import spoon.reflect.code.CtReturn;
import spoon.reflect.code.CtStatement;
import spoon.reflect.cu.SourcePosition;
import spoon.reflect.declaration.CtAnonymousExecutable;
import spoon.reflect.declaration.CtConstructor;
import spoon.reflect.declaration.CtElement;
import spoon.reflect.declaration.CtExecutable;
import spoon.reflect.declaration.CtMethod;
import spoon.reflect.declaration.CtType;
import spoon.reflect.path.CtRole;
import spoon.reflect.reference.CtTypeReference;
import spoon.reflect.visitor.filter.TypeFilter;

/** The part of a method that becomes a benchmark: one statement, which may be a loop, or the whole body. */
final class Segment {
	static final String MARK = "@bench-this";
	private static final double ENOUGH = 0.8; // of the method's samples

	final CtType<?> type;
	final CtExecutable<?> method;
	final CtStatement statement; // the body, a CtBlock, where it is the whole method

	private Segment(CtType<?> type, CtExecutable<?> method, CtStatement statement) {
		this.type = type;
		this.method = method;
		this.statement = statement;
	}

	/** The returns of the segment itself, not of a lambda or class inside. */
	List<CtReturn<?>> returns() {
		List<CtReturn<?>> found = new ArrayList<>();
		for (CtReturn<?> r : statement.getElements(new TypeFilter<CtReturn<?>>(CtReturn.class))) {
			if (r.getParent((CtElement e) -> e instanceof CtLambda || e instanceof CtExecutable) == method) {
				found.add(r);
			}
		}
		return found;
	}

	/** The type of what it returns; null: nothing. */
	CtTypeReference<?> returnedType() {
		return returns().stream().filter(r -> r.getReturnedExpression() != null).findFirst().map(Segment::typeOf).orElse(null);
	}

	/** The type of what is returned there; that of a lambda expression is not its own, which is its interface. */
	static CtTypeReference<?> typeOf(CtReturn<?> r) {
		CtExecutable<?> method = r.getParent(CtExecutable.class);
		return method instanceof CtLambda ? r.getReturnedExpression().getType() : method.getType();
	}

	boolean isWholeMethod() {
		return statement == method.getBody();
	}

	int firstLine() {
		return isWholeMethod() ? method.getPosition().getLine() : statement.getPosition().getLine();
	}

	int lastLine() {
		return statement.getPosition().getEndLine();
	}

	String methodName() {
		return method instanceof CtConstructor ? "<init>"
				: method instanceof CtAnonymousExecutable ? "<clinit>" : method.getSimpleName();
	}

	/** A statement that has been found. */
	static Segment of(CtStatement statement) throws Refusal {
		CtExecutable<?> method = statement.getParent(CtExecutable.class);
		if (method == null) {
			throw new Refusal(statement, "it stands in no method");
		}
		return new Segment(method.getParent(CtType.class), method, statement);
	}

	/** The whole method of that name. `parameters`: their types, such as "int,String"; null: that with most samples, if there are several. */
	static Segment ofMethod(CtType<?> type, String name, String parameters, Map<Integer, Long> samplesByLine) throws Refusal {
		List<CtExecutable<?>> all = executables(type).stream().filter(m -> m instanceof CtMethod && m.getSimpleName().equals(name) && m.getBody() != null)
				.collect(Collectors.toList());
		List<CtExecutable<?>> fitting = all.stream().filter(m -> parameters == null || hasParameters(m, parameters)).collect(Collectors.toList());
		long most = fitting.stream().mapToLong(m -> samples(m, samplesByLine)).max().orElse(0);
		if (fitting.size() > 1) {
			fitting.removeIf(m -> most == 0 || samples(m, samplesByLine) < most);
		}
		if (all.isEmpty()) {
			throw new Refusal("no method " + name + " with a body in " + type.getQualifiedName());
		} else if (fitting.isEmpty()) {
			String which = all.stream().map(m -> name + "(" + parameters(m) + ") at line " + m.getPosition().getLine()).collect(Collectors.joining(", "));
			throw new Refusal((parameters == null ? "the profile has no sample in a method " + name : "no method " + name + "(" + parameters + ")") + " of "
					+ type.getQualifiedName() + ": name one with its parameters in --at; there are " + which);
		}
		return new Segment(type, fitting.get(0), fitting.get(0).getBody());
	}

	private static String parameters(CtExecutable<?> method) {
		return method.getParameters().stream().map(p -> p.getType().getTypeErasure().getSimpleName()).collect(Collectors.joining(","));
	}

	private static boolean hasParameters(CtExecutable<?> method, String types) {
		return parameters(method).equals(types.replaceAll("\\w+\\.|\\s", "").replace("...", "[]"));
	}

	/** The statement that is marked with a comment. */
	static Segment ofMark(CtType<?> type) throws Refusal {
		for (CtComment comment : type.getElements(new TypeFilter<>(CtComment.class))) {
			CtElement of = comment.getParent();
			if (!comment.toString().contains(MARK)) {
				continue;
			}
			if (of instanceof CtMethod && ((CtMethod<?>) of).getBody() != null) {
				return new Segment(type, (CtMethod<?>) of, ((CtMethod<?>) of).getBody());
			}
			CtExecutable<?> method = of.getParent(CtExecutable.class);
			if (of instanceof CtStatement && method != null) {
				return new Segment(type, method, (CtStatement) of);
			}
		}
		throw new Refusal("no statement or method in " + type.getQualifiedName() + " is marked with " + MARK);
	}

	/**
	 * The innermost loop around the line, or the statement where there is none, grown to the enclosing loop while the
	 * segment holds less than ENOUGH of the method's samples. If the statement makes a task, the segment is the task's body.
	 */
	static Segment atLine(CtType<?> type, int line, Map<Integer, Long> samplesByLine, long methodSamples) throws Refusal {
		CtExecutable<?> method = null;
		List<CtStatement> around = List.of();
		for (CtExecutable<?> e : executables(type)) {
			boolean inner = e.getBody() != null && covers(e, line) && (method == null || inside(e, method));
			List<CtStatement> here = inner ? around(e, line) : List.of();
			if (inner && (method == null || !here.isEmpty())) { // none: the line where a lambda expression begins
				method = e;
				around = here;
			}
		}
		if (method == null) {
			throw new Refusal("no code of " + type.getQualifiedName() + " at line " + line
					+ ": its source seems to be of another version");
		}
		if (around.isEmpty()) {
			throw new Refusal("no statement at line " + line + " of " + type.getQualifiedName());
		}
		CtStatement chosen = around.get(0);
		CtExecutable<?> task = chosen instanceof CtLoop ? null : Task.in(chosen);
		if (task != null) {
			return new Segment(task.getParent(CtType.class), task, task.getBody());
		}
		for (CtStatement statement : around) {
			if (statement instanceof CtLoop) {
				chosen = statement;
				break;
			}
		}
		for (CtStatement statement : around) {
			if (methodSamples > 0 && statement instanceof CtLoop && chosen instanceof CtLoop && inside(chosen, statement)
					&& samples(chosen, samplesByLine) < ENOUGH * methodSamples) {
				chosen = statement;
			}
		}
		return new Segment(type, method, chosen);
	}

	/**
	 * Refuses a source of another version than the program's, where the profile shows it: `name` is the method that has the
	 * line in the profile, and samplesByLine has its lines. Methods that the compiler adds to a class have lines of other methods.
	 */
	void check(String name, Map<Integer, Long> samplesByLine) throws Refusal {
		if (name.isEmpty() || name.contains("$") || name.startsWith("<") || method instanceof CtLambda) {
			return;
		}
		if (!name.equals(method.getSimpleName())) {
			throw new Refusal(statement, "it is in " + methodName() + " here, and in " + name + " in the profile: the source is of another version");
		}
		for (int line : samplesByLine.keySet()) {
			if (!covers(method, line)) {
				throw new Refusal(method, name + " has lines " + method.getPosition().getLine() + " to " + method.getPosition().getEndLine()
						+ " here, and samples at line " + line + " in the profile: the source is of another version");
			}
		}
	}

	/** The segment at the same place of the same method in another version of the class. */
	Segment counterpart(CtType<?> other) throws Refusal {
		for (CtExecutable<?> candidate : executables(other)) {
			if (candidate.getBody() == null || !candidate.getSignature().equals(method.getSignature())) {
				continue;
			}
			if (isWholeMethod()) {
				return new Segment(other, candidate, candidate.getBody());
			}
			List<CtLoop> here = method.getBody().getElements(new TypeFilter<>(CtLoop.class));
			List<CtLoop> there = candidate.getBody().getElements(new TypeFilter<>(CtLoop.class));
			for (int i = 0; i < here.size(); i++) {
				if (here.get(i) == statement && here.size() == there.size()) {
					return new Segment(other, candidate, there.get(i));
				}
			}
			throw new Refusal(statement, "which part of the other version it is cannot be told, since the method has other loops there:"
					+ " compare the whole method, --at " + type.getQualifiedName() + "#" + methodName());
		}
		throw new Refusal("the version to compare with has no method " + method.getSignature() + " in " + other.getQualifiedName());
	}

	private static long samples(CtElement element, Map<Integer, Long> samplesByLine) {
		long sum = 0;
		for (Map.Entry<Integer, Long> row : samplesByLine.entrySet()) {
			sum += covers(element, row.getKey()) ? row.getValue() : 0;
		}
		return sum;
	}

	private static List<CtExecutable<?>> executables(CtType<?> type) {
		List<CtExecutable<?>> found = new ArrayList<>();
		for (CtExecutable<?> e : type.getElements(new TypeFilter<CtExecutable<?>>(CtExecutable.class))) {
			if (e.getParent(CtType.class) == type) {
				found.add(e);
			}
		}
		return found;
	}

	/** Statements of blocks of the method at the line, the innermost one first. */
	private static List<CtStatement> around(CtExecutable<?> method, int line) {
		List<CtStatement> found = new ArrayList<>();
		for (CtStatement s : method.getBody().getElements(new TypeFilter<>(CtStatement.class))) {
			boolean stands = s.getParent() instanceof CtBlock
					|| s.getParent() instanceof CtBodyHolder && s.getRoleInParent() != CtRole.FOR_INIT && s.getRoleInParent() != CtRole.FOR_UPDATE;
			stands &= s.getParent(CtExecutable.class) == method; // and not of a class inside
			if (stands && !(s instanceof CtBlock) && !(s instanceof CtComment) && covers(s, line)) {
				found.add(s);
			}
		}
		found.sort(Comparator.comparingInt(s -> s.getPosition().getSourceEnd() - s.getPosition().getSourceStart()));
		return found;
	}

	private static boolean covers(CtElement e, int line) {
		SourcePosition at = e.getPosition();
		return at.isValidPosition() && at.getLine() <= line && line <= at.getEndLine();
	}

	private static boolean inside(CtElement inner, CtElement outer) {
		return inner != outer && inner.hasParent(outer);
	}
}
