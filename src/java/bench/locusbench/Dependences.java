// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import spoon.reflect.code.BinaryOperatorKind;
import spoon.reflect.code.CtAbstractInvocation;
import spoon.reflect.code.CtArrayAccess;
import spoon.reflect.code.CtAssignment;
import spoon.reflect.code.CtBinaryOperator;
import spoon.reflect.code.CtBlock;
import spoon.reflect.code.CtBreak;
import spoon.reflect.code.CtCase;
import spoon.reflect.code.CtCatch;
import spoon.reflect.code.CtConditional;
import spoon.reflect.code.CtContinue;
import spoon.reflect.code.CtDo;
import spoon.reflect.code.CtExpression;
import spoon.reflect.code.CtFieldAccess;
import spoon.reflect.code.CtFor;
import spoon.reflect.code.CtForEach;
import spoon.reflect.code.CtIf;
import spoon.reflect.code.CtInvocation;
import spoon.reflect.code.CtLocalVariable;
import spoon.reflect.code.CtOperatorAssignment;
import spoon.reflect.code.CtReturn;
import spoon.reflect.code.CtStatement;
import spoon.reflect.code.CtSuperAccess;
import spoon.reflect.code.CtSwitch;
import spoon.reflect.code.CtThisAccess;
import spoon.reflect.code.CtThrow;
import spoon.reflect.code.CtTry;
import spoon.reflect.code.CtUnaryOperator;
import spoon.reflect.code.CtVariableAccess;
import spoon.reflect.code.CtWhile;
import spoon.reflect.code.UnaryOperatorKind;
import spoon.reflect.declaration.CtElement;
import spoon.reflect.declaration.CtExecutable;
import spoon.reflect.declaration.CtMethod;
import spoon.reflect.declaration.CtParameter;
import spoon.reflect.declaration.CtVariable;
import spoon.reflect.reference.CtArrayTypeReference;
import spoon.reflect.reference.CtTypeReference;

/**
 * Walks through a segment and makes its graph of values: which values keep all computations alive, and which variables have to be
 * put back before each call. Methods whose source is at hand are walked through too; of others it is assumed that they
 * change the object they are called on and what they are given, unless the name or the class says otherwise.
 *
 * The file is longer than 600 lines: it has a part for each kind of expression and statement of Java.
 */
final class Dependences {
	private static final int DEPTH_MAX = 4; // calls inside one another that are walked through

	/** The contents of what a variable refers to. */
	static final class Contents {
		final Object of;

		Contents(Object of) {
			this.of = of;
		}

		@Override
		public boolean equals(Object other) {
			return other instanceof Contents && ((Contents) other).of.equals(of);
		}

		@Override
		public int hashCode() {
			return of.hashCode() * 31 + 1;
		}

		@Override
		public String toString() {
			return of + "[]";
		}
	}

	/** A local variable or parameter; the library's own equality is that of the text. */
	static final class Local {
		final CtVariable<?> variable;

		Local(CtVariable<?> variable) {
			this.variable = variable;
		}

		@Override
		public boolean equals(Object other) {
			return other instanceof Local && ((Local) other).variable == variable;
		}

		@Override
		public int hashCode() {
			return System.identityHashCode(variable);
		}

		@Override
		public String toString() {
			return variable.getSimpleName();
		}
	}

	/** A field of this class: of `this` or static. */
	static final class Field {
		final String name;

		Field(String name) {
			this.name = name;
		}

		@Override
		public boolean equals(Object other) {
			return other instanceof Field && ((Field) other).name.equals(name);
		}

		@Override
		public int hashCode() {
			return name.hashCode();
		}

		@Override
		public String toString() {
			return name;
		}
	}

	private final ValueGraph values = new ValueGraph();
	private final Map<Object, Object> aliases = new HashMap<>(); // contents are those of another variable
	private final List<Collection<ValueGraph.Value>> chosenBy = new ArrayList<>(); // the conditions around
	private final Set<ValueGraph.Value> results = new LinkedHashSet<>();
	private final Set<CtExecutable<?>> open = Collections.newSetFromMap(new IdentityHashMap<>());
	private final Set<Object> inner = new HashSet<>(); // variables that are gone behind the segment
	private final CtStatement segment;
	private final Set<Object> looked = new HashSet<>(); // Contents of which an element or field is read
	private final Set<Object> floating = new HashSet<>(); // Fields and Contents that a floating-point number is stored to
	private final Set<ValueGraph.Value> effects = new LinkedHashSet<>(); // values that leave the segment by themselves

