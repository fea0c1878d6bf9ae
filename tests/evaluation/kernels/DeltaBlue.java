import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Solves hierarchies of constraints incrementally by the algorithm DeltaBlue of Freeman-Benson, Maloney and Borning. In
 * a chain of equal variables the first is changed, and the last follows; in pairs with y = 10 x + 1000 either side is
 * changed, and the other follows; all pairs follow a new factor. Arguments: variables, and how often.
 */
public final class DeltaBlue {
	// Strengths: the smaller is the stronger.
	private static final int REQUIRED = 0, PREFERRED = 2, STRONG_DEFAULT = 3, DEFAULT = 4, WEAKEST = 6;
	private static final int CHANGES = 100;

	private static final class Variable {
		private long value;
		private final List<Constraint> constraints = new ArrayList<>(2);
		private Constraint determinedBy;
		private int mark, strength = WEAKEST;
		private boolean stays = true;

		Variable(long value) { this.value = value; }
	}

	private abstract class Constraint {
		private final int strength;

		Constraint(int strength) { this.strength = strength; }

		abstract void addTo();

		abstract void removeFrom();

		abstract boolean isSatisfied();

		abstract void unsatisfy();

		/** Chooses how the constraint may be satisfied without variables of this mark; else by none. */
		abstract void choose(int mark);

		abstract void markInputs(int mark);

		/** Are all inputs known: of this mark, or the same whatever happens, or determined by nothing? */
		abstract boolean inputsKnown(int mark);

		abstract Variable output();

		abstract void execute();

		/** Computes the strength and constancy of what it determines, and its value where it is constant. */
		abstract void recalculate();

		boolean isInput() {
			return false;
		}

		/** Satisfies this constraint where that is possible; returns a weaker one that no longer is. */
		Constraint satisfy(int mark) {
			choose(mark);
			if (!isSatisfied()) {
				Result.check(strength != REQUIRED, "a required constraint cannot be satisfied");
				return null;
			}
			markInputs(mark);
			Variable output = output();
			Constraint overridden = output.determinedBy;
			if (overridden != null)
				overridden.unsatisfy();
			output.determinedBy = this;
			Result.check(propagate(this, mark), "a circle of constraints");
			output.mark = mark;
			return overridden;
		}

		final void add() {
			addTo();
			int mark = ++lastMark;
			for (Constraint c = satisfy(mark); c != null; c = c.satisfy(mark))
				continue;
		}

		final void destroy() {
			if (isSatisfied())
				retract(this);
			removeFrom();
		}
	}

	/** Determines one variable: keeps its value, or takes the one that is set from outside. */
	private final class Unary extends Constraint {
		private final Variable variable;
		private final boolean edits;
		private boolean satisfied;

		Unary(Variable variable, int strength, boolean edits) {
			super(strength);
			this.variable = variable;
			this.edits = edits;
			add();
		}

		@Override
		void addTo() {
			variable.constraints.add(this);
		}

		@Override
		void removeFrom() {
			variable.constraints.remove(this);
			satisfied = false;
		}

		@Override
		boolean isSatisfied() {
			return satisfied;
		}

		@Override
		void unsatisfy() {
			satisfied = false;
		}

		@Override
		void choose(int mark) {
			satisfied = variable.mark != mark && super.strength < variable.strength;
		}

		@Override
		void markInputs(int mark) {
			// There is no input.
		}

		@Override
		boolean inputsKnown(int mark) {
			return true;
		}

		@Override
		Variable output() {
			return variable;
		}

		@Override
		void execute() {
			// The value is there.
		}

		@Override
		void recalculate() {
			variable.strength = super.strength;
			variable.stays = !edits;
		}

		@Override
		boolean isInput() {
			return edits;
		}
	}

	/** Holds b = a * scale + offset, in either direction; a scale of null stands for b = a. */
	private final class Binary extends Constraint {
		private final Variable a, b, scale, offset;
		private Variable from, to; // null while it is not satisfied

		Binary(Variable a, Variable scale, Variable offset, Variable b, int strength) {
			super(strength);
			this.a = a;
			this.b = b;
			this.scale = scale;
			this.offset = offset;
			add();
		}

		@Override
		void addTo() {
			a.constraints.add(this);
			b.constraints.add(this);
			if (scale != null) {
				scale.constraints.add(this);
				offset.constraints.add(this);
			}
		}

		@Override
		void removeFrom() {
			a.constraints.remove(this);
			b.constraints.remove(this);
			if (scale != null) {
				scale.constraints.remove(this);
				offset.constraints.remove(this);
			}
			unsatisfy();
		}

		@Override
		boolean isSatisfied() {
			return to != null;
		}

		@Override
		void unsatisfy() {
			from = null;
			to = null;
		}

		private void direct(Variable from, Variable to) {
			boolean possible = super.strength < to.strength;
			this.from = possible ? from : null;
			this.to = possible ? to : null;
		}

		@Override
		void choose(int mark) {
			unsatisfy();
			if (a.mark == mark) {
				if (b.mark != mark)
					direct(a, b);
			} else if (b.mark == mark || a.strength > b.strength) {
				direct(b, a);
			} else {
				direct(a, b);
			}
		}

		@Override
		void markInputs(int mark) {
			from.mark = mark;
			if (scale != null) {
				scale.mark = mark;
				offset.mark = mark;
			}
		}

		private boolean known(Variable v, int mark) {
			return v == null || v.mark == mark || v.stays || v.determinedBy == null;
		}

