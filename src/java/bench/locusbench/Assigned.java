// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import spoon.reflect.code.BinaryOperatorKind;
import spoon.reflect.code.CtAssignment;
import spoon.reflect.code.CtBinaryOperator;
import spoon.reflect.code.CtBlock;
import spoon.reflect.code.CtBreak;
import spoon.reflect.code.CtCFlowBreak;
import spoon.reflect.code.CtCase;
import spoon.reflect.code.CtCatch;
import spoon.reflect.code.CtConditional;
import spoon.reflect.code.CtContinue;
import spoon.reflect.code.CtDo;
import spoon.reflect.code.CtExpression;
import spoon.reflect.code.CtFor;
import spoon.reflect.code.CtForEach;
import spoon.reflect.code.CtIf;
import spoon.reflect.code.CtLambda;
import spoon.reflect.code.CtLiteral;
import spoon.reflect.code.CtLocalVariable;
import spoon.reflect.code.CtLoop;
import spoon.reflect.code.CtStatement;
import spoon.reflect.code.CtSwitch;
import spoon.reflect.code.CtSynchronized;
import spoon.reflect.code.CtTry;
import spoon.reflect.code.CtUnaryOperator;
import spoon.reflect.code.CtVariableWrite;
import spoon.reflect.code.CtWhile;
import spoon.reflect.code.CaseKind;
import spoon.reflect.code.UnaryOperatorKind;
import spoon.reflect.declaration.CtElement;
import spoon.reflect.declaration.CtType;
import spoon.reflect.declaration.CtVariable;

/**
 * Finds the local variables that are definitely assigned where a segment begins (JLS 16). The compiler lets the program read no
 * other one there, and the segment can read the value of no other one before it assigns to it.
 */
final class Assigned {
	/** The variables that have a value at a point; all of them where the point is not reached. */
	private static final class State {
		final boolean all;
		final Set<CtVariable<?>> variables = Collections.newSetFromMap(new IdentityHashMap<>());

		State(boolean all) {
			this.all = all;
		}

		State copy() {
			State copy = new State(all);
			copy.variables.addAll(variables);
			return copy;
		}

		/** The variables that have a value in both states. */
		State and(State other) {
			if (all || other.all) {
				return all ? other : this;
			}
			State both = copy();
			both.variables.retainAll(other.variables);
			return both;
		}

		/** The variables that have a value in either state. */
		State or(State other) {
			State either = new State(all || other.all);
			either.variables.addAll(variables);
			either.variables.addAll(other.variables);
			return either;
		}
	}

	private final CtStatement segment;
	private final Map<CtStatement, State> breaks = new IdentityHashMap<>(); // by the statement that is left
	private final Map<CtStatement, State> continues = new IdentityHashMap<>();
	private State now = new State(false);
	private State begin; // of the segment; null: it was not come to

	private Assigned(CtStatement segment) {
		this.segment = segment;
	}

	/** Has the variable of the segment's method a value where the segment begins, whichever way leads there? */
	static boolean isBefore(CtVariable<?> variable, Segment segment) {
		Assigned assigned = new Assigned(segment.statement);
		assigned.statement(segment.method.getBody());
		State begin = assigned.begin;
		return begin != null && (begin.all || begin.variables.contains(variable));
	}

	/** Runs a path from a state; the state where it ends. */
	private State from(State state, Runnable path) {
		State before = now;
		now = state.copy();
		path.run();
		State end = now;
		now = before;
		return end;
	}

	// -- statements

	private void statement(CtStatement s) {
		if (s == segment) {
			begin = now.copy();
		}
		if (s == null || begin != null || s instanceof CtType) {
			return; // the rest does not matter
		}
		if (s instanceof CtBlock) {
			((CtBlock<?>) s).getStatements().forEach(this::statement);
		} else if (s instanceof CtLocalVariable) {
			expression(((CtLocalVariable<?>) s).getDefaultExpression());
			if (((CtLocalVariable<?>) s).getDefaultExpression() != null) {
				now.variables.add((CtLocalVariable<?>) s);
			}
		} else if (s instanceof CtIf) {
			State[] ends = condition(((CtIf) s).getCondition());
			State then = from(ends[0], () -> statement(((CtIf) s).getThenStatement()));
			now = then.and(from(ends[1], () -> statement(((CtIf) s).getElseStatement())));
		} else if (s instanceof CtLoop) {
			loop((CtLoop) s);
		} else if (s instanceof CtSwitch) {
			choice((CtSwitch<?>) s);
		} else if (s instanceof CtTry) {
			attempt((CtTry) s);
		} else if (s instanceof CtSynchronized) {
			expression(((CtSynchronized) s).getExpression());
			statement(((CtSynchronized) s).getBlock());
		} else if (s instanceof CtCFlowBreak) {
			leave(s);
		} else if (s instanceof CtExpression) {
			expression((CtExpression<?>) s);
		}
		now = s instanceof CtLoop || s instanceof CtSwitch || breaks.get(s) == null ? now : now.and(breaks.get(s)); // labelled
	}

	private void loop(CtLoop loop) {
		State end = now;
		if (loop instanceof CtFor) {
			((CtFor) loop).getForInit().forEach(this::statement);
			end = turn(((CtFor) loop).getExpression(), loop.getBody());
		} else if (loop instanceof CtWhile) {
			end = turn(((CtWhile) loop).getLoopingExpression(), loop.getBody());
		} else if (loop instanceof CtForEach) {
			expression(((CtForEach) loop).getExpression());
			end = now;
			from(now, () -> statement(loop.getBody()));
		} else if (loop instanceof CtDo) {
			statement(loop.getBody());
			now = now.and(continues.getOrDefault(loop, new State(true)));
			end = condition(((CtDo) loop).getLoopingExpression())[1];
		}
		now = end.and(breaks.getOrDefault(loop, new State(true)));
	}

