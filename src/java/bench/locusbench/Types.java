package locusbench;

import java.util.ArrayList;
import java.util.List;
import spoon.reflect.declaration.CtElement;
import spoon.reflect.declaration.CtFormalTypeDeclarer;
import spoon.reflect.declaration.CtTypeParameter;
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

	static String text(CtTypeReference<?> type) {
		return new Types(null).erased(type).toString().replace('$', '.');
	}

	/** Put what they are erased to in place of types, all through the element; but for variables that it declares. */
	static void erase(CtElement element, Edits edits) {
		Types types = new Types(element);
		for (CtTypeReference<?> type : element.getElements(new TypeFilter<CtTypeReference<?>>(CtTypeReference.class))) {
			boolean outermost = type.isParentInitialized() && !(type.getParent() instanceof CtTypeReference);
			if (outermost && types.namesVariable(type)) {
				edits.replace(type, types.erased(type));
			}
		}
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
