// SPDX-License-Identifier: Apache-2.0
package locusbench;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Measures benchmarks that are made of kernels beside those that were written by hand, and what is wrong without a rule:
 * `Truth SOURCES CLASSES WORK FORKS [KERNEL...]`. For scripts/evaluate-bench-truth.
 *
 * The hand-written benchmark is in the same jar. Forks of all that is compared take turns. The exit status is 1 where a
 * benchmark is not within its limit.
 */
public final class Truth {
	private static final double NEAR = 0.1;
	private static final double WRONG = 0.3; // at least, without a rule
	private static final int SECONDS = 1;
	/** The kernels that show what a rule is for. */
	private static final Map<String, List<Rule>> TRAPS = Map.of("TriangleArea", List.of(Rule.SINKS, Rule.FOLDING), "RingFilter",
			List.of(Rule.CONSTANTS), "InsertionSort", List.of(Rule.RESET));

	private final Path sources;
	private final String classes;
	private final Path work;
	private final int forks;
	private final String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
	private final MavenRun maven = new MavenRun(java);
	private boolean failed;

	/** A benchmark in a project, and what was measured of it. */
	private final class Benchmark {
		final Path project;
		final Payload payload = new Payload();
		final List<Path> results = new ArrayList<>();

		Benchmark(Path project, String name) {
			this.project = project;
			payload.packageName = "kernels";
			payload.className = name;
		}

		void turn(int turn) throws IOException, Refusal {
			results.add(maven.jmh(project, payload, List.of(), 1, SECONDS, turn));
		}

		/** The figures of the one input that all executions have. */
		Estimate ns(String input) throws IOException, Refusal {
			return Results.read(results, payload.className, "", List.of()).ns(input);
		}
	}

	private Truth(Path sources, String classes, Path work, int forks) {
		this.sources = sources;
		this.classes = classes;
		this.work = work;
		this.forks = forks;
	}

	public static void main(String[] words) throws Exception {
		Truth truth = new Truth(Path.of(words[0]), words[1], Path.of(words[2]), Integer.parseInt(words[3]));
		List<String> kernels = new ArrayList<>(Arrays.asList(words).subList(4, words.length));
		if (kernels.isEmpty()) {
			try (Stream<Path> files = Files.list(truth.sources.resolve("kernels"))) {
				files.map(f -> f.getFileName().toString()).filter(f -> f.endsWith("Expert.java"))
						.forEach(f -> kernels.add(f.replace("Expert.java", "")));
			}
			kernels.sort(null);
		}
		row("kernel", "expert's ns", "generated ns", "ratio", "95% interval", "");
		for (String kernel : kernels) {
			try {
				truth.kernel(kernel);
			} catch (Refusal e) {
				truth.failed = true;
				System.out.println(kernel + ": NOT measured: " + e.getMessage());
			}
		}
		System.exit(truth.failed ? 1 : 0);
	}

	private static void row(String... cells) {
		System.out.printf("%-24s %12s %13s %7s %15s  %s%n", (Object[]) cells);
	}

	private void kernel(String name) throws IOException, Refusal {
		Path project = project(name, null);
		Path expert = project.resolve("src/main/java/kernels").resolve(name + "Expert.java");
		Files.copy(sources.resolve("kernels").resolve(expert.getFileName()), expert);
		maven.build(project);
		List<Benchmark> all = new ArrayList<>(List.of(new Benchmark(project, name + "Expert"), made(project, name)));
		List<Rule> rules = TRAPS.getOrDefault(name, List.of());
		for (Rule rule : rules) {
			Path without = project(name, rule);
			maven.build(without, "-Dmaven.test.skip=true");
			all.add(made(without, name));
		}
		for (int turn = 0; turn < forks; turn++) {
			for (int i = 0; i < all.size(); i++) {
				all.get(i).turn(1 + turn * all.size() + i);
			}
		}
		Estimate truth = all.get(0).ns("");
		compare(name, truth, all.get(1).ns("0"), "within 10%", true);
		for (int i = 0; i < rules.size(); i++) {
			compare("  without " + word(rules.get(i)), truth, all.get(2 + i).ns("0"), "wrong by more than 30%", false);
		}
	}

	private void compare(String title, Estimate truth, Estimate made, String limit, boolean near) {
		Estimate ratio = made.over(truth);
		boolean holds = near ? Math.abs(ratio.mean - 1) <= NEAR : Math.abs(ratio.mean - 1) > WRONG;
		failed |= !holds;
		row(title, number("%.1f", truth.mean), number("%.1f", made.mean), number("%.2f", ratio.mean),
				number("%.2f", ratio.low) + " .. " + number("%.2f", ratio.high), (holds ? "ok, " : "NOT ") + limit);
	}

	private static String word(Rule rule) {
		return rule.name().toLowerCase(Locale.ROOT);
	}

	private static String number(String format, double value) {
		return String.format(Locale.ROOT, format, value);
	}

	/** The project that is written of a kernel, without a rule where it is not null. */
	private Path project(String name, Rule without) throws IOException, Refusal {
		Path output = work.resolve(name + (without == null ? "" : "-without-" + word(without)));
		Map<String, Object> request = new TreeMap<>(Map.of("format", Request.FORMAT, "class", "kernels." + name, "source_path",
				List.of(sources.toString()), "class_path", List.of(classes), "output", output.toString(), "run", false, "java", java,
				"program", List.of("java", "-cp", classes, "kernels." + name), "program_main", 3));
		request.put("without", without == null ? List.of() : List.of(word(without)));
		Path file = work.resolve(output.getFileName() + ".json");
		new ObjectMapper().writeValue(file.toFile(), request);
		try (PrintStream log = new PrintStream(work.resolve(output.getFileName() + ".log").toFile())) {
			if (Main.run(new String[] {file.toString()}, log, System.err) != 0) {
				throw new Refusal("there is no benchmark");
			}
		}
		return output;
	}

	private Benchmark made(Path project, String name) throws IOException {
		try (Stream<Path> files = Files.list(project.resolve("src/main/java/kernels"))) {
			List<String> names = files.map(f -> f.getFileName().toString().replace(".java", "")).filter(f -> f.startsWith(name + "_"))
					.collect(Collectors.toList());
			return new Benchmark(project, names.get(0));
		}
	}
}
