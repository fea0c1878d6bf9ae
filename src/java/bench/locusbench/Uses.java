// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import spoon.reflect.code.CtAbstractSwitch;
import spoon.reflect.code.CtBreak;
import spoon.reflect.code.CtCase;
import spoon.reflect.code.CtConstructorCall;
import spoon.reflect.code.CtExpression;
import spoon.reflect.code.CtFieldAccess;
import spoon.reflect.code.CtFieldRead;
import spoon.reflect.code.CtInvocation;
import spoon.reflect.code.CtLabelledFlowBreak;
import spoon.reflect.code.CtLocalVariable;
import spoon.reflect.code.CtLoop;
import spoon.reflect.code.CtSuperAccess;
import spoon.reflect.code.CtSwitch;
import spoon.reflect.code.CtThisAccess;
import spoon.reflect.code.CtTypeAccess;
import spoon.reflect.code.CtTypePattern;
import spoon.reflect.code.CtVariableAccess;
import spoon.reflect.declaration.CtElement;
import spoon.reflect.declaration.CtExecutable;
import spoon.reflect.declaration.CtField;
import spoon.reflect.declaration.CtMethod;
import spoon.reflect.declaration.CtModifiable;
import spoon.reflect.declaration.CtType;
import spoon.reflect.declaration.CtVariable;
import spoon.reflect.declaration.ModifierKind;
import spoon.reflect.path.CtRole;
import spoon.reflect.reference.CtTypeParameterReference;
import spoon.reflect.reference.CtTypeReference;
import spoon.reflect.visitor.filter.TypeFilter;

/**
 * Finds what a segment uses from around it: local variables, fields of its class, methods that have to be copied, the
 * object itself. Refuses what a class of the same package cannot name.
 */
final class Uses {
	private static final int DEPTH_MAX = 6; // calls inside one another that are copied

	final Segment segment;
	private final boolean mayDoIo;
	final String packageName; // of the original class
	final List<CtVariable<?>> locals = new ArrayList<>(); // declared before the segment
	final Map<String, CtField<?>> fields = new LinkedHashMap<>(); // of the class, or one around it, by name
	final List<CtMethod<?>> methods = new ArrayList<>(); // to copy
	boolean self; // the object itself is used as a value, or by a method that has no source here
	boolean opens; // something private is named, so the class has to be opened
	final Bridges bridges = new Bridges();

	/** `mayDoIo`: input and output are no reason to refuse. */
	Uses(Segment segment, boolean mayDoIo) throws Refusal {
		this.segment = segment;
		this.mayDoIo = mayDoIo;
		packageName = segment.type.getTopLevelType().getPackage() == null ? ""
				: segment.type.getTopLevelType().getPackage().getQualifiedName();
		if (packageName.startsWith("java.") || packageName.equals("java")) {
			throw new Refusal(segment.type, "package " + packageName + " is the JDK's own: no benchmark can be in it");
		}
		Deque<CtElement> open = new ArrayDeque<>();
		Map<CtElement, Integer> depth = new IdentityHashMap<>();
		open.add(segment.statement);
		depth.put(segment.statement, 0);
		while (!open.isEmpty()) {
			CtElement at = open.pop();
			for (CtMethod<?> method : scan(at)) {
				if (depth.get(at) >= DEPTH_MAX) {
					throw new Refusal(method, "calls are more than " + DEPTH_MAX + " deep where " + method.getSimpleName() + " is called");
				}
				if (!depth.containsKey(method)) {
					methods.add(method);
					depth.put(method, depth.get(at) + 1);
					open.add(method);
				}
			}
		}
		nameTypes();
	}

	/** Looks at the segment, or at a method to copy. Returns the methods that are called there and have to be copied. */
	private List<CtMethod<?>> scan(CtElement of) throws Refusal {
		List<CtMethod<?>> called = new ArrayList<>();
		for (CtTypeReference<?> type : of.getElements(new TypeFilter<CtTypeReference<?>>(CtTypeReference.class))) {
			checkType(of, type);
		}
		bridge(of);
		for (CtVariableAccess<?> access : of.getElements(new TypeFilter<CtVariableAccess<?>>(CtVariableAccess.class))) {
			if (access instanceof CtFieldAccess) {
				if (!isEnumLabel(access)) {
					field((CtFieldAccess<?>) access);
				}
				continue;
			}
			if (access instanceof CtSuperAccess) {
				if (isInherited((CtSuperAccess<?>) access) && inherited((CtFieldAccess<?>) access.getParent()) != null) {
					continue;
				} else if (isInherited((CtSuperAccess<?>) access)) {
					self |= !isInside(access.getParent(CtType.class), of);
				} else if (!(access.getParent() instanceof CtInvocation) || bridges.name((CtInvocation<?>) access.getParent()) == null) {
					throw new Refusal(access, "super is used");
				}
				continue;
			}
			CtVariable<?> variable = access.getVariable().getDeclaration();
			if (variable == null && isBound(access, of)) {
				continue;
			} else if (variable == null) {
				throw new Refusal(access, "where " + access.getVariable().getSimpleName() + " is declared cannot be told");
			}
			if (of == segment.statement && !variable.hasParent(of) && variable != of) {
				addOnce(locals, variable);
			}
		}
		for (CtInvocation<?> call : of.getElements(new TypeFilter<CtInvocation<?>>(CtInvocation.class))) {
			CtExecutable<?> own = Dependences.ownMethod(call);
			if (isInside(call.getExecutable().getDeclaration(), of) || bridges.name(call) != null) {
				continue;
			}
			if (own instanceof CtMethod) {
				called.add((CtMethod<?>) own);
			} else {
				checkCall(call);
			}
		}
		for (CtThisAccess<?> access : of.getElements(new TypeFilter<CtThisAccess<?>>(CtThisAccess.class))) {
			self |= isSelf(access);
		}
		if (of == segment.statement) {
			checkJumps();
		}
		for (CtConstructorCall<?> call : of.getElements(new TypeFilter<CtConstructorCall<?>>(CtConstructorCall.class))) {
			CtElement constructor = call.getExecutable().getDeclaration();
			if (!isInside(constructor, of)) {
				open(call, constructor, "the constructor of " + call.getType().getSimpleName());
			}
		}
		return called;
	}

