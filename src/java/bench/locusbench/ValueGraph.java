// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The value dependence graph of a segment, in static single assignment form: each assignment makes a value, which
 * depends on the values it was computed from; where paths join, a value depends on those of all paths and on the
 * condition that chooses. A variable is any key: a local variable, a field, or the contents of an object.
 */
final class ValueGraph {
	/** One value. */
	static final class Value {
		final Object variable;
		final String name; // b1 is the second value of b
		private boolean join; // where paths meet
		private final Set<Value> from = new LinkedHashSet<>();

		private Value(Object variable, String name) {
			this.variable = variable;
			this.name = name;
		}

		@Override
		public String toString() {
			return name;
		}

		/** Is all that it is computed from in a value's all()? A join is no computation of its own. */
		boolean isKeptBy(Set<Value> all) {
			return all.contains(this) || join && all.containsAll(from);
		}

		/** All that the value depends on, directly or not; itself only where it is in a cycle. */
		Set<Value> all() {
			return ValueGraph.all(List.of(this));
		}
	}

	/** All that any of the values depends on: one walk, since a long method has some ten thousand values. */
	private static Set<Value> all(Collection<Value> values) {
		Set<Value> seen = new HashSet<>();
		Deque<Value> open = new ArrayDeque<>();
		values.forEach(value -> open.addAll(value.from));
		while (!open.isEmpty()) {
			Value next = open.pop();
			if (seen.add(next)) {
				open.addAll(next.from);
			}
		}
		return seen;
	}

	/** The variables as they are at a point of a path. */
	private static final class Scope {
		final Scope outer;
		final boolean loop;
		final Map<Object, Value> now = new LinkedHashMap<>();
		final Map<Object, Value> atHead = new LinkedHashMap<>(); // of a loop: what its first and later turns begin with
		final Set<Value> endedBy = new LinkedHashSet<>(); // of a loop: the values that end it

		Scope(Scope outer, boolean loop) {
			this.outer = outer;
			this.loop = loop;
		}
	}

	private final Map<Object, Integer> counts = new LinkedHashMap<>();
	private final Map<Object, Value> entries = new LinkedHashMap<>();
	private final Set<Value> conditions = new LinkedHashSet<>();
	private Scope scope = new Scope(null, false);

	private Value make(Object variable, Collection<Value> from) {
		int number = counts.merge(variable, 1, Integer::sum) - 1;
		Value value = new Value(variable, variable.toString() + (number == 0 ? "" : number));
		value.from.addAll(from);
		return value;
	}

	/** The value that the variable has now: where nothing has assigned to it, that of the segment's begin. */
	Value read(Object variable) {
		return read(scope, variable);
	}

	private Value read(Scope in, Object variable) {
		Value value = in.now.get(variable);
		if (value != null) {
			return value;
		}
		if (in.outer == null) {
			value = entries.computeIfAbsent(variable, v -> new Value(v, v + "@begin"));
		} else if (in.loop) {
			value = new Value(variable, variable + "@loop");
			in.atHead.put(variable, value);
			in.now.put(variable, value);
			value.from.add(read(in.outer, variable));
			return value;
		} else {
			return read(in.outer, variable);
		}
		in.now.put(variable, value);
		return value;
	}

	void assign(Object variable, Collection<Value> from) {
		scope.now.put(variable, make(variable, from));
	}

	/** A variable that has no value yet, or a new one of the same name. */
	void declare(Object variable) {
		scope.now.remove(variable);
	}

	/** A value that decides which way the program goes. */
	void condition(Collection<Value> values) {
		conditions.addAll(values);
	}

	/** Values that decide whether the innermost loop goes on. */
	void endsLoop(Collection<Value> values) {
		for (Scope at = scope; at != null; at = at.outer) {
			if (at.loop) {
				at.endedBy.addAll(values);
				return;
			}
		}
	}

	/** Paths of which one is gone; `chosenBy` are the values that choose. */
	void join(Collection<Value> chosenBy, List<Runnable> paths) {
		Scope before = scope;
		List<Scope> ends = new ArrayList<>();
		Set<Object> assigned = new LinkedHashSet<>();
		for (Runnable path : paths) {
			scope = new Scope(before, false);
			path.run();
			ends.add(scope);
			assigned.addAll(scope.now.keySet());
		}
		scope = before;
		for (Object variable : assigned) {
			Set<Value> from = new LinkedHashSet<>();
			for (Scope end : ends) {
				Value value = end.now.get(variable);
				from.add(value != null ? value : read(variable));
			}
			if (from.size() == 1) {
				scope.now.put(variable, from.iterator().next());
				continue;
			}
			from.addAll(chosenBy);
			scope.now.put(variable, joined(make(variable, from)));
		}
	}

	private static Value joined(Value value) {
		value.join = true;
		return value;
	}

