// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.util.ArrayList;
import java.util.List;
import spoon.reflect.code.CtAssignment;
import spoon.reflect.code.CtBinaryOperator;
import spoon.reflect.code.CtConstructorCall;
import spoon.reflect.code.CtExpression;
import spoon.reflect.code.CtFieldRead;
import spoon.reflect.code.CtLiteral;
import spoon.reflect.code.CtLocalVariable;
import spoon.reflect.code.CtLoop;
import spoon.reflect.code.CtNewClass;
import spoon.reflect.code.CtStatement;
import spoon.reflect.code.CtUnaryOperator;
import spoon.reflect.code.CtVariableAccess;
import spoon.reflect.code.CtVariableRead;
import spoon.reflect.code.CtVariableWrite;
import spoon.reflect.declaration.CtElement;
import spoon.reflect.declaration.CtField;
import spoon.reflect.declaration.CtVariable;
import spoon.reflect.declaration.ModifierKind;
import spoon.reflect.visitor.filter.TypeFilter;

/**
 * Tells which variables are constants where the segment begins, so that the benchmark lets the compiler fold what it folds
 * in the program, and nothing else.
 */
final class Constants {
	private Constants() {
	}

	/** Is the local variable's only value at the segment's begin one that its declaration computes from constants? */
	static boolean isConstant(CtVariable<?> variable, Segment segment) {
		if (!(variable instanceof CtLocalVariable) || !isConstant(variable.getDefaultExpression(), segment)) {
			return false;
		}
		for (CtVariableWrite<?> write : segment.method.getElements(new TypeFilter<CtVariableWrite<?>>(CtVariableWrite.class))) {
			if (write.getVariable().getDeclaration() == variable && reachesBegin(write, variable, segment.statement)) {
				return false;
			}
		}
		return true;
	}

	/**
	 * Is the local variable an empty collection or builder of the JDK, which is made where it is declared and not used until
	 * the segment begins? The benchmark makes one, as the program does.
	 */
	static boolean isMadeEmpty(CtVariable<?> variable, Segment segment) {
		CtExpression<?> made = variable.getDefaultExpression();
		if (!(variable instanceof CtLocalVariable) || !(made instanceof CtConstructorCall) || made instanceof CtNewClass
				|| !((CtConstructorCall<?>) made).getArguments().isEmpty() || !Purity.isContainer(made.getType())) {
			return false;
		}
		for (CtVariableAccess<?> access : segment.method.getElements(new TypeFilter<CtVariableAccess<?>>(CtVariableAccess.class))) {
			if (access.getVariable().getDeclaration() == variable && reachesBegin(access, variable, segment.statement)) {
				return false;
			}
		}
		return true;
	}

	/** May the use come before the segment begins, the first time or in a later turn of a loop around both? */
	private static boolean reachesBegin(CtElement use, CtElement declaration, CtStatement segment) {
		boolean within = use == segment || use.hasParent(segment);
		boolean later = within || use.getPosition().getSourceStart() > segment.getPosition().getSourceStart();
		if (!later) {
			return true;
		}
		for (CtLoop loop = segment.getParent(CtLoop.class); loop != null; loop = loop.getParent(CtLoop.class)) {
			if (!declaration.hasParent(loop.getBody() == null ? loop : loop.getBody()) && (within || use.hasParent(loop))) {
				return true;
			}
		}
		return false;
	}

	private static boolean isConstant(CtExpression<?> e, Segment segment) {
		if (e instanceof CtLiteral) {
			return ((CtLiteral<?>) e).getValue() != null;
		} else if (e instanceof CtBinaryOperator) {
			return isConstant(((CtBinaryOperator<?>) e).getLeftHandOperand(), segment)
					&& isConstant(((CtBinaryOperator<?>) e).getRightHandOperand(), segment);
		} else if (e instanceof CtUnaryOperator) {
			return isConstant(((CtUnaryOperator<?>) e).getOperand(), segment) && !(e.getParent() instanceof CtAssignment);
		} else if (e instanceof CtFieldRead) {
			CtField<?> field = ((CtFieldRead<?>) e).getVariable().getDeclaration();
			return field != null && isConstant(field);
		} else if (e instanceof CtVariableRead) {
			CtVariable<?> variable = ((CtVariableRead<?>) e).getVariable().getDeclaration();
			return variable != null && isConstant(variable, segment);
		}
		return false;
	}

	/** Is the field `static final`, and what it is initialised with made of literals and other constants? */
	static boolean isConstant(CtField<?> field) {
		return field.hasModifier(ModifierKind.STATIC) && field.hasModifier(ModifierKind.FINAL)
				&& field.getDefaultExpression() != null && isFolded(field.getDefaultExpression());
	}

	private static boolean isFolded(CtExpression<?> e) {
		if (e instanceof CtLiteral) {
			return ((CtLiteral<?>) e).getValue() != null;
		} else if (e instanceof CtBinaryOperator) {
			return isFolded(((CtBinaryOperator<?>) e).getLeftHandOperand())
					&& isFolded(((CtBinaryOperator<?>) e).getRightHandOperand());
		} else if (e instanceof CtUnaryOperator) {
			return isFolded(((CtUnaryOperator<?>) e).getOperand());
		} else if (e instanceof CtFieldRead) {
			CtField<?> field = ((CtFieldRead<?>) e).getVariable().getDeclaration();
			return field != null && isConstant(field);
		}
		return false;
	}

	/** The constants that stand in the field's or variable's initialiser, themselves among them, in order of need. */
	static List<CtVariable<?>> needed(List<CtVariable<?>> constants) {
		List<CtVariable<?>> all = new ArrayList<>();
		for (CtVariable<?> constant : constants) {
			add(constant, all);
		}
		return all;
	}

	private static void add(CtVariable<?> constant, List<CtVariable<?>> all) {
		for (CtVariableRead<?> read : constant.getDefaultExpression().getElements(
				new TypeFilter<CtVariableRead<?>>(CtVariableRead.class))) {
			CtVariable<?> other = read.getVariable().getDeclaration();
			if (other != null) {
				add(other, all);
			}
		}
		Uses.addOnce(all, constant);
	}
}