	/** Is it a variable of a record pattern, whose uses the model does not lead back to it? */
	private static boolean isBound(CtVariableAccess<?> access, CtElement of) {
		return of.getElements(new TypeFilter<CtLocalVariable<?>>(CtLocalVariable.class)).stream()
				.anyMatch(v -> v.getParent() instanceof CtTypePattern && v.getSimpleName().equals(access.getVariable().getSimpleName()));
	}

	/** Is it the label of a case of a switch over its enum? Before Java 21 it has to stand there without the name of its class. */
	static boolean isEnumLabel(CtElement e) {
		CtElement choice = e.getRoleInParent() == CtRole.EXPRESSION && e.getParent() instanceof CtCase ? e.getParent().getParent() : null;
		CtTypeReference<?> owner = e instanceof CtFieldRead ? ((CtFieldRead<?>) e).getVariable().getDeclaringType() : null;
		return choice instanceof CtAbstractSwitch && owner != null && owner.equals(((CtAbstractSwitch<?>) choice).getSelector().getType());
	}

	private void bridge(CtElement of) throws Refusal {
		for (CtInvocation<?> call : of.getElements(new TypeFilter<CtInvocation<?>>(CtInvocation.class))) {
			CtType<?> inside = call.getParent(CtType.class);
			if (isInside(inside, of) || !Bridges.isNeeded(call, packageName)) {
				continue;
			}
			if (inside != segment.type || !Opened.reaches(call)) {
				throw new Refusal(call, "what only its class can call is called: " + call.getExecutable().getSimpleName());
			}
			bridges.add(call);
			self = true;
			opens = true;
		}
	}

	/** A jump to a label outside, or out of a loop around the segment, goes where the benchmark has nothing. */
	private void checkJumps() throws Refusal {
		for (CtLabelledFlowBreak jump : segment.statement.getElements(new TypeFilter<>(CtLabelledFlowBreak.class))) {
			CtElement to = jump.getTargetLabel() != null ? jump.getLabelledStatement()
					: jump.getParent((CtElement e) -> e instanceof CtLoop || e instanceof CtSwitch && jump instanceof CtBreak);
			if (to != segment.statement && !isInside(to, segment.statement)) {
				throw new Refusal(jump, "it jumps out of the segment");
			}
		}
	}

	/** Equality of elements is that of their text: two variables of one name would be one. */
	static <T> void addOnce(List<T> list, T element) {
		for (T other : list) {
			if (other == element) {
				return;
			}
		}
		list.add(element);
	}

	/** Opens a private element that `user` names. */
	private void open(CtElement user, CtElement used, String what) throws Refusal {
		if (used instanceof CtModifiable && ((CtModifiable) used).hasModifier(ModifierKind.PRIVATE)) {
			if (!Opened.reaches(used)) {
				throw new Refusal(user, what + " is private, in a class without a name of its own or an interface");
			}
			opens = true;
		}
	}

	private static boolean isInside(CtElement element, CtElement of) {
		return element != null && element.hasParent(of);
	}

	/** Is it a field that the class inherits, without the word `super`? */
	static boolean isInherited(CtSuperAccess<?> access) {
		return access.isImplicit() && access.getParent() instanceof CtFieldAccess;
	}

	/** Is `this` more than the object whose field is read, or whose copied method is called? */
	private boolean isSelf(CtThisAccess<?> access) {
		CtElement user = access.getParent();
		if (access.getParent(CtType.class) != null && isInside(access.getParent(CtType.class), segment.statement)) {
			return false; // of an anonymous class inside
		}
		if (user instanceof CtFieldAccess && ((CtFieldAccess<?>) user).getTarget() == access) {
			return false;
		}
		return !(user instanceof CtInvocation && ((CtInvocation<?>) user).getTarget() == access
				&& Dependences.ownMethod((CtInvocation<?>) user) != null);
	}

