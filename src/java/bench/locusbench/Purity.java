// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.util.HashSet;
import java.util.Set;
import spoon.reflect.code.CtAbstractInvocation;
import spoon.reflect.code.CtArrayWrite;
import spoon.reflect.code.CtBlock;
import spoon.reflect.code.CtConstructorCall;
import spoon.reflect.code.CtFieldWrite;
import spoon.reflect.code.CtInvocation;
import spoon.reflect.declaration.CtElement;
import spoon.reflect.declaration.CtExecutable;
import spoon.reflect.declaration.CtMethod;
import spoon.reflect.declaration.ModifierKind;
import spoon.reflect.reference.CtTypeReference;
import spoon.reflect.visitor.filter.TypeFilter;

/** Tells of calls whether they change nothing that was there before. */
final class Purity {
	private static final int DEPTH_MAX = 6; // calls inside one another that are looked at

	private Purity() {
	}

	/**
	 * Is it of a class without state, or does it by its name only look? Else its body decides, where there is one and no
	 * subclass has another.
	 */
	static boolean isPure(CtInvocation<?> call) {
		return isPure(call, new HashSet<>());
	}

	private static boolean isPure(CtInvocation<?> call, Set<CtExecutable<?>> within) {
		CtTypeReference<?> owner = call.getExecutable().getDeclaringType();
		String type = owner == null ? "" : owner.getQualifiedName();
		String name = call.getExecutable().getSimpleName();
		return type.equals("java.lang.Math") || type.equals("java.lang.StrictMath") || type.equals("java.lang.String")
				|| type.equals("java.util.Objects")
				|| type.matches("java\\.lang\\.(Integer|Long|Double|Float|Short|Byte|Character|Boolean|Object)")
				|| type.matches("java\\.math\\.Big(Integer|Decimal)")
				|| name.matches("(get|is|has|contains|index|last|size|length|compare|equal|hash|to|char|value|peek).*")
				|| changesNothing(call.getExecutable().getDeclaration(), within);
	}

	/**
	 * Does it change a collection, a builder or an array by a method of the JDK whose way depends on what is in there? A list that
	 * grows, a map that has the key already, and an array that is sorted already take another one.
	 */
	static boolean branchesByContents(CtInvocation<?> call) {
		CtTypeReference<?> owner = call.getExecutable().getDeclaringType();
		String name = call.getExecutable().getSimpleName();
		return owner != null && (isContainer(owner) || owner.getQualifiedName().equals("java.util.Arrays"))
				&& name.matches("(add|append|clear|compute|delete|insert|merge|offer|parallelSort|poll|pop|push|put|remove|retain|reverse|sort).*");
	}

	/** Is it a collection, a class that works on some, or a builder, of the JDK? */
	static boolean isContainer(CtTypeReference<?> type) {
		return type.getQualifiedName().matches(
				"java\\.util\\.(concurrent\\.)?\\w*(Collections?|Deque|Hashtable|List|Map|Queue|Set|Stack|StringJoiner|Vector)|java\\.lang\\.\\w*String(Builder|Buffer)");
	}

	private static boolean changesNothing(CtExecutable<?> method, Set<CtExecutable<?>> within) {
		CtBlock<?> body = method instanceof CtMethod && isBound((CtMethod<?>) method) ? method.getBody() : null;
		if (body == null || within.size() >= DEPTH_MAX || !within.add(method)) {
			return false;
		}
		boolean pure = none(body, CtFieldWrite.class) && none(body, CtArrayWrite.class) && none(body, CtConstructorCall.class)
				&& body.getElements(new TypeFilter<CtAbstractInvocation<?>>(CtAbstractInvocation.class)).stream()
						.allMatch(c -> c instanceof CtInvocation && isPure((CtInvocation<?>) c, within));
		within.remove(method);
		return pure;
	}

	private static boolean isBound(CtMethod<?> method) {
		return method.hasModifier(ModifierKind.PRIVATE) || method.hasModifier(ModifierKind.STATIC) || method.hasModifier(ModifierKind.FINAL)
				|| method.getDeclaringType().hasModifier(ModifierKind.FINAL);
	}

	private static <T extends CtElement> boolean none(CtElement in, Class<T> kind) {
		return in.getElements(new TypeFilter<>(kind)).isEmpty();
	}
}
