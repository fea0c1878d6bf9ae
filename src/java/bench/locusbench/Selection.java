// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import locusbench.record.Recording;

/** Which recorded executions a project gets, by how long they took: some for its test, and of them a few that are measured. */
final class Selection {
	private static final int TESTED_MAX = 10;
	/** The quantiles of the executions, ordered by duration, that are measured. */
	private static final double[] MEASURED = {0.1, 0.5, 0.9};

	private static final Comparator<Recording.Execution> BY_DURATION = Comparator.comparingLong(execution -> execution.ns);

	/** The fastest first. */
	final List<Recording.Execution> tested = new ArrayList<>();
	/** Indices into `tested`. */
	final List<Integer> measured = new ArrayList<>();

	Selection(Recording recording) {
		List<Recording.Execution> all = distinct(recording.recorded);
		all.sort(BY_DURATION);
		Set<Integer> most = new TreeSet<>();
		for (double part : MEASURED) {
			most.add(at(part, all.size()));
		}
		Set<Integer> chosen = new TreeSet<>(most);
		int others = TESTED_MAX - MEASURED.length;
		for (int i = 0; i < others; i++) {
			chosen.add(at((double) i / (others - 1), all.size()));
		}
		for (int i = 0; i < all.size(); i++) {
			if (chosen.contains(i)) {
				if (most.contains(i)) {
					measured.add(tested.size());
				}
				tested.add(all.get(i));
			}
		}
	}

	private static int at(double part, int size) {
		return (int) Math.round(part * (size - 1));
	}

	/** One execution for each input, the one of median duration: the first executions run before compilation. */
	private static List<Recording.Execution> distinct(List<Recording.Execution> all) {
		Map<ByteBuffer, List<Recording.Execution>> equal = new LinkedHashMap<>();
		for (Recording.Execution execution : all) {
			equal.computeIfAbsent(ByteBuffer.wrap(execution.inputs), inputs -> new ArrayList<>()).add(execution);
		}
		List<Recording.Execution> distinct = new ArrayList<>();
		for (List<Recording.Execution> group : equal.values()) {
			group.sort(BY_DURATION);
			distinct.add(group.get(group.size() / 2));
		}
		return distinct;
	}

	/** The numbers as values of a JMH parameter: `"0", "5"`. */
	String parameters() {
		StringBuilder text = new StringBuilder();
		for (int index : measured) {
			text.append(text.length() > 0 ? ", " : "").append('"').append(index).append('"');
		}
		return text.toString();
	}
}
