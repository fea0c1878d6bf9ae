package locusbench;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import spoon.reflect.code.CtLocalVariable;
import spoon.reflect.code.CtReturn;
import spoon.reflect.code.CtStatement;
import spoon.reflect.cu.SourcePosition;

/**
 * Writes the source file of a segment so that it records what the segment begins with and what it leaves. All other text of
 * the file stays as it is, on its lines.
 */
final class Instrumentation {
	private static final String RECORDER = "locusbench.record.Recorder";
	private static final String TICKET = "locusTicket";

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

	private final Segment segment;
	private final Variables variables;
	private final String original;
	private final List<Change> changes = new ArrayList<>();

	/** `original`: the text of the segment's source file. */
	Instrumentation(Segment segment, Variables variables, String original) {
		this.segment = segment;
		this.variables = variables;
		this.original = original;
	}

	/** The text of the source file. */
	String text() {
		String inputs = variables.inputs.stream().map(i -> i.inProgram).collect(Collectors.joining(", "));
		String left = variables.outputs.stream().map(o -> ", " + o.inProgram).collect(Collectors.joining());
		String begin = "final int " + TICKET + " = " + RECORDER + ".enter(); if (" + TICKET + " >= 0) { " + RECORDER + ".inputs("
				+ TICKET + ", new Object[] {" + inputs + "}); } ";
		String end = Completes.normally(segment.statement) ? " " + record("null", left) : "";
		if (!(segment.statement instanceof CtLocalVariable)) { // whose name has to be known behind it
			begin += "try { ";
			end += " } catch (Throwable locusThrown) { " + RECORDER + ".failed(" + TICKET + "); throw locusThrown; }";
			if (!segment.isWholeMethod()) {
				begin = "{ " + begin;
				end += " }";
			}
		}
		segment.returns().forEach(r -> ends(r, left));
		SourcePosition at = segment.statement.getPosition();
		int within = segment.isWholeMethod() ? 1 : 0; // of the braces
		int from = labelled(segment.statement, at.getSourceStart()) + within;
		int to = at.getSourceEnd() + 1 - within;
		changes.add(new Change(from, from, begin));
		changes.add(new Change(to, to, end));
		return changed();
	}

	/** Where the label of the statement begins, which is not in its position. */
	private int labelled(CtStatement statement, int start) {
		String label = statement.getLabel();
		if (label == null || original.startsWith(label, start)) {
			return start;
		}
		int at = original.lastIndexOf(label, start);
		return at >= 0 && original.substring(at + label.length(), start).trim().equals(":") ? at : start;
	}

	private static String record(String result, String left) {
		return "if (" + TICKET + " >= 0) { " + RECORDER + ".outputs(" + TICKET + ", new Object[] {" + result + left + "}); }";
	}

	/** A return gives its value to the recorder first. */
	private void ends(CtReturn<?> r, String left) {
		SourcePosition at = r.getPosition();
		if (r.getReturnedExpression() == null) {
			changes.add(new Change(at.getSourceStart(), at.getSourceStart(), "{ " + record("null", left) + " "));
			changes.add(new Change(at.getSourceEnd() + 1, at.getSourceEnd() + 1, " }"));
			return;
		}
		String type = segment.method.getType().toString().replace('$', '.');
		int word = at.getSourceStart() + "return".length();
		changes.add(new Change(at.getSourceStart(), word, "{ final " + type + " locusResult ="));
		changes.add(new Change(at.getSourceEnd() + 1, at.getSourceEnd() + 1,
				" " + record("locusResult", left) + " return locusResult; }"));
	}

	private String changed() {
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