	/** A turn of a loop; the state where its condition is false. */
	private State turn(CtExpression<?> condition, CtStatement body) {
		State[] ends = condition == null ? new State[] {now, new State(true)} : condition(condition);
		from(ends[0], () -> statement(body));
		return ends[1];
	}

	private void choice(CtSwitch<?> s) {
		expression(s.getSelector());
		State chosen = now;
		State end = new State(true);
		boolean hasDefault = false;
		for (CtCase<?> c : s.getCases()) {
			hasDefault |= c.getCaseExpressions().isEmpty();
			boolean arrow = c.getCaseKind() == CaseKind.ARROW;
			State through = arrow ? chosen : chosen.and(end);
			State behind = from(through, () -> c.getStatements().forEach(this::statement));
			end = arrow ? end.and(behind) : behind;
		}
		now = (hasDefault ? end : end.and(chosen)).and(breaks.getOrDefault(s, new State(true)));
	}

	private void attempt(CtTry s) {
		State before = now.copy();
		s.getDirectChildren().stream().filter(CtLocalVariable.class::isInstance).forEach(r -> statement((CtStatement) r));
		statement(s.getBody());
		State end = now;
		for (CtCatch c : s.getCatchers()) {
			end = end.and(from(before, () -> statement(c.getBody())));
		}
		now = s.getFinalizer() == null ? end : end.or(from(before, () -> statement(s.getFinalizer())));
	}

	/** A break, continue, return, throw or yield: nothing goes on behind it. */
	private void leave(CtStatement s) {
		s.getDirectChildren().stream().filter(CtExpression.class::isInstance).forEach(e -> expression((CtExpression<?>) e));
		boolean isBreak = s instanceof CtBreak;
		if (isBreak || s instanceof CtContinue) {
			String label = isBreak ? ((CtBreak) s).getTargetLabel() : ((CtContinue) s).getTargetLabel();
			CtStatement to = (CtStatement) s.getParent((CtElement e) -> e instanceof CtStatement && (label != null ? label.equals(((CtStatement) e).getLabel())
					: e instanceof CtLoop || isBreak && e instanceof CtSwitch));
			(isBreak ? breaks : continues).merge(to, now, State::and);
		}
		now = new State(true);
	}

	// -- expressions

	private void expression(CtElement e) {
		if (e instanceof CtAssignment && ((CtAssignment<?, ?>) e).getAssigned() instanceof CtVariableWrite) {
			CtAssignment<?, ?> a = (CtAssignment<?, ?>) e;
			expression(a.getAssignment());
			now.variables.add(((CtVariableWrite<?>) a.getAssigned()).getVariable().getDeclaration());
		} else if (e instanceof CtConditional || e instanceof CtBinaryOperator || e instanceof CtUnaryOperator) {
			State[] ends = condition((CtExpression<?>) e);
			now = ends[0].and(ends[1]);
		} else if (e instanceof CtCase) { // of a switch that is a value
			State before = now;
			now = from(before, () -> ((CtCase<?>) e).getStatements().forEach(this::statement)).and(before);
		} else if (e != null && !(e instanceof CtLambda) && !(e instanceof CtType)) {
			e.getDirectChildren().forEach(this::expression);
		}
	}

	/** The states where the expression is true and false; they are one where it is no condition. */
	private State[] condition(CtExpression<?> e) {
		if (e instanceof CtLiteral && ((CtLiteral<?>) e).getValue() instanceof Boolean) {
			boolean value = (Boolean) ((CtLiteral<?>) e).getValue();
			return new State[] {value ? now : new State(true), value ? new State(true) : now};
		} else if (e instanceof CtUnaryOperator && ((CtUnaryOperator<?>) e).getKind() == UnaryOperatorKind.NOT) {
			State[] ends = condition(((CtUnaryOperator<?>) e).getOperand());
			return new State[] {ends[1], ends[0]};
		} else if (e instanceof CtBinaryOperator) {
			return binary((CtBinaryOperator<?>) e);
		} else if (e instanceof CtConditional) {
			CtConditional<?> c = (CtConditional<?>) e;
			State[] ends = condition(c.getCondition());
			State[] then = after(ends[0], () -> condition(c.getThenExpression()));
			State[] other = after(ends[1], () -> condition(c.getElseExpression()));
			return new State[] {then[0].and(other[0]), then[1].and(other[1])};
		} else if (e instanceof CtUnaryOperator) {
			expression(((CtUnaryOperator<?>) e).getOperand());
		} else {
			expression(e);
		}
		return new State[] {now, now};
	}

	private State[] binary(CtBinaryOperator<?> b) {
		boolean and = b.getKind() == BinaryOperatorKind.AND;
		if (!and && b.getKind() != BinaryOperatorKind.OR) {
			expression(b.getLeftHandOperand());
			expression(b.getRightHandOperand());
			return new State[] {now, now};
		}
		State[] left = condition(b.getLeftHandOperand());
		State[] right = after(left[and ? 0 : 1], () -> condition(b.getRightHandOperand()));
		return and ? new State[] {right[0], left[1].and(right[1])} : new State[] {left[0].and(right[0]), right[1]};
	}

	private State[] after(State state, Supplier<State[]> condition) {
		State before = now;
		now = state.copy();
		State[] ends = condition.get();
		now = before;
		return ends;
	}
}
