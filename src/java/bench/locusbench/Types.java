package locusbench;

import java.util.ArrayList;
import java.util.List;
import spoon.reflect.declaration.CtElement;
import spoon.reflect.declaration.CtFormalTypeDeclarer;
import spoon.reflect.reference.CtArrayTypeReference;
import spoon.reflect.reference.CtTypeParameterReference;
import spoon.reflect.reference.CtTypeReference;
import spoon.reflect.reference.CtWildcardReference;
import spoon.reflect.visitor.filter.TypeFilter;

/** Writes types as a class without type parameters can: each type variable is what it is erased to. */
final class Types {
	private Types() {
	}

	static String text(CtTypeReference<?> type) {
		return erased(type).toString().replace('$', '.');
	}

	/** What stands for a type variable; itself where the type is none. */
	static CtTypeReference<?> erased(CtTypeReference<?> type) {
		CtTypeReference<?> copy = type.clone();
		if (type.isParentInitialized()) {
			copy.setParent(type.getParent());
		}
		if (copy instanceof CtArrayTypeReference) {
			CtArrayTypeReference<?> array = (CtArrayTypeReference<?>) copy;
			array.setComponentType(erased(((CtArrayTypeReference<?>) type).getComponentType()));
			return array;
		}
		if (isVariable(type)) {
			CtTypeReference<?> bound = type.getTypeErasure();
			return bound == null || isVariable(bound) ? type.getFactory().Type().objectType() : bound;
		}
		List<CtTypeReference<?>> arguments = new ArrayList<>();
		for (CtTypeReference<?> argument : type.getActualTypeArguments()) {
			arguments.add(argument instanceof CtWildcardReference || !isVariable(argument) ? argument.clone() : erased(argument));
		}
		if (!arguments.isEmpty() && arguments.stream().noneMatch(Types::namesVariable)) {
			copy.setActualTypeArguments(arguments);
		} else {
			copy.setActualTypeArguments(new ArrayList<>()); // raw
		}
		return copy;
	}

	private static boolean isVariable(CtTypeReference<?> type) {
		return type instanceof CtTypeParameterReference && !(type instanceof CtWildcardReference);
	}

	private static boolean namesVariable(CtTypeReference<?> type) {
		return isVariable(type) || type.getElements(new TypeFilter<CtTypeReference<?>>(CtTypeReference.class)).stream()
				.anyMatch(Types::isVariable);
	}

	/** Put what type variables are erased to in their place, all through the element; but for those that it declares. */
	static void erase(CtElement element) {
		for (CtTypeReference<?> type : element.getElements(new TypeFilter<CtTypeReference<?>>(CtTypeReference.class))) {
			if (!type.isParentInitialized() || !isVariable(type) || declares(element, type)) {
				continue;
			}
			type.replace(erased(type));
		}
	}

	private static boolean declares(CtElement element, CtTypeReference<?> variable) {
		return element instanceof CtFormalTypeDeclarer && ((CtFormalTypeDeclarer) element).getFormalCtTypeParameters().stream()
				.anyMatch(p -> p.getSimpleName().equals(variable.getSimpleName()));
	}
}
