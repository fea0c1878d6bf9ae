// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.util.concurrent.Callable;
import java.util.concurrent.ForkJoinTask;
import spoon.reflect.code.CtConstructorCall;
import spoon.reflect.code.CtExpression;
import spoon.reflect.code.CtInvocation;
import spoon.reflect.code.CtLambda;
import spoon.reflect.code.CtNewClass;
import spoon.reflect.code.CtStatement;
import spoon.reflect.declaration.CtExecutable;
import spoon.reflect.declaration.CtMethod;
import spoon.reflect.declaration.CtType;
import spoon.reflect.reference.CtTypeReference;
import spoon.reflect.visitor.filter.TypeFilter;

/** Finds what a task does, where a statement makes one: profiles know tasks by the place where they are made. */
final class Task {
	private static final String TAKES_TASK = "submit|execute|invoke.*|schedule.*|.*Async|runAfter.*|fork|start";
	private static final String BODY = "run|call|compute|exec";

	private Task() {
	}

	/** The method, or the lambda expression, whose body is the task of the statement; null: it makes none, or of a class elsewhere. */
	static CtExecutable<?> in(CtStatement statement) {
		for (CtExpression<?> e : statement.getElements(new TypeFilter<CtExpression<?>>(CtExpression.class))) {
			if (e instanceof CtLambda && ((CtLambda<?>) e).getBody() != null && isGiven(e)) {
				return (CtLambda<?>) e;
			} else if (e instanceof CtConstructorCall && isTask(e.getType())) {
				CtType<?> of = e instanceof CtNewClass ? ((CtNewClass<?>) e).getAnonymousClass() : e.getType().getDeclaration();
				CtMethod<?> body = of == null ? null : body(of);
				if (body != null) {
					return body;
				}
			}
		}
		return null;
	}

	/** Is it handed to a method that runs tasks? */
	private static boolean isGiven(CtExpression<?> e) {
		return e.getParent() instanceof CtInvocation
				&& ((CtInvocation<?>) e.getParent()).getExecutable().getSimpleName().matches(TAKES_TASK)
				|| e.getParent() instanceof CtConstructorCall && ((CtConstructorCall<?>) e.getParent()).getType().getQualifiedName().equals("java.lang.Thread");
	}

	private static boolean isTask(CtTypeReference<?> type) {
		return type != null && (isA(type, Runnable.class) || isA(type, Callable.class) || isA(type, ForkJoinTask.class));
	}

	private static boolean isA(CtTypeReference<?> type, Class<?> of) {
		return type.isSubtypeOf(type.getFactory().Type().createReference(of));
	}

	private static CtMethod<?> body(CtType<?> type) {
		return type.getMethods().stream().filter(m -> m.getSimpleName().matches(BODY) && m.getParameters().isEmpty() && m.getBody() != null)
				.findFirst().orElse(null);
	}
}