		@Override
		boolean inputsKnown(int mark) {
			return known(from, mark) && known(scale, mark) && known(offset, mark);
		}

		@Override
		Variable output() {
			return to;
		}

		@Override
		void execute() {
			if (scale == null)
				to.value = from.value;
			else if (to == b)
				to.value = from.value * scale.value + offset.value;
			else
				to.value = (from.value - offset.value) / scale.value;
		}

		@Override
		void recalculate() {
			to.strength = Math.max(super.strength, from.strength);
			to.stays = from.stays && (scale == null || (scale.stays && offset.stays));
			if (to.stays)
				execute();
		}
	}

	private int lastMark;

	/** Adds the constraints that use a variable and are satisfied, but for the one that determines it. */
	private static void addConsumers(Variable variable, Deque<Constraint> found) {
		for (Constraint c : variable.constraints)
			if (c != variable.determinedBy && c.isSatisfied())
				found.add(c);
	}

	/** Computes anew what is behind a constraint; false where that leads back to its mark. */
	private boolean propagate(Constraint first, int mark) {
		Deque<Constraint> open = new ArrayDeque<>();
		open.add(first);
		while (!open.isEmpty()) {
			Constraint c = open.poll();
			if (c.output().mark == mark) {
				first.destroy();
				return false;
			}
			c.recalculate();
			addConsumers(c.output(), open);
		}
		return true;
	}

	/** Takes a constraint out of the solution, and satisfies those that now can be, the stronger ones first. */
	private void retract(Constraint constraint) {
		Variable output = constraint.output();
		constraint.unsatisfy();
		constraint.removeFrom();
		List<Constraint> unsatisfied = new ArrayList<>();
		Deque<Variable> open = new ArrayDeque<>();
		output.determinedBy = null;
		output.strength = WEAKEST;
		output.stays = true;
		open.add(output);
		while (!open.isEmpty()) {
			Variable v = open.poll();
			Deque<Constraint> consumers = new ArrayDeque<>();
			for (Constraint c : v.constraints)
				if (!c.isSatisfied())
					unsatisfied.add(c);
			addConsumers(v, consumers);
			for (Constraint c : consumers) {
				c.recalculate();
				open.add(c.output());
			}
		}
		unsatisfied.sort((x, y) -> Integer.compare(x.strength, y.strength));
		for (Constraint c : unsatisfied) {
			if (c.isSatisfied())
				continue;
			int mark = ++lastMark;
			for (Constraint next = c.satisfy(mark); next != null; next = next.satisfy(mark))
				continue;
		}
	}

	/** The order in which constraints compute what hangs on an input. */
	private List<Constraint> plan(Constraint source) {
		List<Constraint> plan = new ArrayList<>();
		Deque<Constraint> open = new ArrayDeque<>();
		int mark = ++lastMark;
		if (source.isInput() && source.isSatisfied())
			open.add(source);
		while (!open.isEmpty()) {
			Constraint c = open.poll();
			if (c.output().mark == mark || !c.inputsKnown(mark))
				continue;
			plan.add(c);
			c.output().mark = mark;
			addConsumers(c.output(), open);
		}
		return plan;
	}

	/** Sets a variable, and lets all that hangs on it follow. */
	private void change(Variable variable, long value, int times) {
		Unary edit = new Unary(variable, PREFERRED, true);
		List<Constraint> plan = plan(edit);
		for (int i = 0; i < times; i++) {
			variable.value = value + i;
			for (Constraint c : plan)
				c.execute();
		}
		edit.destroy();
	}

	private static long chain(int length) {
		DeltaBlue solver = new DeltaBlue();
		Variable[] variables = new Variable[length + 1];
		for (int i = 0; i <= length; i++)
			variables[i] = new Variable(0);
		for (int i = 0; i < length; i++)
			solver.new Binary(variables[i], null, null, variables[i + 1], REQUIRED);
		solver.new Unary(variables[length], STRONG_DEFAULT, false);
		solver.change(variables[0], 0, CHANGES);
		long last = variables[length].value;
		Result.check(last == CHANGES - 1, "the last of the chain is " + last);
		return last;
	}

	private static void follow(List<Variable> results, long scale, long offset) {
		for (int i = 0; i < results.size(); i++)
			Result.check(results.get(i).value == i * scale + offset, "pair " + i + " is " + results.get(i).value);
	}

	private static long pairs(int count) {
		DeltaBlue solver = new DeltaBlue();
		Variable scale = new Variable(10), offset = new Variable(1000), x = null, y = null;
		List<Variable> results = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			x = new Variable(i);
			y = new Variable(i);
			results.add(y);
			solver.new Unary(x, DEFAULT, false);
			solver.new Binary(x, scale, offset, y, REQUIRED);
		}
		solver.change(x, 17, 1);
		Result.check(y.value == 1170, "forwards it is " + y.value);
		solver.change(y, 1050, 1);
		Result.check(x.value == 5, "backwards it is " + x.value);
		results.remove(count - 1);
		solver.change(scale, 5, 1);
		follow(results, 5, 1000);
		solver.change(offset, 2000, 1);
		follow(results, 5, 2000);
		return results.get(count - 2).value;
	}

	public static void main(String[] args) {
		int variables = Integer.parseInt(args[0]);
		long sum = 0;
		for (int i = Integer.parseInt(args[1]); i > 0; i--)
			sum += chain(variables) + pairs(variables);
		Result.is(sum);
	}
}
