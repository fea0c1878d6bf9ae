// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import spoon.reflect.code.CtAssignment;
import spoon.reflect.code.CtBlock;
import spoon.reflect.code.CtCatchVariable;
import spoon.reflect.code.CtForEach;
import spoon.reflect.code.CtTypePattern;
import spoon.reflect.code.CtVariableWrite;
import spoon.reflect.declaration.CtElement;
import spoon.reflect.declaration.CtExecutable;
import spoon.reflect.declaration.CtField;
import spoon.reflect.declaration.CtParameter;
import spoon.reflect.declaration.CtType;
import spoon.reflect.declaration.CtTypedElement;
import spoon.reflect.declaration.CtVariable;
import spoon.reflect.declaration.ModifierKind;
import spoon.reflect.reference.CtArrayTypeReference;
import spoon.reflect.reference.CtTypeReference;
import spoon.reflect.visitor.filter.TypeFilter;

/**
 * Decides what becomes of each variable that a segment uses: a constant, or a value that is recorded in the program; and
 * which values tell, behind the segment, that it has done the same.
 */
final class Variables {
	/** A value that the program had when the segment began. */
	static final class Input {
		final CtVariable<?> variable; // null: the object itself
		final String inProgram; // the expression for it there
		final String type; // as text
		final String name; // of the field of the benchmark
		final boolean isStatic;
		final boolean isFinal; // it is set once, so that the compiler takes it for a constant
		final boolean isVolatile;

		Input(CtVariable<?> variable, String inProgram, String type, String name, boolean isFinal) {
			this.variable = variable;
			this.inProgram = inProgram;
			this.type = type;
			this.name = name;
			CtField<?> field = variable instanceof CtField ? (CtField<?>) variable : null;
			isStatic = field != null && field.hasModifier(ModifierKind.STATIC);
			this.isFinal = isFinal;
			isVolatile = field != null && field.hasModifier(ModifierKind.VOLATILE);
		}

		/** Is it a field of the object itself, which the benchmark has as a whole? */
		boolean isOfSelf() {
			return name.startsWith(SELF + ".");
		}

		/** A part of the names of what belongs to it. */
		String plainName() {
			return isOfSelf() ? name.substring(SELF.length() + 1) : name;
		}

		boolean isLocal() {
			return variable != null && !(variable instanceof CtField);
		}
	}

	/** A value that is compared: an expression in the program, and in the benchmark. */
	static final class Output {
		final String inProgram;
		final String inBenchmark;

		Output(String inProgram, String inBenchmark) {
			this.inProgram = inProgram;
			this.inBenchmark = inBenchmark;
		}
	}

	static final String SELF = "self";
	static final Set<String> TAKEN = Set.of("input", SELF, "load", "segment", "outputs", "values"); // of the benchmark itself

	private final Set<Rule> without;
	private final Dependences dependences;
	final List<CtVariable<?>> sinks = new ArrayList<>(); // local variables that the benchmark has to consume
	final boolean consumes; // without it there are sinks, and nothing that consumes them
	final Uses uses;
	final List<CtVariable<?>> constants = new ArrayList<>(); // that the benchmark declares, in order of need
	final List<Input> inputs = new ArrayList<>();
	final List<CtVariable<?>> uninitialised = new ArrayList<>(); // locals without a value when the segment begins
	final List<Output> outputs = new ArrayList<>(); // without what the segment returns
	final Map<String, String> fieldNames = new LinkedHashMap<>(); // of the class's fields, in the benchmark
	private final Set<String> localNames = new LinkedHashSet<>();
	final Set<Input> resetVariables = new LinkedHashSet<>(); // fields that are put back before each call
	final Set<Input> resetArrays = new LinkedHashSet<>(); // whose elements are
	boolean loadsAgain; // other state is put back before each call, outside the time that is measured
	final Set<String> goesOn = new LinkedHashSet<>(); // state that a call finds as the call before has left it

	Variables(Segment segment, Uses uses) throws Refusal {
		this(segment, uses, Set.of());
	}

	/** `without`: rules that are left out. */
	Variables(Segment segment, Uses uses, Set<Rule> without) throws Refusal {
		this.uses = uses;
		this.without = without;
		consumes = !without.contains(Rule.SINKS);
		dependences = new Dependences(segment.statement);
		dependences.sinks().forEach(s -> Uses.addOnce(sinks, ((Dependences.Local) s.variable).variable));
		localNames.addAll(TAKEN);
		addLocalNames();
		locals(segment);
		fields();
		if (uses.self) {
			inputs.add(new Input(null, "this", segment.type.getQualifiedName().replace('$', '.'), SELF, false));
		}
		outputs(segment);
		if (!without.contains(Rule.RESET)) {
			resets();
		}
		for (Object key : dependences.carried()) {
			Input input = input(key instanceof Dependences.Contents ? ((Dependences.Contents) key).of : key);
			if (input != null && !isPutBack(key, input)) {
				goesOn.add(key instanceof Dependences.Contents ? input.inProgram + "[]" : input.inProgram);
			}
		}
	}

