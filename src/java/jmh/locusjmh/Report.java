// SPDX-License-Identifier: Apache-2.0
package locusjmh;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Writes the report of a fork's profile, or of its measured iterations, in a few lines of text. */
final class Report {
	/** There is no report; the message says why, in one line. */
	static final class Failed extends Exception {
		private static final long serialVersionUID = 1;

		Failed(String why) {
			super(why);
		}
	}

	private static final int SECONDS_MAX = 300;

	private final Object json;
	private final boolean measured;

	private Report(Object json, boolean measured) {
		this.json = json;
		this.measured = measured;
	}

	/** `measured`: of what is between the marks, else of the whole fork. */
	static Report of(Installation locus, Path profile, boolean measured) throws Failed {
		List<String> words = new ArrayList<>(Arrays.asList(locus.command.toString(), "report", "--format=json"));
		Path out = null;
		Path err = null;
		try {
			out = Files.createTempFile("locus-jmh", ".json");
			err = Files.createTempFile("locus-jmh", ".err");
			if (measured) {
				words.addAll(Arrays.asList("--from-mark=" + LocusProfiler.BEGIN_MARK, "--to-mark=" + LocusProfiler.END_MARK));
			}
			words.add(profile.toString());
			run(new ProcessBuilder(words).redirectOutput(out.toFile()).redirectError(err.toFile()), err);
			return new Report(Json.parse(read(out)), measured);
		} catch (IOException e) {
			throw new Failed("locus report cannot be run: " + e.getMessage());
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
			throw new Failed("locus report was interrupted");
		} catch (Json.Malformed e) {
			throw new Failed("locus report wrote no JSON: " + e.getMessage());
		} finally {
			delete(out);
			delete(err);
		}
	}

	private static void run(ProcessBuilder builder, Path err) throws IOException, InterruptedException, Failed {
		Process process = builder.start();
		process.getOutputStream().close();
		if (!process.waitFor(SECONDS_MAX, TimeUnit.SECONDS)) {
			process.destroyForcibly();
			throw new Failed("locus report did not end within " + SECONDS_MAX + " s");
		}
		int status = process.exitValue();
		if (status != 0 && status != 3) { /* 3: of the parts that are not damaged */
			String[] lines = read(err).split("\n");
			throw new Failed(lines[0].isEmpty() ? "locus report ended with status " + status : lines[0]);
		}
	}

	private static String read(Path file) throws IOException {
		return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
	}

	private static void delete(Path file) {
		try {
			if (file != null) {
				Files.deleteIfExists(file);
			}
		} catch (IOException e) {
			file.toFile().deleteOnExit();
		}
	}

	double samples() {
		return Json.number(Json.get(json, "samples"), "total");
	}

	/** Lines: the samples, the `top` objects by samples, the one with most bytes. */
	String text(int top) {
		StringBuilder out = new StringBuilder();
		List<?> rows = Json.list(Json.get(json, "ranking"), "rows");
		double total = samples();
		double atObjects = Json.number(Json.get(json, "ranking"), "samples");
		int shown = 0;

		out.append(String.format(Locale.ROOT,
				"  %s: %,.0f samples (%s), %s%% of them at accesses to objects\n",
				measured ? "in the measured iterations" : "of the whole fork, warm-up and harness included", total, Json.string(Json.get(json, "engine"), "name"), percent(total > 0 ? atObjects / total : 0, 1)));
		for (Object row : rows) {
			if (shown < top && !Json.flag(row, "rest")) {
				out.append("  ").append(++shown).append(". ").append(sampled(row)).append('\n');
			}
		}
		if (shown == 0) {
			out.append("  no object has enough samples to be named\n");
		}
		out.append(mostBytes(rows));
		return out.toString();
	}

	private static String sampled(Object row) {
		String text = String.format(Locale.ROOT, "%s: %s%% of the samples (95%%: %s to %s)", name(row),
				percent(Json.number(row, "share"), 1), percent(Json.number(row, "low"), 1),
				percent(Json.number(row, "high"), 1));
		List<?> lines = Json.list(row, "accessed_at");
		if (!lines.isEmpty() && !Json.string(lines.get(0), "class").isEmpty()) {
			text += String.format(Locale.ROOT, ", %s%% of them at %s",
					percent(Json.number(lines.get(0), "samples") / Json.number(row, "samples"), 0), line(lines.get(0)));
		}
		return text;
	}

	private String mostBytes(List<?> rows) {
		double counted = 0;
		Object most = null;

		for (Object thread : Json.list(json, "threads")) {
			counted += Json.number(thread, "bytes");
		}
		for (Object row : rows) {
			if (Json.number(row, "bytes") > (most == null ? 0 : Json.number(most, "bytes"))) {
				most = row;
			}
		}
		return most == null ? "" : String.format(Locale.ROOT, "  most bytes: %s: %,.0f objects, %s%% of the bytes counted\n",
				name(most), Json.number(most, "allocations"), percent(Json.number(most, "bytes") / counted, 1));
	}

	/** With so many digits, rounded as `locus report` does: by the whole value, and a tie to the even digit. */
	private static String percent(double part, int digits) {
		return new BigDecimal(100 * part).setScale(digits, RoundingMode.HALF_EVEN).toPlainString();
	}

	/** The objects and the line that allocates them, as the report names them. */
	private static String name(Object row) {
		List<?> names = Json.list(row, "names");
		Object allocated = Json.get(row, "allocated_at");
		String text = Json.string(row, "class");

		if (!names.isEmpty()) {
			text = Json.string(names.get(0), "name") + " (" + text + ")";
		}
		return allocated == null ? text : text + " of " + line(allocated);
	}

	/** Class.method:line, the class without its package. */
	private static String line(Object frame) {
		String type = Json.string(frame, "class");
		double line = Json.number(frame, "line");
		String text = type.substring(type.lastIndexOf('.') + 1) + "." + Json.string(frame, "method");
		return line > 0 ? text + ":" + (long) line : text;
	}
}