	/** A part that runs any number of times; what the variables are afterwards depends on its conditions. */
	void repeat(Runnable part) {
		Scope before = scope;
		scope = new Scope(before, true);
		part.run();
		Scope turn = scope;
		scope = before;
		for (Map.Entry<Object, Value> row : turn.now.entrySet()) {
			Value head = turn.atHead.get(row.getKey());
			if (head == row.getValue()) {
				continue;
			}
			if (head != null) {
				head.from.add(row.getValue());
				head.from.addAll(turn.endedBy);
				scope.now.put(row.getKey(), joined(make(row.getKey(), Arrays.asList(head, row.getValue()))));
			} else {
				Set<Value> from = new LinkedHashSet<>(turn.endedBy);
				from.add(row.getValue());
				from.add(read(row.getKey()));
				scope.now.put(row.getKey(), joined(make(row.getKey(), from)));
			}
		}
	}

	/** The last values of the variables that the segment assigns to. */
	Map<Object, Value> last() {
		Map<Object, Value> last = new LinkedHashMap<>(scope.now);
		last.values().removeAll(entries.values());
		return last;
	}

	/**
	 * The least of `candidates` that keeps all of them alive: one that another depends on, or something in `kept`, is
	 * left out; of some that depend on one another the last one stays.
	 */
	static List<Value> sinks(List<Value> candidates, Collection<Value> kept) {
		List<Value> sinks = new ArrayList<>();
		Set<Value> ofKept = all(kept);
		List<Set<Value>> ofCandidates = new ArrayList<>();
		candidates.forEach(candidate -> ofCandidates.add(candidate.all()));
		for (int i = 0; i < candidates.size(); i++) {
			Value value = candidates.get(i);
			boolean needed = !isKeptByOne(value, kept, ofKept);
			for (int j = 0; needed && j < candidates.size(); j++) {
				Value other = candidates.get(j);
				needed = other == value || !value.isKeptBy(ofCandidates.get(j)) || other.isKeptBy(ofCandidates.get(i)) && j < i;
			}
			if (needed) {
				sinks.add(value);
			}
		}
		return sinks;
	}

	/** `all`: what all of `kept` depend on. */
	private static boolean isKeptByOne(Value value, Collection<Value> kept, Set<Value> all) {
		return all.contains(value) || value.isKeptBy(all) && kept.stream().anyMatch(k -> value.isKeptBy(k.all()));
	}

	/** The variables whose last values depend, over calls of the segment, on their own first ones. */
	Set<Object> carried() {
		Map<Object, Set<Object>> next = next();
		Set<Object> found = new LinkedHashSet<>(next.keySet());
		found.removeIf(variable -> !reaches(next, variable));
		return found;
	}

	/** The changed variables that a condition depends on: with their new values the second call goes another way. */
	Set<Object> resets() {
		Map<Object, Set<Object>> next = next();
		Set<Object> found = new LinkedHashSet<>(deciding(next));
		found.removeIf(variable -> !reaches(next, variable));
		return found;
	}

	/** For each variable, those from whose values at the begin of a call its last value is computed. */
	private Map<Object, Set<Object>> next() {
		Map<Object, Value> last = last();
		Map<Object, Set<Object>> next = new LinkedHashMap<>();
		for (Map.Entry<Object, Value> row : last.entrySet()) {
			Set<Object> from = new LinkedHashSet<>();
			Set<Value> all = row.getValue().all();
			for (Map.Entry<Object, Value> entry : entries.entrySet()) {
				if (all.contains(entry.getValue()) && last.containsKey(entry.getKey())) {
					from.add(entry.getKey());
				}
			}
			next.put(row.getKey(), from);
		}
		return next;
	}

	/** The variables that a condition depends on, in this call or, by others, in a later one. */
	private Set<Object> deciding(Map<Object, Set<Object>> next) {
		Set<Object> found = new LinkedHashSet<>();
		Deque<Object> open = new ArrayDeque<>();
		Set<Value> ofConditions = all(conditions);
		for (Object variable : next.keySet()) {
			Value begin = entries.get(variable);
			if (begin != null && (conditions.contains(begin) || ofConditions.contains(begin))) {
				open.add(variable);
			}
		}
		while (!open.isEmpty()) {
			Object variable = open.pop();
			if (found.add(variable)) {
				open.addAll(next.get(variable));
			}
		}
		return found;
	}

	private static boolean reaches(Map<Object, Set<Object>> next, Object variable) {
		Set<Object> seen = new LinkedHashSet<>();
		Deque<Object> open = new ArrayDeque<>(next.get(variable));
		while (!open.isEmpty()) {
			Object at = open.pop();
			if (at.equals(variable)) {
				return true;
			}
			if (seen.add(at)) {
				open.addAll(next.getOrDefault(at, Set.of()));
			}
		}
		return false;
	}
}