	/** Does each call begin with the recorded value, though nothing is loaded again? */
	private boolean isPutBack(Object key, Input input) {
		return key instanceof Dependences.Contents ? resetArrays.contains(input) : input.isLocal() || resetVariables.contains(input);
	}

	/** The name of a field of the class in the benchmark: no local variable may hide it. */
	private String nameField(String name) {
		String here = localNames.contains(name) ? "field_" + name : name;
		fieldNames.put(name, here);
		return here;
	}

	private void addLocalNames() {
		List<CtElement> texts = new ArrayList<>(uses.methods);
		texts.add(uses.segment.method);
		for (CtElement text : texts) {
			for (CtVariable<?> variable : text.getElements(new TypeFilter<CtVariable<?>>(CtVariable.class))) {
				if (!(variable instanceof CtField)) {
					localNames.add(variable.getSimpleName());
				}
			}
		}
	}

	private void locals(Segment segment) {
		List<CtVariable<?>> found = new ArrayList<>();
		for (CtVariable<?> variable : uses.locals) {
			if (!without.contains(Rule.CONSTANTS) && Constants.isConstant(variable, segment)) {
				found.add(variable);
			} else if (Constants.isMadeEmpty(variable, segment)) {
				found.add(variable);
				Uses.addOnce(sinks, variable); // else the compiler makes none
			} else if (hasValue(variable, segment)) {
				String name = variable.getSimpleName();
				inputs.add(new Input(variable, name, Types.text(variable.getType()), "local_" + name, isSetOnce(variable)));
			} else {
				uninitialised.add(variable);
			}
		}
		constants.addAll(Constants.needed(found));
		for (CtVariable<?> constant : constants) {
			inputs.removeIf(i -> i.variable == constant);
			if (constant instanceof CtField) {
				nameField(constant.getSimpleName());
			}
		}
	}

	/** Has the local variable a value when the segment begins? */
	private static boolean hasValue(CtVariable<?> variable, Segment segment) {
		boolean isAssigned = variable instanceof CtParameter || variable instanceof CtCatchVariable || variable.getDefaultExpression() != null
				|| variable.getParent() instanceof CtForEach || variable.getParent() instanceof CtTypePattern;
		boolean isCaptured = variable.getParent(CtExecutable.class) != segment.method; // which has the compiler see to a value
		return isAssigned || isCaptured || Assigned.isBefore(variable, segment);
	}

	private void fields() throws Refusal {
		for (CtField<?> field : uses.fields.values()) {
			String name = field.getSimpleName();
			String here = nameField(name);
			if (!without.contains(Rule.CONSTANTS) && Constants.isConstant(field)) {
				for (CtVariable<?> needed : Constants.needed(List.of(field))) {
					nameField(needed.getSimpleName());
					Uses.addOnce(constants, needed);
				}
				continue;
			}
			String owner = field.getDeclaringType().getSimpleName();
			boolean own = field.getDeclaringType() == uses.segment.type;
			boolean inherited = !own && uses.segment.type.isSubtypeOf(field.getDeclaringType().getReference());
			boolean isStatic = field.hasModifier(ModifierKind.STATIC);
			boolean isOfClassFile = inherited && field.hasModifier(ModifierKind.PROTECTED) && field.getDeclaringType().isShadow();
			String there = (isStatic ? owner : own || isOfClassFile ? "this" : inherited ? "((" + owner + ") this)" : owner + ".this") + "." + name;
			if (field.getType() == null) {
				throw new Refusal(field, "the type of " + name + " is not known");
			}
			if (!isStatic && (own || inherited) && isSharedWithSelf(field)) {
				here = SELF + "." + name;
				fieldNames.put(name, here);
				uses.opens |= field.hasModifier(ModifierKind.PRIVATE);
			}
			inputs.add(new Input(field, there, Types.text(field.getType()), here, !here.contains(".") && isSetOnce(field)));
		}
	}

	/** May the object itself, where it is used, have another value in the field than a copy of the field? */
	private boolean isSharedWithSelf(CtField<?> field) {
		return uses.self && !field.hasModifier(ModifierKind.FINAL)
				&& (Opened.reaches(field) || !field.hasModifier(ModifierKind.PRIVATE))
				&& !(isRaw(uses.segment.type) && Types.text(field.getType()).contains("<")); // which would be raw too
	}

	/** Has the class type variables, without which the benchmark names it? */
	private static boolean isRaw(CtType<?> type) {
		return type != null && (!type.getFormalCtTypeParameters().isEmpty() || isRaw(type.getDeclaringType()));
	}

