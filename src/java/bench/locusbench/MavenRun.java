// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Builds a project with Maven, which runs its regression test, and runs its benchmark with JMH. */
final class MavenRun {
	private static final long BUILD_SECONDS = 1800;
	private static final int ITERATIONS = 5;
	/** For a JVM that runs for some seconds: it halves what Maven takes. */
	private static final String BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";
	private static final long PROFILED_MS = 2500;
	private static final long PROFILED_SECONDS_MAX = 600;
	private static final int RELEASE = 11; // of Java: any JDK of Maven's reads it
	private static final Pattern VERSION = Pattern.compile("(?m)^JAVA_VERSION=\"(?:1\\.)?(\\d+)");
	private static final String LOG = "locus-bench.log";
	/** "[ERROR]   XTest.recordedInputs...:31->check:52 the benchmark's outputs ...", of surefire's list of failures. */
	private static final Pattern FAILURE = Pattern.compile("\\[ERROR\\]\\s+\\w+Test\\.\\S+\\s+(?:\u00bb )?(\\S.*)");
	private static final Pattern COMPILER = Pattern.compile("\\[ERROR\\] .*/([^/]+\\.java):\\[(\\d+),\\d+\\] (.*)");
	private static final Pattern MAVEN = Pattern.compile("\\[ERROR\\] (\\S.*)");

	private static final int WARM_UPS_MAX = 4; // so many times as long as what is measured

	private final Path java;
	private int warmUps = 1;

	/** `java`: the JVM of the test and of the benchmark. */
	MavenRun(String java) {
		this.java = Path.of(java);
	}

	/** `mvn package`, with `more` words, without a network where that serves. Its output is in locus-bench.log there. */
	void build(Path project, String... more) throws IOException, Refusal {
		Path log = project.resolve(LOG);
		if (!isInstalled()) {
			throw new Refusal("there is no mvn to build the project with; it is in " + project);
		}
		List<String> offline = new ArrayList<>(Arrays.asList(more));
		offline.add("-o");
		if (maven(project, log, offline) == 0) {
			return;
		}
		if (isIncomplete(Files.readString(log)) && maven(project, log, Arrays.asList(more)) == 0) {
			return;
		}
		throw new Refusal(reason(Files.readString(log), log));
	}

	static boolean isInstalled() {
		String path = System.getenv("PATH");
		return Arrays.stream((path == null ? "" : path).split(File.pathSeparator))
				.anyMatch(directory -> Files.isExecutable(Path.of(directory, "mvn")));
	}

	private int maven(Path project, Path log, List<String> options) throws IOException, Refusal {
		List<String> words = new ArrayList<>(List.of("mvn", "-q", "-B", "-Dstyle.color=never"));
		words.addAll(options);
		words.add("-Djvm=" + program());
		words.add("package");
		Map<String, String> environment = new HashMap<>();
		environment.put("MAVEN_OPTS", System.getenv().getOrDefault("MAVEN_OPTS", BRIEF));
		Path home = home();
		if (home != null) {
			environment.put("JAVA_HOME", home.toString());
		}
		return Command.run(project, log, BUILD_SECONDS, environment, words);
	}

	private String program() throws IOException {
		return Files.isExecutable(java) && java.getNameCount() > 1 ? java.toRealPath().toString() : java.toString();
	}

	/** The JDK that `java` is of; null where it is of none: Maven then uses its own. */
	private Path home() throws IOException {
		Path bin = Path.of(program()).getParent();
		return bin != null && Files.isExecutable(bin.resolve("javac")) ? bin.getParent() : null;
	}

	/** The newest version of Java that the project's sources can be of. */
	int release() throws IOException {
		Path home = home();
		if (home == null) {
			return RELEASE;
		}
		Matcher version = VERSION.matcher(Files.readString(home.resolve("release")));
		return version.find() ? Integer.parseInt(version.group(1)) : RELEASE;
	}

	/** Did Maven fail since it lacks a file that it may not fetch? */
	private static boolean isIncomplete(String said) {
		return said.contains("offline mode") || said.contains("has not been downloaded") || said.contains("could not be resolved");
	}

	/** Why Maven failed, in one line. */
	static String reason(String said, Path log) {
		Matcher compiler = COMPILER.matcher(said);
		if (compiler.find()) {
			return "the benchmark does not compile: " + compiler.group(1) + ":" + compiler.group(2) + ": " + compiler.group(3);
		}
		Matcher failure = FAILURE.matcher(said);
		if (failure.find()) {
			return "the regression test fails: " + failure.group(1).trim();
		}
		Matcher maven = MAVEN.matcher(said);
		return "Maven does not build the project: " + (maven.find() ? maven.group(1).trim() : "see " + log);
	}