	Dependences(CtStatement segment) {
		this.segment = segment;
		statement(segment);
	}

	/**
	 * The least set of values of local variables that keeps all that is computed alive. Fields and contents of objects
	 * outlive the segment anyhow.
	 */
	List<ValueGraph.Value> sinks() {
		List<ValueGraph.Value> candidates = new ArrayList<>();
		List<ValueGraph.Value> kept = new ArrayList<>(results);
		kept.addAll(effects);
		for (Map.Entry<Object, ValueGraph.Value> row : values.last().entrySet()) {
			if (!(row.getKey() instanceof Local)) {
				kept.add(row.getValue());
			} else if (!inner.contains(row.getKey())) {
				candidates.add(row.getValue());
			}
		}
		return ValueGraph.sinks(candidates, kept);
	}

	/** Local variables, Fields and Contents that the segment leaves otherwise than they were. */
	Set<Object> assigned() {
		return values.last().keySet();
	}

	/**
	 * The variables to put back before each call: those that decide which way a later call goes, and floating-point numbers that a call
	 * computes from those it finds, which would become denormal, infinite or NaN, and take another time.
	 */
	Set<Object> resets() {
		Set<Object> found = new LinkedHashSet<>(carried());
		found.retainAll(floating);
		found.addAll(values.resets());
		return found;
	}

	/** Fields and Contents that a later call would find otherwise than the first one, and use. */
	Set<Object> carried() {
		Set<Object> found = values.carried();
		found.removeIf(key -> key instanceof Contents ? !looked.contains(key) : !(key instanceof Field));
		return found;
	}

	// -- keys

	private Object key(CtVariableAccess<?> access) {
		if (access instanceof CtFieldAccess) {
			return new Field(access.getVariable().getSimpleName());
		}
		CtVariable<?> declaration = access.getVariable().getDeclaration();
		return declaration != null ? new Local(declaration) : access.getVariable().getSimpleName();
	}

	private Contents contents(Object variable) {
		Object at = variable;
		while (aliases.containsKey(at)) {
			at = aliases.get(at);
		}
		return new Contents(at);
	}

	/** Is it a field of `this`, or a static one? */
	static boolean isOwnField(CtFieldAccess<?> access) {
		CtExpression<?> target = access.getTarget();
		return target == null || target instanceof CtThisAccess || target instanceof CtSuperAccess
				|| access.getVariable().isStatic();
	}

	/** The variable by which the object is reached: `a` of a[i][j], `head` of head.next.next; null: none. */
	private Object root(CtExpression<?> e) {
		CtExpression<?> at = e;
		while (true) {
			if (at instanceof CtFieldAccess && isOwnField((CtFieldAccess<?>) at)) {
				return key((CtFieldAccess<?>) at);
			} else if (at instanceof CtFieldAccess) {
				at = ((CtFieldAccess<?>) at).getTarget();
			} else if (at instanceof CtThisAccess || at instanceof CtSuperAccess) {
				return "this";
			} else if (at instanceof CtVariableAccess) {
				return key((CtVariableAccess<?>) at);
			} else if (at instanceof CtArrayAccess) {
				at = ((CtArrayAccess<?, ?>) at).getTarget();
			} else if (at instanceof CtInvocation) {
				at = ((CtInvocation<?>) at).getTarget();
			} else {
				return null;
			}
		}
	}

	// -- expressions: the values that one depends on

	private Set<ValueGraph.Value> expression(CtExpression<?> e) {
		Set<ValueGraph.Value> from = new LinkedHashSet<>();
		if (e == null || e instanceof CtSuperAccess) {
			return from;
		}
		if (e instanceof CtAssignment) {
			return assignment((CtAssignment<?, ?>) e);
		} else if (e instanceof CtUnaryOperator) {
			return unary((CtUnaryOperator<?>) e);
		} else if (e instanceof CtBinaryOperator) {
			return binary((CtBinaryOperator<?>) e);
		} else if (e instanceof CtConditional) {
			return conditional((CtConditional<?>) e);
		} else if (e instanceof CtInvocation) {
			return invocation((CtInvocation<?>) e);
		} else if (e instanceof CtFieldAccess && !isOwnField((CtFieldAccess<?>) e)) {
			CtExpression<?> target = ((CtFieldAccess<?>) e).getTarget();
			from.addAll(expression(target));
			if (!(target.getType() instanceof CtArrayTypeReference)) { // the length of an array never changes
				read(from, root(target));
			}
			return from;
		} else if (e instanceof CtVariableAccess) {
			from.add(values.read(key((CtVariableAccess<?>) e)));
			return from;
		} else if (e instanceof CtArrayAccess) {
			CtArrayAccess<?, ?> access = (CtArrayAccess<?, ?>) e;
			from.addAll(expression(access.getTarget()));
			from.addAll(index(access.getIndexExpression()));
			read(from, root(access.getTarget()));
			return from;
		}
		for (CtElement child : e.getDirectChildren()) {
			from.addAll(inside(child));
		}
		return from;
	}

