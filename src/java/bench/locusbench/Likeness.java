// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import locusbench.record.Recording;

/**
 * Tells whether a benchmark does what the program does in the segment: does an execution take as long, are the same parts of
 * objects touched, and as much memory? If the benchmark is faster, it does not wait for what the program waits for: nearly
 * always memory, which is in the cache here, since one execution is repeated.
 */
final class Likeness {
	private static final double FACTOR = 2; // as far as times and footprints may differ
	private static final double COMMON_LEAST = 0.75; // of the accesses: to the same parts
	static final long SAMPLES_LEAST = 30;
	private static final double PRECISE = 10; // from the lower end of an interval to its upper end, at most
	private static final double L1_BYTES = 32 << 10; // what is smaller is in the first cache, however small it is

	private static final String NOT_LIKE = "this benchmark is not like your program: ";

	private final List<String> alike = new ArrayList<>();
	private final List<String> differences = new ArrayList<>();
	private final List<String> unknown = new ArrayList<>();

	/** Lines for the report: a line for each difference; or what is alike in one, and what is not known in another. */
	List<String> sentences() {
		List<String> lines = differences.stream().map(text -> NOT_LIKE + text).collect(Collectors.toCollection(ArrayList::new));
		if (differences.isEmpty() && !alike.isEmpty()) {
			lines.add("this benchmark is like your program: " + String.join("; ", alike));
		}
		if (!unknown.isEmpty()) {
			lines.add("not compared with your program: " + String.join("; ", unknown));
		}
		return lines;
	}

	/**
	 * `samples`: how often the profile found the program in the segment; each stands for so much CPU time, 0 where it is none.
	 * `asProfiled`: the recording counted the executions that the profile is of.
	 */
	void time(long samples, long sampleNs, boolean asProfiled, Recording recording, Results results) {
		String reason = sampleNs == 0 ? "samples of this engine are not of time"
				: samples < SAMPLES_LEAST ? "the profile has " + samples + " samples of the segment"
				: asProfiled ? "" : "the executions of a run were counted that is not the profiled one, or of which the profile has a part";
		if (!reason.isEmpty()) {
			unknown.add("the time of an execution (" + reason + ")");
			return;
		}
		double there = (double) samples * sampleNs / recording.executions;
		double here = mean(recording, results);
		if (here > there / FACTOR && here < there * FACTOR) {
			alike.add("an execution took " + number(there) + " ns of CPU time there, and takes " + number(here) + " ns here");
			return;
		}
		differences.add(String.format(Locale.ROOT, "an execution took %s ns of CPU time there (%,d samples, %,d executions), and takes"
				+ " %s ns here%s", number(there), samples, recording.executions, number(here), here < there ? ": most likely what it waits"
						+ " for there is in the cache here; a larger segment, as --at CLASS#METHOD of a caller, has more of it" : ""));
	}

	/** Prints what the program and the benchmark touch, or why that is not known. */
	void accesses(Accesses there, Accesses here, List<String> inputs) {
		if (!there.engine.equals(here.engine)) {
			unknown("the profile has samples of the engine " + there.engine + ", the benchmark's of " + here.engine);
			return;
		}
		drop(there, here, inputs);
		parts(there, here);
		footprints(there.footprint, here.footprint);
	}

	void unknown(String why) {
		unknown.add("what is touched (" + why + ")");
	}

	/**
	 * Leave out fields of the program that the benchmark has in fields of its own: its accesses to these do not count, and a
	 * field of the same name that it never touches is most likely one of them.
	 */
	private static void drop(Accesses there, Accesses here, List<String> inputs) {
		Set<String> names = inputs.stream().filter(name -> name.contains(".")).map(Likeness::last).collect(Collectors.toSet());
		there.parts.keySet().removeIf(part -> !here.parts.containsKey(part) && !part.contains(" ") && names.contains(last(part)));
	}

	private static String last(String name) {
		return name.substring(name.lastIndexOf('.') + 1);
	}

