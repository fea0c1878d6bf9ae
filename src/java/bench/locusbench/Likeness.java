package locusbench;

import java.util.Locale;
import java.util.Map;
import locusbench.record.Recording;

/**
 * Tells whether a benchmark takes the time that the program does: its profile says how much CPU time the segment had, and the
 * recording how many executions that was. Where the benchmark is much faster, what the program waits for is missing in it:
 * nearly always memory that is in the cache here, since one execution is repeated.
 */
final class Likeness {
	private static final double FACTOR = 2; // as far as the times may differ
	private static final long SAMPLES_LEAST = 30;

	private Likeness() {
	}

	/** A sentence for the report; "" where the benchmark is like the program. */
	static String of(Request request, Payload payload, Recording recording, Results results) {
		long samples = 0;
		for (Map.Entry<Integer, Long> row : request.withCallsByLine.entrySet()) {
			boolean inside = row.getKey() >= payload.firstLine && row.getKey() <= payload.lastLine;
			samples += inside ? row.getValue() : 0;
		}
		if (recording.executions == 0 || recording.recorded.isEmpty()) {
			return "";
		} else if (request.sampleNs == 0 || samples < SAMPLES_LEAST) {
			return "whether this benchmark is like your program is not known: "
					+ (request.sampleNs == 0 ? "samples of this engine are not of time" : "the profile has " + samples + " samples of the segment");
		}
		double there = (double) samples * request.sampleNs / recording.executions;
		double here = mean(recording, results);
		if (here > there / FACTOR && here < there * FACTOR) {
			return "";
		}
		return String.format(Locale.ROOT, "this benchmark is not like your program: an execution took %s ns of CPU time there (%,d"
				+ " samples, %,d executions), and takes %s ns here%s", number(there), samples, recording.executions, number(here),
				here < there ? ": most likely what it waits for there is in the cache here; a larger segment, as --at CLASS#METHOD of a caller, has more of it"
						: "");
	}

	private static String number(double ns) {
		return String.format(Locale.ROOT, ns < 100 ? "%.1f" : "%,.0f", ns);
	}

	/**
	 * The mean time of all recorded executions: each takes that of the measured one that took most nearly as long in the
	 * program, in proportion.
	 */
	static double mean(Recording recording, Results results) {
		Selection selection = new Selection(recording);
		double sum = 0;
		for (Recording.Execution execution : recording.recorded) {
			double best = Double.NaN;
			double distance = Double.MAX_VALUE;
			for (int index : selection.measured) {
				double ratio = Math.max(1.0, execution.ns) / Math.max(1.0, selection.tested.get(index).ns);
				if (Math.abs(Math.log(ratio)) < distance) {
					distance = Math.abs(Math.log(ratio));
					best = results.ns(String.valueOf(index)).mean * ratio;
				}
			}
			sum += best;
		}
		return sum / recording.recorded.size();
	}
}
