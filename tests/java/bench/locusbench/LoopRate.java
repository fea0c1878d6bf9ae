// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;
import locusbench.record.Recording;
import spoon.reflect.code.CtLoop;
import spoon.reflect.declaration.CtType;
import spoon.reflect.visitor.filter.TypeFilter;

/**
 * Tries to make a benchmark of each loop of a library, and says of how many there is one that compiles, of how many the library's
 * tests execute it passes its regression test, and why not of the others. For scripts/evaluate-bench:
 *
 * `LoopRate SOURCES.jar LIBRARY.jar OTHERS TOOLS [TESTS.jar CLASS_PATH_OF_TESTS]`. OTHERS: what the library needs; TOOLS: Kryo, JMH
 * and JUnit. Without tests, or where they never execute a loop, nobody knows what it computes.
 */
public final class LoopRate {
	private static final int SHOWN = 14; // reasons
	private static final int SECONDS = 500; // of a library's tests
	private static final int SECONDS_OF_A_CLASS = 20; // of tests
	private static final Pattern ENTER = Pattern.compile("locusTicket(\\d+) = locusbench\\.record\\.Recorder\\.enter\\(\\)");

	/** A loop with a benchmark that compiles. */
	private static final class Loop {
		final int number;
		final Segment segment;
		final Variables variables;

		Loop(int number, Segment segment, Variables variables) {
			this.number = number;
			this.segment = segment;
			this.variables = variables;
		}
	}

	private final String sources;
	private final String library;
	private final String others;
	private final String tools;
	private final Path directory = Files.createTempDirectory("locus-loop-rate");
	private final Path recording = Files.createDirectories(directory.resolve("recording")); // classes of the library that record
	private final Path benchmarks = Files.createDirectories(directory.resolve("benchmarks")); // a directory for each
	private final List<String> places = new ArrayList<>(); // of the loops with a benchmark that compiles
	private final Set<Integer> notRecorded = new HashSet<>(); // of these, since their class does not compile with the recorder
	private final Map<String, Integer> reasons = new TreeMap<>();
	private final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
	private final StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
	private int loops;
	private int extracted;

	private LoopRate(String[] words) throws IOException {
		sources = words[0];
		library = words[1];
		others = words[2];
		tools = words[3];
		List<File> entries = new ArrayList<>();
		for (String entry : path(library, others, tools, System.getProperty("java.class.path")).split(File.pathSeparator)) {
			entries.add(new File(entry));
		}
		files.setLocation(StandardLocation.CLASS_PATH, entries);
	}

	public static void main(String[] words) throws Exception {
		LoopRate rate = new LoopRate(words);
		try (ZipFile archive = new ZipFile(rate.sources)) {
			for (ZipEntry entry : Collections.list(archive.entries())) {
				if (entry.getName().endsWith(".java") && !entry.getName().endsWith("-info.java")) {
					rate.file(entry.getName().replaceFirst("\\.java$", "").replace('/', '.'));
				}
			}
		}
		System.out.printf(Locale.ROOT, "%s: %d loops, %d extracted, %d compile (%.1f%%)%n", Path.of(rate.sources).getFileName(),
				rate.loops, rate.extracted, rate.places.size(), 100.0 * rate.places.size() / Math.max(1, rate.loops));
		if (words.length > 4) {
			rate.tests(words[4], words[5]);
		}
		rate.reasons.entrySet().stream().sorted((a, b) -> b.getValue() - a.getValue()).limit(SHOWN)
				.forEach(row -> System.out.printf("  %5d  %s%n", row.getValue(), row.getKey()));
	}

	private static String path(String... elements) {
		return String.join(File.pathSeparator, elements);
	}

	private void file(String name) throws IOException {
		Sources from = new Sources(List.of(sources), List.of(path(library, others).split(File.pathSeparator)));
		CtType<?> top;
		String text;
		try {
			top = from.type(name);
			text = from.textOf(name);
		} catch (Exception e) {
			reason(name, "a file that cannot be read: " + name);
			return;
		}
		List<Loop> found = new ArrayList<>();
		for (CtLoop loop : top.getElements(new TypeFilter<>(CtLoop.class))) {
			loops++;
			String place = name + ":" + loop.getPosition().getLine();
			try {
				Segment segment = Segment.of(loop);
				Uses uses = new Uses(segment, false);
				Variables variables = new Variables(segment, uses);
				Payload payload = new Extraction(segment, uses, variables).payload(segment.firstLine(), text);
				extracted++;
				if (benchmark(place, payload)) {
					found.add(new Loop(places.size(), segment, variables));
					places.add(place);
				}
			} catch (Refusal e) {
				reason(place, e.getMessage().replaceFirst("^\\S+:\\d+: ", ""));
			} catch (RuntimeException | StackOverflowError | IOException e) {
				reason(place, "DEFECT " + place + ": " + e);
			}
		}
		record(name, text, found);
	}

	/** Why a loop does not count; reasons that differ by names alone are one. */
	private void reason(String place, String text) {
		System.err.println(place + "\t" + text.split("\n")[0]);
		String general = text.startsWith("DEFECT") ? text
				: text.split("\n")[0].replaceAll("\\b(class|field|method|package|variable|constructor of|where|or output:) [\\w.$<>]+", "$1 ...")
						.replaceAll("[\\w.]*\\.[\\w.<>,?\\[\\] ]*", "...").replaceAll("\\b\\d+\\b", "N");
		reasons.merge(general, 1, Integer::sum);
	}

	private static JavaFileObject source(String file, String text) {
		return new SimpleJavaFileObject(URI.create("string:///" + file), JavaFileObject.Kind.SOURCE) {
			@Override
			public CharSequence getCharContent(boolean ignored) {
				return text.replace("{/*INPUTS*/}", "{\"0\"}");
			}
		};
	}