	private void parts(Accesses there, Accesses here) {
		double fewest = Math.min(there.observations(), here.observations());
		if (fewest < SAMPLES_LEAST) {
			unknown.add(String.format(Locale.ROOT, "the parts of objects that are touched (%.0f samples of them there, %.0f here)", there.samples(), here.samples()));
			return;
		}
		Set<String> all = new TreeSet<>(there.parts.keySet());
		all.addAll(here.parts.keySet());
		double common = 0;
		double chance = 0;
		String most = "";
		for (String part : all) {
			common += Math.min(there.share(part), here.share(part));
			chance += chance(part, there, here);
			if (most.isEmpty() || difference(part, there, here) > difference(most, there, here)) {
				most = part;
			}
		}
		String text = String.format(Locale.ROOT, "%.0f%%%s of the accesses are to the same parts of objects", 100 * common,
				common + chance < COMMON_LEAST ? " only" : "");
		if (common + chance < COMMON_LEAST) {
			differences.add(String.format(Locale.ROOT, "%s; %.0f%% are to %s there, and %.0f%% here", text, 100 * there.share(most), most, 100 * here.share(most)));
		} else {
			alike.add(text);
		}
	}

	private static double difference(String part, Accesses there, Accesses here) {
		return Math.abs(there.share(part) - here.share(part));
	}

	/** By how much two samples of one distribution have less in common, in this part: half the mean of their difference. */
	private static double chance(String part, Accesses there, Accesses here) {
		double n = there.observations();
		double m = here.observations();
		double share = (there.share(part) * n + here.share(part) * m) / (n + m);
		return Math.sqrt(share * (1 - share) * (1 / n + 1 / m) / (2 * Math.PI));
	}

	private void footprints(Accesses.Footprint there, Accesses.Footprint here) {
		if (there == null || here == null || Math.min(there.samples, here.samples) < SAMPLES_LEAST) {
			unknown.add("the cache footprint (" + samples(there) + " there, and " + samples(here) + " here)");
			return;
		}
		boolean isMore = there.bytes > here.bytes;
		Accesses.Footprint more = isMore ? there : here;
		Accesses.Footprint less = isMore ? here : there;
		String text = "the accesses are to " + about(there) + " of cache lines there, and to " + about(here) + " here";
		if (atLeast(more.low) > FACTOR * atLeast(less.bytes) && atLeast(more.low) > atLeast(less.high)) {
			differences.add(text + (isMore ? ": the cache is large enough for those of one execution, which is repeated" : ""));
		} else if (atLeast(more.bytes) < FACTOR * atLeast(less.bytes) && isPrecise(more) && isPrecise(less)) {
			alike.add(text);
		} else {
			unknown.add("the cache footprint (" + about(there) + " there and " + about(here) + " here, of " + there.samples + " and " + here.samples
					+ " samples)");
		}
	}

	private static String samples(Accesses.Footprint of) {
		return (of == null ? 0 : of.samples) + " samples with a known cache line";
	}

	private static double atLeast(double bytes) {
		return Math.max(L1_BYTES, bytes);
	}

	private static boolean isPrecise(Accesses.Footprint of) {
		return of.high < PRECISE * atLeast(of.low);
	}

	private static String about(Accesses.Footprint of) {
		return isPrecise(of) ? "about " + bytes(of.bytes) : bytes(of.low) + " or more";
	}

	private static String bytes(double bytes) {
		return bytes < 1 << 20 ? number(Math.max(1, Math.round(bytes / (1 << 10)))) + " KB" : number(bytes / (1 << 20)) + " MB";
	}

	private static String number(double value) {
		return String.format(Locale.ROOT, value < 100 ? "%.1f" : "%,.0f", value).replaceFirst("\\.0$", "");
	}

	/**
	 * The mean time of all recorded executions: each takes that of the measured one with equal inputs, or else that of the one
	 * that took most nearly as long in the program, in proportion.
	 */
	static double mean(Recording recording, Results results) {
		Selection selection = new Selection(recording);
		double sum = 0;
		for (Recording.Execution execution : recording.recorded) {
			double best = Double.NaN;
			double distance = Double.MAX_VALUE;
			for (int index : selection.measured) {
				Recording.Execution measured = selection.tested.get(index);
				double ratio = Arrays.equals(execution.inputs, measured.inputs) ? 1 : Math.max(1.0, execution.ns) / Math.max(1.0, measured.ns);
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
