// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import spoon.reflect.code.CtAssignment;
import spoon.reflect.code.CtBlock;
import spoon.reflect.code.CtCase;
import spoon.reflect.code.CtExpression;
import spoon.reflect.code.CtInvocation;
import spoon.reflect.code.CtLambda;
import spoon.reflect.code.CtLiteral;
import spoon.reflect.code.CtLocalVariable;
import spoon.reflect.code.CtOperatorAssignment;
import spoon.reflect.code.CtStatement;
import spoon.reflect.code.CtVariableRead;
import spoon.reflect.code.CtVariableWrite;
import spoon.reflect.declaration.CtElement;
import spoon.reflect.declaration.CtExecutable;
import spoon.reflect.declaration.CtVariable;
import spoon.reflect.visitor.filter.TypeFilter;

/**
 * Has the benchmark consume results that the segment computes and drops: of calls that change nothing, and values of variables
 * that are gone behind the segment and that nothing reads. The compiler would remove the computation.
 */
final class Unused {
	private final CtStatement segment;
	private final Set<CtVariable<?>> read = Collections.newSetFromMap(new IdentityHashMap<>());
	private final Set<CtStatement> dropped = Collections.newSetFromMap(new IdentityHashMap<>()); // calls, as they are rewritten

	/** Looks at the segment before it is rewritten. */
	Unused(CtStatement segment) {
		this.segment = segment;
		for (CtVariableRead<?> r : segment.getElements(new TypeFilter<CtVariableRead<?>>(CtVariableRead.class))) {
			CtVariable<?> variable = r.getVariable().getDeclaration();
			if (variable != null) {
				read.add(variable);
			}
		}
	}

	/** A call that is a statement becomes another statement. */
	void rewritten(CtInvocation<?> call, CtStatement statement) {
		if (isDropped(call)) {
			dropped.add(statement);
		}
	}

	void consume(Edits edits) {
		for (CtStatement s : segment.getElements(new TypeFilter<>(CtStatement.class))) {
			String value = s.isParentInitialized() && isPlain(s) ? dropped.contains(s) ? consumed(s.toString()) : value(s) : null;
			if (value != null) {
				edits.replace(s, s.getFactory().createCodeSnippetStatement(value));
			}
		}
	}

	/** Is it a statement of a block of the segment itself, behind which another one may stand? */
	private boolean isPlain(CtStatement s) {
		return s != segment && (s.getParent() instanceof CtBlock || s.getParent() instanceof CtCase) && !(s.getParent().getParent() instanceof CtLambda)
				&& s.getParent(CtExecutable.class) == segment.getParent(CtExecutable.class);
	}

	/** Has the call, which is a statement, a result and no effect? */
	private static boolean isDropped(CtInvocation<?> call) {
		return hasResult(call) && Purity.isPure(call);
	}

	static boolean hasResult(CtInvocation<?> call) {
		return call.getType() != null && !call.getType().getSimpleName().equals("void");
	}

	/** The statement with its result consumed; null: it has none, or something needs it. */
	private String value(CtStatement s) {
		if (s instanceof CtInvocation) {
			return isDropped((CtInvocation<?>) s) ? consumed(s.toString()) : null;
		} else if (s instanceof CtLocalVariable) {
			CtLocalVariable<?> variable = (CtLocalVariable<?>) s;
			boolean isDropped = computes(variable.getDefaultExpression()) && isGone(variable);
			return isDropped ? s + "; " + consumed(variable.getSimpleName()) : null;
		} else if (s instanceof CtAssignment && !(s instanceof CtOperatorAssignment) && ((CtAssignment<?, ?>) s).getAssigned() instanceof CtVariableWrite) {
			CtAssignment<?, ?> a = (CtAssignment<?, ?>) s;
			CtVariable<?> variable = ((CtVariableWrite<?>) a.getAssigned()).getVariable().getDeclaration();
			return computes(a.getAssignment()) && variable instanceof CtLocalVariable && isGone(variable) ? consumed(s.toString()) : null;
		}
		return null;
	}

	static String consumed(String value) {
		return "blackhole.consume(" + value + ")";
	}

	private static boolean computes(CtExpression<?> e) {
		return e != null && !(e instanceof CtLiteral) && !(e instanceof CtVariableRead);
	}

	/** Is the variable one of a block inside the segment, whose value nothing reads? */
	private boolean isGone(CtVariable<?> variable) {
		CtElement block = variable.getParent();
		return variable.hasParent(segment) && block != segment && !read.contains(variable);
	}
}