	/** An index decides too: one out of bounds ends the segment. */
	private Set<ValueGraph.Value> index(CtExpression<?> e) {
		Set<ValueGraph.Value> from = expression(e);
		values.condition(from);
		return from;
	}

	private Set<ValueGraph.Value> inside(CtElement child) {
		Set<ValueGraph.Value> from = new LinkedHashSet<>();
		if (child instanceof CtTypeReference) {
			return from;
		} else if (child instanceof CtExpression) {
			from.addAll(expression((CtExpression<?>) child));
		} else if (child instanceof CtStatement) {
			statement((CtStatement) child);
		} else {
			for (CtElement deeper : child.getDirectChildren()) {
				from.addAll(inside(deeper));
			}
		}
		return from;
	}

	private void read(Set<ValueGraph.Value> from, Object root) {
		if (root != null) {
			looked.add(contents(root));
			from.add(values.read(contents(root)));
		}
	}

	private void store(CtExpression<?> to, Set<ValueGraph.Value> from) {
		if (to instanceof CtArrayAccess) {
			from.addAll(expression(((CtArrayAccess<?, ?>) to).getTarget()));
			from.addAll(index(((CtArrayAccess<?, ?>) to).getIndexExpression()));
			change(root(((CtArrayAccess<?, ?>) to).getTarget()), from, to.getType());
		} else if (to instanceof CtFieldAccess && !isOwnField((CtFieldAccess<?>) to)) {
			from.addAll(expression(((CtFieldAccess<?>) to).getTarget()));
			change(root(((CtFieldAccess<?>) to).getTarget()), from, to.getType());
		} else if (to instanceof CtVariableAccess) {
			Object key = key((CtVariableAccess<?>) to);
			values.assign(key, from);
			noteFloating(key, to.getType());
		}
	}

	private void noteFloating(Object key, CtTypeReference<?> type) {
		if (type != null && type.getQualifiedName().matches("(double|float)(\\[\\])*")) {
			floating.add(key);
		}
	}

	/** Something of this type in the object has been changed. */
	private void change(Object root, Set<ValueGraph.Value> from, CtTypeReference<?> type) {
		if (root == null) {
			effects.addAll(from);
			return;
		}
		Set<ValueGraph.Value> all = new LinkedHashSet<>(from);
		all.add(values.read(contents(root)));
		values.assign(contents(root), all);
		noteFloating(contents(root), type);
	}

	private void alias(Object variable, CtExpression<?> source) {
		Object root = source == null ? null : root(source);
		if (root == null || contents(root).equals(contents(variable))) {
			return;
		}
		Object at = contents(variable).of;
		aliases.put(at, contents(root).of);
	}

	private static boolean isReference(CtTypeReference<?> type) {
		return type == null || !type.isPrimitive();
	}

	private Set<ValueGraph.Value> assignment(CtAssignment<?, ?> a) {
		CtExpression<?> to = a.getAssigned();
		Set<ValueGraph.Value> from = expression(a.getAssignment());
		if (a instanceof CtOperatorAssignment) {
			from.addAll(expression(to));
		}
		Set<ValueGraph.Value> result = new LinkedHashSet<>(from);
		if (to instanceof CtVariableAccess && isReference(to.getType())
				&& (!(to instanceof CtFieldAccess) || isOwnField((CtFieldAccess<?>) to))) {
			alias(key((CtVariableAccess<?>) to), a.getAssignment());
		}
		store(to, from);
		return result;
	}

	private Set<ValueGraph.Value> unary(CtUnaryOperator<?> u) {
		Set<ValueGraph.Value> from = expression(u.getOperand());
		UnaryOperatorKind kind = u.getKind();
		if (kind == UnaryOperatorKind.POSTINC || kind == UnaryOperatorKind.POSTDEC || kind == UnaryOperatorKind.PREINC
				|| kind == UnaryOperatorKind.PREDEC) {
			store(u.getOperand(), new LinkedHashSet<>(from));
		}
		return from;
	}