	/** Has it its value for good in the benchmark, so that the compiler takes it for a constant? */
	private boolean isSetOnce(CtVariable<?> variable) {
		if (variable instanceof CtField && ((CtField<?>) variable).isStatic() && ((CtField<?>) variable).isFinal()) {
			return !without.contains(Rule.CONSTANTS);
		}
		return without.contains(Rule.FOLDING) && !dependences.assigned().contains(new Dependences.Field(variable.getSimpleName()));
	}

	private Input input(Object key) {
		for (Input input : inputs) {
			boolean field = key instanceof Dependences.Field && input.variable instanceof CtField
					&& input.variable.getSimpleName().equals(((Dependences.Field) key).name);
			if (field || isLocal(key, input.variable) || "this".equals(key) && input.variable == null) {
				return input;
			}
		}
		return key instanceof Dependences.Field && uses.self ? input("this") : null; // a field that the class inherits
	}

	private static boolean isLocal(Object key, CtVariable<?> variable) {
		return key instanceof Dependences.Local && ((Dependences.Local) key).variable == variable;
	}

	/** The name by which the benchmark's code has it while the segment runs. */
	private static String here(Input input) {
		return input.isLocal() ? input.variable.getSimpleName() : input.name;
	}

	private void outputs(Segment segment) {
		Set<String> seen = new LinkedHashSet<>();
		for (Object key : dependences.assigned()) {
			boolean inside = key instanceof Dependences.Contents;
			Object of = inside ? ((Dependences.Contents) key).of : key;
			Input input = input(of);
			if (input == null) {
				constants.stream().filter(c -> isLocal(of, c) && seen.add(c.getSimpleName()))
						.forEach(c -> outputs.add(new Output(c.getSimpleName(), c.getSimpleName())));
				continue;
			}
			if (!seen.add(input.inProgram)) {
				continue;
			}
			outputs.add(new Output(input.inProgram, here(input)));
		}
		boolean returns = !segment.returns().isEmpty();
		for (CtVariable<?> variable : uninitialised) {
			if (!returns && sinks.stream().anyMatch(s -> s == variable) && isSurelyAssigned(variable, segment)) {
				outputs.add(new Output(variable.getSimpleName(), variable.getSimpleName()));
			}
		}
	}

	/** Has a local variable without a value one behind the segment, whichever way that goes? */
	private static boolean isSurelyAssigned(CtVariable<?> variable, Segment segment) {
		for (CtVariableWrite<?> write : segment.statement.getElements(new TypeFilter<CtVariableWrite<?>>(CtVariableWrite.class))) {
			CtElement at = write.getVariable().getDeclaration() == variable ? write.getParent() : null;
			while (at != segment.statement && (at instanceof CtAssignment || at instanceof CtBlock)) {
				at = at.getParent();
			}
			if (at instanceof CtAssignment || at instanceof CtBlock) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Take what another version of the segment uses and leaves too, so that both have the same inputs and outputs in the same
	 * order.
	 */
	void unite(Variables other) {
		loadsAgain |= other.loadsAgain;
		for (Input input : other.inputs) {
			constants.removeIf(c -> !(c instanceof CtField) && c.getSimpleName().equals(input.inProgram)); // it is recorded
			if (inputs.stream().noneMatch(i -> i.inProgram.equals(input.inProgram))) {
				String name = input.variable instanceof CtField ? nameField(input.variable.getSimpleName()) : input.name;
				inputs.add(new Input(input.variable, input.inProgram, input.type, name, input.isFinal));
			}
		}
		for (Output output : other.outputs) {
			if (outputs.stream().noneMatch(o -> o.inProgram.equals(output.inProgram))) {
				inputs.stream().filter(i -> i.inProgram.equals(output.inProgram)).findFirst()
						.ifPresent(i -> outputs.add(new Output(output.inProgram, here(i))));
			}
		}
		outputs.removeIf(o -> inputs.stream().noneMatch(i -> i.inProgram.equals(o.inProgram))
				&& other.outputs.stream().noneMatch(p -> p.inProgram.equals(o.inProgram))); // a variable of this version alone
		inputs.sort(Comparator.comparing(i -> i.inProgram));
		outputs.sort(Comparator.comparing(o -> o.inProgram));
	}

	private void resets() {
		for (Object key : dependences.resets()) {
			boolean inside = key instanceof Dependences.Contents;
			Input input = input(inside ? ((Dependences.Contents) key).of : key);
			if (input == null || !inside && input.isLocal()) {
				continue; // a local variable begins with its value in each call
			}
			if (!inside && input.variable != null) {
				resetVariables.add(input);
			} else if (isPrimitiveArray(((CtTypedElement<?>) input.variable))) {
				resetArrays.add(input);
			} else {
				loadsAgain = true;
			}
		}
	}

	private static boolean isPrimitiveArray(CtTypedElement<?> variable) {
		CtTypeReference<?> type = variable == null ? null : variable.getType();
		return type instanceof CtArrayTypeReference && ((CtArrayTypeReference<?>) type).getComponentType().isPrimitive();
	}
}
