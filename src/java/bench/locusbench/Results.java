// SPDX-License-Identifier: Apache-2.0
package locusbench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Prints what JMH measured of a benchmark, with intervals, as a table, and beside it another version of the benchmark if
 * there is one.
 *
 * Forks are the samples, since iterations of one fork share its luck: how the JVM compiled, where objects lie. With fewer than
 * three forks, the iterations are the samples.
 */
final class Results {
	/** Part of the mean that half an interval may be of a benchmark that is stable. */
	private static final double ERROR_MAX = 0.2;
	private static final int FORKS_LEAST = 3;
	/** Part of the first iteration of a fork by which its last may differ from it, on average. */
	private static final double DRIFT_MAX = 0.1;
	private static final double LEAST_OBJECT_BYTES = 16;
	private static final double OWN_RATE = 0.1; // MiB a second

	/** One input's figures. */
	private static final class Row {
		final String input;
		final Estimate ns;
		final double bytes;
		final double rate;
		final int forks;
		/** From the first iteration of a fork to its last, as a part of the first: of all forks together. */
		final double drift;
		final boolean isGettingFaster; // each of enough forks, from its first iteration to its last

		/** `runs` are all runs of JMH that measured this input. */
		Row(String input, List<JsonNode> runs) {
			this.input = input;
			List<JsonNode> raw = new ArrayList<>();
			runs.forEach(run -> run.path("primaryMetric").path("rawData").forEach(raw::add));
			forks = raw.size();
			ns = new Estimate(samples(raw));
			drift = drift(raw);
			isGettingFaster = forks >= FORKS_LEAST && -drift > DRIFT_MAX
					&& raw.stream().allMatch(fork -> fork.path(fork.size() - 1).asDouble() < fork.path(0).asDouble());
			bytes = metric(runs, "gc.alloc.rate.norm");
			rate = metric(runs, "gc.alloc.rate"); // MiB a second
		}

		static String input(JsonNode run) {
			StringBuilder text = new StringBuilder();
			run.path("params").properties().forEach(
					p -> text.append(text.length() > 0 ? " " : "").append(p.getValue().asText()));
			return text.toString();
		}

		private static double[] samples(List<JsonNode> raw) {
			List<Double> samples = new ArrayList<>();
			for (JsonNode fork : raw) {
				double sum = 0;
				for (JsonNode iteration : fork) {
					sum += iteration.asDouble();
					if (raw.size() < FORKS_LEAST) {
						samples.add(iteration.asDouble());
					}
				}
				if (raw.size() >= FORKS_LEAST) {
					samples.add(sum / fork.size());
				}
			}
			return samples.stream().mapToDouble(Double::doubleValue).toArray();
		}

		private static double drift(List<JsonNode> raw) {
			double first = 0;
			double last = 0;
			for (JsonNode fork : raw) {
				first += fork.path(0).asDouble();
				last += fork.path(fork.size() - 1).asDouble();
			}
			return last / first - 1;
		}

		private static double metric(List<JsonNode> runs, String name) {
			double sum = 0;
			for (JsonNode run : runs) {
				sum += run.path("secondaryMetrics").path(name).path("score").asDouble(0);
			}
			return sum / runs.size();
		}
	}

	private final String benchmark;
	private final String version;
	private final List<Row> rows = new ArrayList<>();
	private final List<String> notes = new ArrayList<>();
	private Results before;

	private Results(String benchmark, String version) {
		this.benchmark = benchmark;
		this.version = version;
	}

	/** JMH's file; the notes are said below the table. `version` is "" where there is one only. */
	static Results read(Path json, String benchmark, String version, List<String> notes) throws IOException, Refusal {
		return read(List.of(json), benchmark, version, notes);
	}

	/** The same of several runs of JMH, whose forks are taken together. */
	static Results read(List<Path> files, String benchmark, String version, List<String> notes) throws IOException, Refusal {
		Results results = new Results(benchmark, version);
		Map<String, List<JsonNode>> byInput = new LinkedHashMap<>();
		for (Path json : files) {
			for (JsonNode run : new ObjectMapper().readTree(json.toFile())) {
				byInput.computeIfAbsent(Row.input(run), input -> new ArrayList<>()).add(run);
			}
		}
		byInput.forEach((input, runs) -> results.rows.add(new Row(input, runs)));
		if (results.rows.isEmpty()) {
			throw new Refusal("JMH has measured nothing: '" + files.get(0) + "' is empty");
		}
		results.notes.addAll(notes);
		return results;
	}

	/** Show the version that these results are to be compared with, above them. */
	Results against(Results other) {
		before = other;
		return this;
	}