	/** The declaration of a field in the source, or of one that is inherited() from a class file; null: it is not known. */
	CtField<?> declarationOf(CtFieldAccess<?> access) {
		CtField<?> declaration = access.getVariable().getDeclaration();
		return declaration != null ? declaration : inherited(access);
	}

	/** A field of the object itself that its subclasses can name, and no benchmark: protected, of another package; null: it is none. */
	private CtField<?> inherited(CtFieldAccess<?> access) {
		CtExpression<?> target = access.getTarget();
		boolean ofThis = target == null || target instanceof CtThisAccess || target instanceof CtSuperAccess;
		if (!ofThis || access.getVariable().isStatic() || access.getVariable().getDeclaration() != null || access.getVariable().getDeclaringType() == null) {
			return null;
		}
		CtField<?> field = access.getVariable().getFieldDeclaration();
		boolean isHidden = field != null && field.hasModifier(ModifierKind.PROTECTED) && !Bridges.packageOf(field.getDeclaringType().getReference()).equals(packageName);
		return isHidden ? field : null;
	}

	private void field(CtFieldAccess<?> access) throws Refusal {
		CtExpression<?> target = access.getTarget();
		boolean ofThis = target == null || target instanceof CtThisAccess || inherited(access) != null;
		boolean isStatic = access.getVariable().isStatic();
		CtField<?> declaration = declarationOf(access);
		if (declaration == null) {
			self |= ofThis && !isStatic; // of a superclass without source: it is reached through the object
			return; // whether it is accessible javac says
		}
		if (isInside(declaration, segment.statement)) {
			return;
		}
		if (!ofThis && !isStatic) {
			open(access, declaration, "the field " + declaration.getSimpleName() + " of another object");
			return;
		}
		CtField<?> other = fields.putIfAbsent(declaration.getSimpleName(), declaration);
		if (other != null && other != declaration) {
			throw new Refusal(access, "two fields are called " + declaration.getSimpleName());
		}
	}

	private void checkCall(CtInvocation<?> call) throws Refusal {
		CtExecutable<?> declaration = call.getExecutable().getDeclaration();
		if (declaration instanceof CtMethod) {
			open(call, declaration, "the method " + declaration.getSimpleName() + " of another object");
		}
		if (call.getExecutable().isConstructor()) {
			throw new Refusal(call, "another constructor is called");
		}
		CtTypeReference<?> owner = call.getExecutable().getDeclaringType();
		if (!mayDoIo && owner != null && doesIo(owner.getQualifiedName())) {
			throw new Refusal(call, "it does input or output: " + owner.getSimpleName() + "." + call.getExecutable().getSimpleName()
					+ " (--allow-io takes it)");
		}
	}

	private static boolean doesIo(String name) {
		return name.startsWith("java.nio.channels.") || name.startsWith("java.net.") || name.startsWith("java.sql.")
				|| name.matches("java\\.io\\..*(Stream|Reader|Writer|File|PrintStream|Console).*") && !name.contains("ByteArray")
						&& !name.contains("String")
				|| name.startsWith("java.nio.file.");
	}

	private void checkType(CtElement of, CtTypeReference<?> type) throws Refusal {
		if (type.isPrimitive() || type.getSimpleName().isEmpty()) {
			return;
		}
		CtElement parent = type.isParentInitialized() ? type.getParent() : null;
		if (parent instanceof CtTypeAccess && (parent.isImplicit() || parent.getParent() instanceof CtThisAccess)
				|| parent instanceof CtThisAccess) {
			return; // printed nowhere
		}
		if (parent != null && (parent.getParent() instanceof CtFieldAccess || parent.getParent() instanceof CtInvocation)
				&& parent instanceof CtTypeAccess) {
			return; // Outer in Outer.field: the field is copied
		}
		name(of, type);
	}

	/** The benchmark names the type. */
	private void name(CtElement user, CtTypeReference<?> type) throws Refusal {
		CtType<?> declaration = type instanceof CtTypeParameterReference ? null : type.getDeclaration();
		if (declaration == null || isInside(declaration, segment.statement)) {
			return;
		}
		for (CtType<?> at = declaration; at != null; at = at.getDeclaringType()) {
			if (at.isAnonymous() || at.isLocalType()) {
				throw new Refusal(user, "a class without a name of its own is used");
			}
			open(user, at, "the class " + at.getSimpleName());
		}
	}

	/** The variables' types, that of the object itself, and that of what is returned. */
	private void nameTypes() throws Refusal {
		List<CtTypeReference<?>> all = new ArrayList<>();
		locals.forEach(local -> all.add(local.getType()));
		fields.values().forEach(field -> all.add(field.getType()));
		all.add(segment.returnedType());
		for (CtTypeReference<?> of : all) {
			if (of == null) {
				continue;
			}
			for (CtTypeReference<?> type : of.getElements(new TypeFilter<CtTypeReference<?>>(CtTypeReference.class))) {
				name(segment.method, type);
			}
		}
		if (self) {
			name(segment.method, segment.type.getReference());
		}
	}
}