	/** The first error of javac's; null: there is none. */
	private Diagnostic<?> compile(Path output, List<JavaFileObject> texts) throws IOException {
		files.setLocation(StandardLocation.CLASS_OUTPUT, List.of(output.toFile()));
		DiagnosticCollector<JavaFileObject> said = new DiagnosticCollector<>();
		if (compiler.getTask(null, files, said, List.of("-proc:none", "-nowarn"), null, texts).call()) {
			return null;
		}
		return said.getDiagnostics().stream().filter(d -> d.getKind() == Diagnostic.Kind.ERROR).findFirst().orElseThrow();
	}

	/** Compile a benchmark, with its regression test; false where that is not possible. */
	private boolean benchmark(String place, Payload payload) throws IOException {
		String test = payload.packageName + "." + payload.className + "Test";
		Path output = Files.createDirectories(benchmarks.resolve(String.valueOf(places.size())));
		List<JavaFileObject> texts = new ArrayList<>(List.of(source(payload.file(), payload.source),
				source(test.replace('.', '/') + ".java", Project.test(payload, 1))));
		payload.others.forEach((file, text) -> texts.add(source(file, text)));
		Diagnostic<?> error = compile(output, texts);
		if (error == null) {
			Files.writeString(output.resolve("test"), test);
		} else {
			reason(place, "does not compile: " + error.getMessage(Locale.ROOT));
		}
		return error == null;
	}

	/** Make a class of the library record its loops, without those where that does not compile. */
	private void record(String name, String text, List<Loop> all) throws IOException {
		while (!all.isEmpty()) {
			Instrumentation instrumentation = new Instrumentation(text);
			all.forEach(loop -> instrumentation.with(loop.segment, loop.variables));
			String changed = ENTER.matcher(instrumentation.text()).replaceAll(m -> "locusTicket" + m.group(1)
					+ " = locusbench.record.Recorders.enter(" + all.get(Integer.parseInt(m.group(1))).number + ")");
			Diagnostic<?> error = compile(recording, List.of(source(name.replace('.', '/') + ".java",
					changed.replace("locusbench.record.Recorder.", "locusbench.record.Recorders."))));
			if (error == null) {
				return;
			}
			Loop without = null; // the innermost one around the error
			for (Loop loop : all) {
				if (loop.segment.firstLine() <= error.getLineNumber() && error.getLineNumber() <= loop.segment.lastLine()) {
					without = loop;
				}
			}
			List<Loop> left = without == null ? List.copyOf(all) : List.of(without);
			left.forEach(loop -> reason(places.get(loop.number), "cannot be recorded: " + error.getMessage(Locale.ROOT)));
			all.removeAll(left);
			left.forEach(loop -> notRecorded.add(loop.number));
		}
	}

	/** Run the library's tests with the classes that record, then the benchmarks' tests with what was recorded. */
	private void tests(String tests, String classPath) throws IOException, Refusal {
		String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
		Path log = directory.resolve("tests.log");
		Command.run(directory, log, SECONDS + SECONDS_OF_A_CLASS + 60, Map.of(), List.of(java, "-Xmx2g", "-Xss2m", "-cp",
				path(recording.toString(), library, tests, tools, System.getProperty("java.class.path"), others, classPath),
				"locusbench.LoopTests", tests, benchmarks.toString(), String.valueOf(SECONDS), String.valueOf(SECONDS_OF_A_CLASS)));
		List<String> said = Files.readAllLines(log);
		System.out.println("  " + said.get(said.size() - 1));

		String[] own = System.getProperty("java.class.path").split(File.pathSeparator); // the first two: test classes, the jar
		Path results = Files.createFile(directory.resolve("results"));
		for (int from = 0; from < places.size(); from = 1 + last(results)) {
			int status = Command.run(directory, directory.resolve("check.log"), 3600, Map.of(), List.of(java, "-Xmx2g", "-cp",
					path(own[0], tools), "locusbench.LoopCheck", benchmarks.toString(), path(library, tests, own[1], others, classPath),
					results.toString(), String.valueOf(from)));
			if (status != LoopCheck.STUCK) {
				break;
			}
		}
		summarize(results);
	}

	private static int last(Path results) throws IOException {
		List<String> lines = Files.readAllLines(results);
		return Integer.parseInt(lines.get(lines.size() - 1).split("\t")[0]);
	}

	private void summarize(Path results) throws IOException {
		Map<Integer, String> byNumber = new LinkedHashMap<>();
		for (String line : Files.readAllLines(results)) {
			byNumber.put(Integer.valueOf(line.split("\t")[0]), line.split("\t")[1]);
		}
		int executed = 0;
		int passed = 0;
		for (int i = 0; i < places.size(); i++) {
			Path file = benchmarks.resolve(i + "/locus-inputs.bin");
			if (notRecorded.contains(i)) {
				continue;
			} else if (!Files.exists(file)) {
				reason(places.get(i), "the tests do not execute it");
				continue;
			}
			executed++;
			Recording of;
			try (InputStream in = Files.newInputStream(file)) {
				of = Recording.read(in);
			}
			String result = byNumber.getOrDefault(i, "its JVM ended");
			if (of.recorded.isEmpty()) {
				result = "not recorded: " + (of.notes.isEmpty() ? "it never ends normally" : of.notes.get(0).why);
			}
			if (result.equals("pass")) {
				passed++;
			} else {
				reason(places.get(i), result);
			}
		}
		System.out.printf(Locale.ROOT, "  %d of these are executed by the library's tests; %d pass their regression test: %.1f%% of all loops,"
				+ " %.1f%% of those that are executed%n", executed, passed, 100.0 * passed / Math.max(1, loops), 100.0 * passed / Math.max(1, executed));
	}
}