	/** One more line below the table. */
	void note(String sentence) {
		notes.add(sentence);
	}

	/** An input's time, in ns; null: it was not measured. */
	Estimate ns(String input) {
		Row row = row(input);
		return row == null ? null : row.ns;
	}

	/** Was it not warm yet, as far as can be told? */
	boolean isGettingFaster() {
		return rows.stream().anyMatch(row -> row.isGettingFaster);
	}

	boolean isStable() {
		return unstable().isEmpty() && (before == null || before.isStable());
	}

	/** For main(): 0, or 3 where a benchmark is not stable. */
	int status() {
		return isStable() ? 0 : 3;
	}

	/** The table and all lines below it. */
	String text() {
		StringBuilder text = new StringBuilder(table());
		boolean ofForks = rows.get(0).forks >= FORKS_LEAST;
		text.append("\nIntervals are of 95%: Student's, over the ").append(ofForks ? "means of " + rows.get(0).forks + " forks" : "iterations")
				.append(before == null ? ".\n" : "; of a speed-up Fieller's.\n");
		List<String> said = new ArrayList<>(before == null ? List.of() : before.notes);
		for (String note : notes) {
			if (!said.contains(note)) {
				said.add(note);
			}
		}
		if (before != null) {
			said.addAll(before.drifting());
		}
		said.addAll(drifting());
		said.forEach(note -> text.append("note: ").append(note).append('\n'));
		if (before != null) {
			before.unstable().forEach(line -> text.append(line).append('\n'));
		}
		unstable().forEach(line -> text.append(line).append('\n'));
		return text.toString();
	}

	private String table() {
		boolean two = before != null;
		Table table = new Table();
		table.add("benchmark", "input", two ? "version" : null, "ns a call", "95% interval", "bytes a call", "MiB/s allocated",
				two ? "speed-up" : null, two ? "95% interval" : null);
		for (Row row : rows) {
			Row other = two ? before.row(row.input) : null;
			if (other != null) {
				table.add(before.line(other, true, null));
			}
			table.add(line(row, two, other == null ? null : other.ns.over(row.ns)));
		}
		return table.text();
	}

	private Row row(String input) {
		return rows.stream().filter(row -> row.input.equals(input)).findFirst().orElse(null);
	}

	private String[] line(Row row, boolean two, Estimate speedUp) {
		return new String[] {benchmark, row.input, two ? version : null, number(row.ns.mean), interval(row.ns), bytes(row),
			number(row.rate), two ? speedUp == null ? "" : ratio(speedUp.mean) : null,
			two ? speedUp == null ? "" : ratio(speedUp.low) + " .. " + ratio(speedUp.high) : null};
	}

	private List<String> unstable() {
		List<String> lines = new ArrayList<>();
		for (Row row : rows) {
			if (!(row.ns.error() <= ERROR_MAX)) {
				lines.add("this benchmark is not stable: " + named(row) + ": its interval is " + (Double.isInfinite(row.ns.error()) ? "unknown, of one sample"
								: String.format(Locale.ROOT, "+-%.0f%% of its mean", 100 * row.ns.error())));
			}
		}
		return lines;
	}

	/** Warnings about rows that changed while they were measured. */
	private List<String> drifting() {
		List<String> lines = new ArrayList<>();
		for (Row row : rows) {
			if (Math.abs(row.drift) > DRIFT_MAX) {
				lines.add(named(row) + String.format(Locale.ROOT, ": a call takes %.0f%% %s at the end of a fork than when measuring"
						+ " begins: %s", 100 * Math.abs(row.drift), row.drift < 0 ? "less" : "more",
						row.drift < 0 ? "it was not warm" : "what it works on grows, or the machine got slower"));
			}
		}
		return lines;
	}

	private String named(Row row) {
		return benchmark + (version.isEmpty() ? "" : " (" + version + ")") + ", input " + row.input;
	}

	private static String interval(Estimate estimate) {
		return Double.isInfinite(estimate.high) ? "unknown" : number(Math.max(0, estimate.low)) + " .. " + number(estimate.high);
	}

	private static String number(double value) {
		return String.format(Locale.ROOT, value < 100 ? "%,.2f" : value < 10_000 ? "%,.1f" : "%,.0f", value);
	}

	/** The JVM and JMH allocate a little meanwhile, which is a part of a long call. */
	private static String bytes(Row row) {
		return row.bytes < 0.01 || row.bytes < LEAST_OBJECT_BYTES && row.rate < OWN_RATE ? "0" : number(row.bytes);
	}

	private static String ratio(double value) {
		return Double.isInfinite(value) ? "unknown" : String.format(Locale.ROOT, "%.2fx", value);
	}
}
