// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import spoon.reflect.code.CtExpression;
import spoon.reflect.code.CtInvocation;
import spoon.reflect.code.CtSuperAccess;
import spoon.reflect.code.CtThisAccess;
import spoon.reflect.declaration.CtExecutable;
import spoon.reflect.declaration.CtMethod;
import spoon.reflect.declaration.CtType;
import spoon.reflect.declaration.ModifierKind;
import spoon.reflect.reference.CtTypeReference;

/**
 * Methods that are added to the class of a segment, which has to be opened for them: each calls what only the class itself
 * can, a method of its superclass by `super`, or a protected one of another package. They are final, so the compiler inlines
 * them.
 */
final class Bridges {
	private final Map<CtInvocation<?>, String> names = new IdentityHashMap<>();
	private final Map<String, String> namesByText = new LinkedHashMap<>(); // of a method without its name

	static boolean isNeeded(CtInvocation<?> call, String packageName) {
		CtExpression<?> target = call.getTarget();
		if (target instanceof CtSuperAccess) {
			return target.toString().equals("super"); // not Interface.super
		}
		CtTypeReference<?> owner = call.getExecutable().getDeclaringType();
		if (target != null && !(target instanceof CtThisAccess) || owner == null || call.getExecutable().getDeclaration() != null) {
			return false;
		}
		CtExecutable<?> method = call.getExecutable().getExecutableDeclaration(); // of a class file
		return method instanceof CtMethod && ((CtMethod<?>) method).hasModifier(ModifierKind.PROTECTED) && !packageOf(owner).equals(packageName);
	}

	static String packageOf(CtTypeReference<?> type) {
		CtTypeReference<?> top = type;
		while (top.getDeclaringType() != null) {
			top = top.getDeclaringType();
		}
		return top.getPackage() == null ? "" : top.getPackage().getQualifiedName();
	}

	void add(CtInvocation<?> call) {
		List<String> parameters = new ArrayList<>();
		List<String> arguments = new ArrayList<>();
		for (CtExpression<?> argument : call.getArguments()) {
			String name = "a" + parameters.size();
			CtTypeReference<?> type = argument.getType() == null || argument.getType().getSimpleName().contains("<")
					? call.getExecutable().getParameters().get(parameters.size()) : argument.getType();
			parameters.add(Types.textInside(type) + " " + name);
			arguments.add(name);
		}
		CtExecutable<?> method = call.getExecutable().getExecutableDeclaration();
		String thrown = method == null || method.getThrownTypes().isEmpty() ? ""
				: method.getThrownTypes().stream().map(Types::textInside).collect(Collectors.joining(", ", " throws ", ""));
		String type = Types.textInside(call.getType());
		String of = call.getTarget() instanceof CtSuperAccess ? "super." : "";
		String text = "(" + String.join(", ", parameters) + ")" + thrown + " { " + (type.equals("void") ? "" : "return ") + of
				+ call.getExecutable().getSimpleName() + "(" + String.join(", ", arguments) + "); }";
		names.put(call, namesByText.computeIfAbsent("final " + type + " @" + text,
				any -> "locusBridge" + namesByText.size() + "_" + call.getExecutable().getSimpleName()));
	}

	/** The method that the call becomes one of; null: it stays as it is. */
	String name(CtInvocation<?> call) {
		return names.get(call);
	}

	/** The methods' text, on one line. */
	String text() {
		return namesByText.entrySet().stream().map(e -> e.getKey().replaceFirst("@", e.getValue())).collect(Collectors.joining(" "));
	}
}