	private Set<ValueGraph.Value> binary(CtBinaryOperator<?> b) {
		Set<ValueGraph.Value> from = expression(b.getLeftHandOperand());
		if (b.getKind() == BinaryOperatorKind.AND || b.getKind() == BinaryOperatorKind.OR) {
			values.condition(from);
			Set<ValueGraph.Value> right = new LinkedHashSet<>();
			values.join(from, Arrays.asList(() -> right.addAll(expression(b.getRightHandOperand())), () -> { }));
			from.addAll(right);
		} else {
			from.addAll(expression(b.getRightHandOperand()));
		}
		return from;
	}

	private Set<ValueGraph.Value> conditional(CtConditional<?> c) {
		Set<ValueGraph.Value> from = expression(c.getCondition());
		values.condition(from);
		Set<ValueGraph.Value> both = new LinkedHashSet<>(from);
		values.join(from, Arrays.asList(() -> both.addAll(expression(c.getThenExpression())),
				() -> both.addAll(expression(c.getElseExpression()))));
		return both;
	}

	// -- calls

	private Set<ValueGraph.Value> invocation(CtInvocation<?> call) {
		CtExecutable<?> declaration = ownMethod(call);
		if (declaration != null && open.size() < DEPTH_MAX && open.add(declaration)) {
			Set<ValueGraph.Value> from = walk(call, declaration);
			open.remove(declaration);
			return from;
		}
		Set<ValueGraph.Value> from = expression(call.getTarget());
		List<CtExpression<?>> arguments = arguments(call);
		boolean copies = call.getExecutable().getSimpleName().equals("arraycopy");
		for (CtExpression<?> argument : arguments) {
			from.addAll(copies ? index(argument) : expression(argument));
		}
		Object on = call.getTarget() == null || call.getExecutable().isStatic() ? null : root(call.getTarget());
		read(from, on);
		for (CtExpression<?> argument : arguments) {
			if (isReference(argument.getType())) {
				read(from, root(argument));
			}
		}
		if (Purity.isPure(call)) {
			return from;
		}
		boolean branches = Purity.branchesByContents(call);
		if (branches) {
			values.condition(from);
		}
		if (on != null) {
			change(on, from, call.getTarget().getType());
		} else {
			effects.addAll(from);
		}
		if (branches && on != null) {
			return from; // what is added to a collection is not changed
		}
		for (CtExpression<?> argument : arguments) {
			if (isMutable(argument.getType()) && root(argument) != null) {
				change(root(argument), from, argument.getType());
			}
		}
		return from;
	}

	private static boolean isMutable(CtTypeReference<?> type) {
		return isReference(type) && (type == null || !type.getQualifiedName().matches(
				"java\\.lang\\.(String|Integer|Long|Double|Float|Short|Byte|Character|Boolean|Class)"));
	}

	private static List<CtExpression<?>> arguments(CtAbstractInvocation<?> call) {
		return new ArrayList<>(call.getArguments());
	}

	/** A method of the class itself, called on `this` or static, whose body is known; else null. */
	static CtExecutable<?> ownMethod(CtInvocation<?> call) {
		CtExpression<?> target = call.getTarget();
		CtExecutable<?> declaration = call.getExecutable().getDeclaration();
		boolean own = target == null || target instanceof CtThisAccess || call.getExecutable().isStatic();
		return own && declaration instanceof CtMethod && declaration.getBody() != null ? declaration : null;
	}

	private Set<ValueGraph.Value> walk(CtInvocation<?> call, CtExecutable<?> method) {
		List<? extends CtParameter<?>> parameters = method.getParameters();
		List<CtExpression<?>> arguments = arguments(call);
		for (int i = 0; i < arguments.size(); i++) {
			CtParameter<?> p = parameters.isEmpty() ? null : parameters.get(Math.min(i, parameters.size() - 1));
			Set<ValueGraph.Value> from = expression(arguments.get(i));
			if (p == null) {
				continue;
			}
			Local key = new Local(p);
			values.assign(key, from);
			inner.add(key);
			if (isReference(p.getType())) {
				aliases.remove(key);
				alias(key, arguments.get(i));
			}
		}
		Set<ValueGraph.Value> outer = new LinkedHashSet<>(results);
		results.clear();
		List<Collection<ValueGraph.Value>> around = new ArrayList<>(chosenBy);
		statement(method.getBody());
		chosenBy.clear();
		chosenBy.addAll(around);
		Set<ValueGraph.Value> from = new LinkedHashSet<>(results);
		results.clear();
		results.addAll(outer);
		return from;
	}

	// -- statements