	/**
	 * Run the benchmark. Each fork measures each input for so many seconds, after as many of warm-up. `version` is a word for
	 * the column of versions, "" where there is one; the notes, of Project.notes(), stand below the table.
	 */
	Results run(Path project, Payload payload, String version, List<String> notes, List<String> jvmOptions, int forks, int seconds)
			throws IOException, Refusal {
		return Results.read(jmh(project, payload, jvmOptions, forks, seconds, 0), payload.className, version, notes);
	}

	/**
	 * Run JMH; its results are in the file that is returned, which has a name for each `turn`: forks of two projects that are
	 * compared take turns, so that a machine that gets slower meanwhile is no difference between them.
	 */
	Path jmh(Path project, Payload payload, List<String> jvmOptions, int forks, int seconds, int turn) throws IOException, Refusal {
		Path json = project.resolve("target/results" + (turn > 0 ? "-" + turn : "") + ".json").toAbsolutePath();
		Path log = project.resolve("target").resolve(LOG);
		Files.deleteIfExists(json);
		List<String> words = words(payload, "", jvmOptions, forks, warmUps * ITERATIONS, ITERATIONS, Math.max(1, Math.round(seconds * 1000.0 / ITERATIONS)));
		words.addAll(List.of("-rf", "json", "-rff", json.toString(), "-prof", "gc"));
		long most = 600 + 20L * (forks + 1) * ((1L + warmUps) * seconds + 10);
		int status = Command.run(project, log, most, Map.of(), words);
		if (status != 0 || !Files.exists(json)) {
			throw new Refusal("the benchmark fails: " + failure(Files.readString(log), log));
		}
		return json;
	}

	/** Warm up for twice as long from now on. False: it does so for as long as it may. */
	boolean warmLonger() {
		if (warmUps >= WARM_UPS_MAX) {
			return false;
		}
		warmUps *= 2;
		return true;
	}

	/** How long the warm-up is, in terms of what is measured; 1 unless warmLonger() was called. */
	int warmUps() {
		return warmUps;
	}

	/** Run one fork with one of the inputs, which an agent among the options records: warm-up and measurement alike. */
	void profiled(Path project, Payload payload, List<String> jvmOptions, int input) throws IOException, Refusal {
		Path log = project.resolve("target/locus-profile.log");
		List<String> words = words(payload, "segment", jvmOptions, 1, 1, 1, PROFILED_MS);
		words.addAll(List.of("-p", "input=" + input));
		if (Command.run(project, log, PROFILED_SECONDS_MAX, Map.of(), words) != 0) {
			throw new Refusal("the benchmark fails under Locus: " + failure(Files.readString(log), log));
		}
	}

	/** JMH's, of the class's methods whose names begin so. */
	private List<String> words(Payload payload, String method, List<String> jvmOptions, int forks, int warmUp, int iterations, long ms)
			throws IOException {
		String time = ms + "ms";
		List<String> words = new ArrayList<>(List.of(program(), "-Djmh.ignoreLock=true", "-jar", "target/benchmarks.jar",
				Pattern.quote(payload.packageName + "." + payload.className + "." + method), "-foe", "true", "-f", String.valueOf(forks),
				"-wi", String.valueOf(warmUp), "-w", time, "-i", String.valueOf(iterations), "-r", time, "-jvm", program()));
		if (!jvmOptions.isEmpty()) {
			words.addAll(List.of("-jvmArgs", jvmOptions.stream().map(MavenRun::quoted).collect(Collectors.joining(" "))));
		}
		return words;
	}

	/** The option with quotes, as JMH splits it again. */
	private static String quoted(String option) {
		return option.indexOf(' ') < 0 ? option : "\"" + option + "\"";
	}

	/** The line after JMH's "<failure>", else the last one. */
	static String failure(String said, Path log) {
		List<String> lines = said.lines().map(String::trim).filter(line -> !line.isEmpty()).collect(Collectors.toList());
		int at = lines.indexOf("<failure>");
		return at >= 0 && at + 1 < lines.size() ? lines.get(at + 1) : lines.isEmpty() ? "see " + log : lines.get(lines.size() - 1);
	}
}
