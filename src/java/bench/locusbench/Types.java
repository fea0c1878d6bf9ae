// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.util.ArrayList;
import java.util.List;
import spoon.reflect.code.CtBlock;
import spoon.reflect.code.CtCase;
import spoon.reflect.code.CtExpression;
import spoon.reflect.code.CtForEach;
import spoon.reflect.code.CtInvocation;
import spoon.reflect.code.CtLambda;
import spoon.reflect.declaration.CtElement;
import spoon.reflect.declaration.CtFormalTypeDeclarer;
import spoon.reflect.declaration.CtTypeParameter;
import spoon.reflect.path.CtRole;
import spoon.reflect.reference.CtArrayTypeReference;
import spoon.reflect.reference.CtTypeParameterReference;
import spoon.reflect.reference.CtTypeReference;
import spoon.reflect.reference.CtWildcardReference;
import spoon.reflect.visitor.filter.TypeFilter;

/**
 * Writes types as a class without type parameters can: a type variable is what it is erased to, and a type that has one
 * with a bound as its argument is raw.
 */
final class Types {
	private final CtElement declarer; // its own type variables stay

	private Types(CtElement declarer) {
		this.declarer = declarer;
	}

	/** Erased. */
	static String text(CtTypeReference<?> type) {
		return textInside(new Types(null).erased(type));
	}

	/** The type's name within the class, whose type variables it may have. */
	static String textInside(CtTypeReference<?> type) {
		return type.toString().replace('$', '.');
	}

	/** Put what they are erased to in place of types, all through the element; but for variables that it declares. */
	static void erase(CtElement element, Edits edits) {
		Types types = new Types(element);
		types.cast(element, edits);
		for (CtTypeReference<?> type : element.getElements(new TypeFilter<CtTypeReference<?>>(CtTypeReference.class))) {
			boolean outermost = type.isParentInitialized() && !(type.getParent() instanceof CtTypeReference);
			if (outermost && types.namesVariable(type)) {
				edits.replace(type, types.erased(type));
			}
		}
	}

	/** Casts values that a raw type gives as Object, where there was a type variable, to the type that this is erased to. */
	private void cast(CtElement element, Edits edits) {
		for (CtInvocation<?> call : element.getElements(new TypeFilter<CtInvocation<?>>(CtInvocation.class))) {
			boolean isValue = !(call.getParent() instanceof CtBlock) && !(call.getParent() instanceof CtCase) && !(call.getParent() instanceof CtLambda)
					&& call.getRoleInParent() != CtRole.FOR_UPDATE && call.getRoleInParent() != CtRole.FOR_INIT;
			CtTypeReference<?> type = typeOf(call);
			if (isValue && type != null && !(type instanceof CtWildcardReference) && namesVariable(type)) {
				CtTypeReference<?> to = erased(type);
				if (!(to instanceof CtTypeParameterReference) && to.getActualTypeArguments().isEmpty() && !to.getQualifiedName().equals("java.lang.Object")) {
					edits.cast(call, to);
				}
			}
		}
		for (CtForEach loop : element.getElements(new TypeFilter<>(CtForEach.class))) {
			CtTypeReference<?> of = loop.getVariable().getType();
			CtTypeReference<?> over = loop.getExpression().getType();
			boolean isRaw = over != null && !over.isArray() && namesVariable(over) && erased(over).getActualTypeArguments().isEmpty();
			if (of != null && isRaw && !(of instanceof CtWildcardReference) && namesVariable(of)) {
				CtTypeReference<?> all = element.getFactory().Type().createReference(Iterable.class);
				all.addActualTypeArgument(erased(of));
				edits.cast(loop.getExpression(), all);
			}
		}
	}

	/** The type of a value: what a T that extends B<T> gives as a type variable of B is a T. */
	private CtTypeReference<?> typeOf(CtExpression<?> value) {
		CtExpression<?> target = value instanceof CtInvocation ? ((CtInvocation<?>) value).getTarget() : null;
		CtTypeReference<?> of = target != null && value.getType() != null && isVariable(value.getType()) ? typeOf(target) : null;
		CtTypeParameter declaration = of != null && isVariable(of) ? ((CtTypeParameterReference) of).getDeclaration() : null;
		boolean itself = declaration != null && declaration.getSuperclass() != null
				&& declaration.getSuperclass().getActualTypeArguments().stream().anyMatch(of::equals);
		return itself ? of : value.getType();
	}

	private CtTypeReference<?> erased(CtTypeReference<?> type) {
		CtTypeReference<?> copy = type.clone();
		if (type instanceof CtArrayTypeReference) {
			((CtArrayTypeReference<?>) copy).setComponentType(erased(((CtArrayTypeReference<?>) type).getComponentType()));
			return copy;
		} else if (type instanceof CtWildcardReference) {
			CtTypeReference<?> bound = ((CtWildcardReference) type).getBoundingType();
			if (bound != null) {
				((CtWildcardReference) copy).setBoundingType(erased(bound));
			}
			return copy;
		} else if (isVariable(type)) {
			return bound((CtTypeParameterReference) type);
		}
		List<CtTypeReference<?>> arguments = new ArrayList<>();
		for (CtTypeReference<?> argument : type.getActualTypeArguments()) {
			if (isBounded(argument)) {
				copy.setActualTypeArguments(new ArrayList<>()); // raw
				return copy;
			}
			CtTypeReference<?> erased = erased(argument);
			erased.setImplicit(argument.isImplicit());
			arguments.add(erased);
		}
		copy.setActualTypeArguments(arguments);
		return copy;
	}

	private boolean isBounded(CtTypeReference<?> argument) {
		CtTypeReference<?> at = argument instanceof CtWildcardReference && ((CtWildcardReference) argument).getBoundingType() != null
				? ((CtWildcardReference) argument).getBoundingType() : argument;
		return isVariable(at) && !bound((CtTypeParameterReference) at).getQualifiedName().equals("java.lang.Object");
	}

	private CtTypeReference<?> bound(CtTypeParameterReference variable) {
		CtTypeParameter declaration = variable.getDeclaration();
		CtTypeReference<?> bound = declaration == null ? null : declaration.getSuperclass();
		if (bound == null) {
			return variable.getFactory().Type().objectType();
		} else if (isVariable(bound)) {
			return bound((CtTypeParameterReference) bound);
		}
		CtTypeReference<?> raw = bound.clone(); // a bound may name its own variable
		raw.setActualTypeArguments(new ArrayList<>());
		return raw;
	}

	private boolean isVariable(CtTypeReference<?> type) {
		return type instanceof CtTypeParameterReference && !(type instanceof CtWildcardReference) && !isDeclared(type);
	}

	private boolean isDeclared(CtTypeReference<?> variable) {
		return declarer instanceof CtFormalTypeDeclarer && ((CtFormalTypeDeclarer) declarer).getFormalCtTypeParameters().stream()
				.anyMatch(p -> p.getSimpleName().equals(variable.getSimpleName()));
	}

	private boolean namesVariable(CtTypeReference<?> type) {
		return isVariable(type) || type.getElements(new TypeFilter<CtTypeReference<?>>(CtTypeReference.class)).stream()
				.anyMatch(this::isVariable);
	}
}
