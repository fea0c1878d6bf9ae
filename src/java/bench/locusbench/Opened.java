// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import spoon.reflect.declaration.CtElement;
import spoon.reflect.declaration.CtInterface;
import spoon.reflect.declaration.CtMethod;
import spoon.reflect.declaration.CtType;
import spoon.reflect.declaration.CtTypeMember;
import spoon.reflect.declaration.ModifierKind;
import spoon.support.reflect.CtExtendedModifier;

/**
 * Opens what is private in a class to its package, by changes of its source file: a benchmark beside it can name it then, as
 * the class itself does. All other text stays, on its lines.
 *
 * A method that was private becomes final: it is bound as before, and a class that has a method of its name fails to load
 * rather than overrides it.
 */
final class Opened {
	private static final String WORD = "private";

	private Opened() {
	}

	/** The text of the source file of the class, opened, with more members in the class; `original` is the file's text. */
	static String text(CtType<?> type, String members, String original) {
		NavigableMap<Integer, String> changes = new TreeMap<>(); // where the word is, and what replaces it
		open(type.getTopLevelType(), changes);
		int brace = type.getPosition().getSourceEnd(); // that ends the class
		StringBuilder text = new StringBuilder(original).insert(brace, members);
		changes.descendingMap().forEach((at, with) -> {
			int begin = at + (at > brace ? members.length() : 0);
			text.replace(begin, begin + WORD.length(), with);
		});
		return text.toString();
	}

	private static void open(CtType<?> type, Map<Integer, String> changes) {
		for (CtTypeMember member : type.getTypeMembers()) {
			for (CtExtendedModifier modifier : member.getExtendedModifiers()) {
				boolean stands = modifier.getKind() == ModifierKind.PRIVATE && !modifier.isImplicit();
				if (stands && !(type instanceof CtInterface)) { // whose private methods have no other access
					changes.put(modifier.getPosition().getSourceStart(), becomesFinal(member) ? "final" : "");
				}
			}
			if (member instanceof CtType) {
				open((CtType<?>) member, changes);
			}
		}
	}

	private static boolean becomesFinal(CtTypeMember member) {
		return member instanceof CtMethod && !member.hasModifier(ModifierKind.STATIC) && !member.hasModifier(ModifierKind.FINAL);
	}

	/** Can it be opened: is it in a top-level class or in a member of a member, and so on, of one, and in no interface? */
	static boolean reaches(CtElement element) {
		CtType<?> of = element.getParent(CtType.class);
		return of == null || !of.isAnonymous() && !of.isLocalType() && !(of instanceof CtInterface) && reaches(of);
	}
}