	private void chosen(Collection<ValueGraph.Value> by, List<Runnable> paths) {
		values.condition(by);
		chosenBy.add(by);
		values.join(by, paths);
		chosenBy.remove(chosenBy.size() - 1);
	}

	private void leaves() {
		for (Collection<ValueGraph.Value> by : chosenBy) {
			values.endsLoop(by);
		}
	}

	private void statement(CtStatement s) {
		if (s instanceof CtBlock) {
			((CtBlock<?>) s).getStatements().forEach(this::statement);
		} else if (s instanceof CtLocalVariable) {
			declare((CtLocalVariable<?>) s);
		} else if (s instanceof CtIf) {
			CtIf choice = (CtIf) s;
			chosen(expression(choice.getCondition()), Arrays.asList(() -> some(choice.getThenStatement()),
					() -> some(choice.getElseStatement())));
		} else if (s instanceof CtFor) {
			CtFor loop = (CtFor) s;
			loop.getForInit().forEach(this::statement);
			repeat(loop.getExpression(), loop.getBody(), loop.getForUpdate());
		} else if (s instanceof CtWhile) {
			repeat(((CtWhile) s).getLoopingExpression(), ((CtWhile) s).getBody(), List.of());
		} else if (s instanceof CtDo) {
			repeat(((CtDo) s).getLoopingExpression(), ((CtDo) s).getBody(), List.of());
		} else if (s instanceof CtForEach) {
			forEach((CtForEach) s);
		} else if (s instanceof CtSwitch) {
			List<Runnable> paths = new ArrayList<>();
			for (CtCase<?> c : ((CtSwitch<?>) s).getCases()) {
				paths.add(() -> c.getStatements().forEach(this::statement));
			}
			paths.add(() -> { });
			chosen(expression(((CtSwitch<?>) s).getSelector()), paths);
		} else if (s instanceof CtTry) {
			attempt((CtTry) s);
		} else if (s instanceof CtReturn) {
			results.addAll(expression(((CtReturn<?>) s).getReturnedExpression()));
			chosenBy.forEach(results::addAll);
			leaves();
		} else if (s instanceof CtThrow) {
			effects.addAll(expression(((CtThrow) s).getThrownExpression()));
			leaves();
		} else if (s instanceof CtBreak || s instanceof CtContinue) {
			leaves();
		} else if (s instanceof CtExpression) {
			expression((CtExpression<?>) s);
		} else if (s != null) {
			for (CtElement child : s.getDirectChildren()) {
				inside(child);
			}
		}
	}

	private void some(CtStatement s) {
		if (s != null) {
			statement(s);
		}
	}

	private void declare(CtLocalVariable<?> variable) {
		Local key = new Local(variable);
		if (variable != segment && !(segment instanceof CtBlock && variable.getParent() == segment)) {
			inner.add(key);
		}
		if (variable.getDefaultExpression() == null) {
			values.declare(key);
			return;
		}
		Set<ValueGraph.Value> from = expression(variable.getDefaultExpression());
		if (isReference(variable.getType())) {
			alias(key, variable.getDefaultExpression());
		}
		values.assign(key, from);
	}

	private void repeat(CtExpression<?> condition, CtStatement body, List<CtStatement> update) {
		values.repeat(() -> {
			Set<ValueGraph.Value> by = expression(condition);
			values.condition(by);
			values.endsLoop(by);
			chosenBy.add(by);
			some(body);
			update.forEach(this::statement);
			chosenBy.remove(chosenBy.size() - 1);
		});
	}

	private void forEach(CtForEach loop) {
		Set<ValueGraph.Value> over = expression(loop.getExpression());
		Object root = root(loop.getExpression());
		read(over, root);
		values.repeat(() -> {
			CtLocalVariable<?> variable = loop.getVariable();
			Local key = new Local(variable);
			inner.add(key);
			if (isReference(variable.getType())) {
				alias(key, loop.getExpression());
			}
			values.condition(over);
			values.endsLoop(over);
			values.assign(key, over);
			some(loop.getBody());
		});
	}

	private void attempt(CtTry s) {
		List<Runnable> paths = new ArrayList<>();
		for (CtElement child : s.getDirectChildren()) {
			if (child instanceof CtLocalVariable) {
				statement((CtStatement) child);
			}
		}
		statement(s.getBody());
		paths.add(() -> { });
		for (CtCatch c : s.getCatchers()) {
			paths.add(() -> statement(c.getBody()));
		}
		values.join(List.of(), paths);
		some(s.getFinalizer());
	}
}
