// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import spoon.reflect.code.CtLocalVariable;
import spoon.reflect.code.CtReturn;
import spoon.reflect.code.CtStatement;
import spoon.reflect.cu.SourcePosition;

/**
 * Writes a source file so that it records what segments begin with and what they leave. All other text of the file stays as
 * it is, on its lines. One segment is what a program records; all loops of a class are what evaluations do.
 */
final class Instrumentation {
	private static final String RECORDER = "locusbench.record.Recorder";
	private static final String TICKET = "locusTicket"; // and the number of the segment

	/** Text in place of that from `begin` to `end`. */
	private static final class Change {
		final int begin;
		final int end;
		final String text;

		Change(int begin, int end, String text) {
			this.begin = begin;
			this.end = end;
			this.text = text;
		}
	}

	private final String original;
	private final List<Change> begins = new ArrayList<>(); // those of outer segments first
	private final List<Change> ends = new ArrayList<>(); // those of inner segments first
	private final Map<CtReturn<?>, StringBuilder> records = new IdentityHashMap<>(); // what is recorded before a return
	private int segments;

	/** `original`: the text of the source file. */
	Instrumentation(String original) {
		this.original = original;
	}

	/** Record this segment too; those around it come before it. */
	Instrumentation with(Segment segment, Variables variables) {
		String ticket = TICKET + segments++;
		String inputs = variables.inputs.stream().map(i -> i.inProgram).collect(Collectors.joining(", "));
		String left = variables.outputs.stream().map(o -> ", " + o.inProgram).collect(Collectors.joining());
		String begin = "final int " + ticket + " = " + RECORDER + ".enter(); if (" + ticket + " >= 0) { " + RECORDER + ".inputs("
				+ ticket + ", new Object[] {" + inputs + "}); } ";
		String end = Completes.normally(segment.statement) ? " " + record(ticket, "null", left) : "";
		if (!(segment.statement instanceof CtLocalVariable)) { // whose name has to be known behind it
			begin += "try { ";
			end += " } catch (Throwable locusThrown) { " + RECORDER + ".failed(" + ticket + "); throw locusThrown; }";
			if (!segment.isWholeMethod()) {
				begin = "{ " + begin;
				end += " }";
			}
		}
		for (CtReturn<?> r : segment.returns()) {
			String result = r.getReturnedExpression() == null ? "null" : "locusResult";
			records.computeIfAbsent(r, x -> new StringBuilder()).insert(0, record(ticket, result, left) + " ");
		}
		SourcePosition at = segment.statement.getPosition();
		int within = segment.isWholeMethod() ? 1 : 0; // of the braces
		int from = labelled(segment.statement, at.getSourceStart()) + within;
		int to = at.getSourceEnd() + 1 - within;
		begins.add(new Change(from, from, begin));
		ends.add(0, new Change(to, to, end));
		return this;
	}

	/** The offset of the statement's label, which is not part of its position. */
	private int labelled(CtStatement statement, int start) {
		String label = statement.getLabel();
		if (label == null || original.startsWith(label, start)) {
			return start;
		}
		int at = original.lastIndexOf(label, start);
		return at >= 0 && original.substring(at + label.length(), start).trim().equals(":") ? at : start;
	}

	private static String record(String ticket, String result, String left) {
		return "if (" + ticket + " >= 0) { " + RECORDER + ".outputs(" + ticket + ", new Object[] {" + result + left + "}); }";
	}

	/** The text of the source file. At one place, ends come before other changes, and a return ends before a segment around it. */
	String text() {
		List<Change> changes = new ArrayList<>();
		List<Change> values = new ArrayList<>();
		records.forEach((r, text) -> {
			int start = r.getPosition().getSourceStart();
			int end = r.getPosition().getSourceEnd() + 1;
			if (r.getReturnedExpression() == null) {
				changes.add(new Change(end, end, " }"));
				values.add(new Change(start, start, "{ " + text));
				return;
			}
			String type = Types.textInside(Segment.typeOf(r));
			changes.add(new Change(end, end, " " + text + "return locusResult; }"));
			values.add(new Change(start, start + "return".length(), "{ final " + type + " locusResult ="));
		});
		changes.addAll(ends);
		changes.addAll(begins);
		changes.addAll(values);
		changes.sort(Comparator.comparingInt((Change c) -> c.begin));
		StringBuilder text = new StringBuilder();
		int at = 0;
		for (Change change : changes) {
			text.append(original, at, change.begin).append(change.text);
			at = change.end;
		}
		return text.append(original, at, original.length()).toString();
	}
}
