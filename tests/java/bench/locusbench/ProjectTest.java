// SPDX-License-Identifier: Apache-2.0
package locusbench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import locusbench.record.Recording;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * From a program with a recorder in it to a table: a sum over an array, whose benchmark is written by hand as the
 * extraction would write it. Maven has what it needs, or fetches it.
 */
class ProjectTest {
	private static final String JAVA = Paths.get(System.getProperty("java.home"), "bin", "java").toString();
	private static final int RELEASE = Runtime.version().feature();

	@TempDir
	static Path directory;

	private static Recording recording;
	private static Path classes;

	/** The program, in a class path that has a directory and a name with a space. */
	@BeforeAll
	static void record() throws Exception {
		Path source = directory.resolve("Sums.java");
		classes = Files.createDirectories(directory.resolve("the classes"));
		Files.writeString(source, String.join("\n", "package org.acme;", "import locusbench.record.Recorder;", "public class Sums {",
				"	static final class Part { final int[] values; Part(int[] values) { this.values = values; } }",
				"	public static int twice(int value) { return 2 * value; }", "	public static void main(String[] args) {",
				"		for (int i = 0; i < 1000; i++) {", "			Part part = new Part(new int[100 + i]);",
				"			java.util.Arrays.fill(part.values, i);", "			int sum = 0;", "			int ticket = Recorder.enter();",
				"			if (ticket >= 0) Recorder.inputs(ticket, part, sum);",
				"			for (int value : part.values) sum += twice(value);", "			if (ticket >= 0) Recorder.outputs(ticket, (Object) null, sum);",
				"		}", "	}", "}"));
		String classPath = System.getProperty("java.class.path");
		assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, "-cp", classPath, "-proc:none", "-d",
				classes.toString(), source.toString()));
		Path file = directory.resolve("recording");
		assertEquals(0, Command.run(Paths.get("."), directory.resolve("log"), 100, Map.of(),
				List.of(JAVA, "-Dlocus.bench.file=" + file, "-cp", classes + File.pathSeparator + classPath, "org.acme.Sums")));
		try (InputStream in = Files.newInputStream(file)) {
			recording = Recording.read(in);
			assertEquals(List.of(), recording.sentences(List.of("part", "sum")));
		}
	}

	private static Payload payload(String operator) {
		Payload payload = new Payload();
		payload.packageName = "org.acme";
		payload.className = "Sums_main_13";
		payload.originalClass = "org.acme.Sums";
		payload.originalMethod = "main";
		payload.firstLine = 13;
		payload.lastLine = 13;
		payload.inputNames.addAll(List.of("part", "sum"));
		payload.notes.add("nothing was left out");
		payload.source = String.join("\n", "package org.acme;", "import java.util.concurrent.TimeUnit;",
				"import locusbench.record.Inputs;", "import org.openjdk.jmh.annotations.*;", "import org.openjdk.jmh.infra.Blackhole;",
				"@State(Scope.Thread)", "@BenchmarkMode(Mode.AverageTime)", "@OutputTimeUnit(TimeUnit.NANOSECONDS)",
				"public class Sums_main_13 {", "	Sums.Part part;", "	int local_sum;", "	@Param({/*INPUTS*/})", "	public int input;",
				"	@Setup(Level.Trial)", "	public void load() {", "		Object[] values = Inputs.load().values(input);",
				"		part = (Sums.Part) values[0];", "		local_sum = (Integer) values[1];", "	}", "	@Benchmark",
				"	public int segment(Blackhole blackhole) throws Throwable {", "		int sum = local_sum;",
				"		for (int value : part.values) sum " + operator + " Sums.twice(value);", "		return sum;", "	}",
				"	public Object[] outputs() throws Throwable {", "		int sum = local_sum;",
				"		for (int value : part.values) sum " + operator + " Sums.twice(value);", "		return new Object[] {null, sum};", "	}",
				"}", "");
		return payload;
	}

	private static Path write(String name, Payload payload) throws Exception {
		Path project = directory.resolve(name);
		List<String> classPath = List.of(classes.toString(), directory.resolve("absent.jar").toString());
		Project.write(project, payload, recording, List.of("-Xmx300m"), 3).complete(classPath, RELEASE, List.of("-Xmx300m"));
		return project;
	}

	@Test
	void theProjectIsBuiltAndMeasured() throws Exception {
		Payload payload = payload("+=");
		Path project = write("good", payload);
		MavenRun maven = new MavenRun(JAVA);
		maven.build(project);
		Results results = maven.run(project, payload, "", Project.notes(payload, recording), List.of("-Xmx300m", "-XX:+UseSerialGC"), 1, 1);
		List<String> lines = results.text().lines().collect(Collectors.toList());
		assertEquals(List.of("1", "4", "7"), lines.subList(1, 4).stream().map(l -> l.split(" +")[1]).collect(Collectors.toList()),
				results.text());
		assertTrue(lines.contains("note: nothing was left out"), results.text());
		String log = Files.readString(project.resolve("target/locus-bench.log"));
		assertTrue(log.contains("# VM options: -Xmx300m -XX:+UseSerialGC"), log);
		assertTrue(Files.readString(project.resolve("README.md")).contains("9 of the 100 recorded executions, of 1000 in the program"));
	}

	@Test
	void otherOutputsThanTheProgramsMakeNoBenchmark() throws Exception {
		Path project = write("wrong", payload("-="));
		Refusal refusal = assertThrows(Refusal.class, () -> new MavenRun(JAVA).build(project));
		assertTrue(refusal.getMessage().startsWith("the regression test fails: the benchmark's outputs are not those of the program, for input "),
				refusal.getMessage());
		assertFalse(Files.exists(project.resolve("target/benchmarks.jar")));
	}

	@Test
	void aBenchmarkThatDoesNotCompileIsNamedByItsLine() throws Exception {
		Path project = write("broken", payload("+++="));
		Refusal refusal = assertThrows(Refusal.class, () -> new MavenRun(JAVA).build(project));
		assertTrue(refusal.getMessage().startsWith("the benchmark does not compile: Sums_main_13.java:23: "), refusal.getMessage());
	}

	/** With a class path that has a part that nothing reads; the parts of it that are. */
	private static List<String> trial(String name, Payload payload) throws Exception {
		return trial(name, false).run(write(name, payload), payload);
	}

	private static Trial trial(String name, boolean madeUp) throws Exception {
		Path unread = Files.createDirectories(directory.resolve("unread/org/acme")).resolve("Sums.class");
		Files.write(unread, new byte[9]);
		Path file = directory.resolve(name + ".json");
		new ObjectMapper().writeValue(file.toFile(), Map.of("format", Request.FORMAT, "java", JAVA, "output", name, "jvm_options", List.of("-Xmx300m"),
				"class_path", List.of(classes.toString(), directory.resolve("unread").toString())));
		return new Trial(directory.resolve(name + "-trial"), Request.read(file), madeUp);
	}

	@Test
	void aTrialNeedsNoMavenAndTellsWhatIsRead() throws Exception {
		assertEquals(List.of(classes.toString()), trial("tried", payload("+=")));
		String said = assertThrows(Refusal.class, () -> trial("tried-wrong", payload("-="))).getMessage();
		assertTrue(said.startsWith("the regression test fails: the benchmark's outputs are not those of the program, for input "), said);
		said = assertThrows(Refusal.class, () -> trial("tried-broken", payload("+++="))).getMessage();
		assertTrue(said.startsWith("the benchmark does not compile: Sums_main_13.java:23: "), said);
	}

	@Test
	void madeUpInputsMayNotSuitTheCode() throws Exception {
		Trial trial = trial("made-up", true);
		assertEquals(List.of(classes.toString()), trial.run(write("made-up", payload("-=")), payload("-=")));
		assertTrue(trial.unsuited().startsWith("the benchmark's outputs are not those of the program, for input "), trial.unsuited());
	}

	@Test
	void allSourcesThatReadInputsAreInTheProject() throws Exception {
		Path project = write("sources", payload("+="));
		List<String> all = new ArrayList<>();
		try (Stream<Path> files = Files.list(project.resolve("src/main/java/locusbench/record"))) {
			files.map(file -> file.getFileName().toString()).sorted().forEach(all::add);
		}
		assertFalse(all.contains("Recorder.java"));
		assertTrue(all.contains("Inputs.java"));
		assertFalse(Files.readString(project.resolve("pom.xml")).contains("@"), "a word of the template is left");
		assertTrue(Files.exists(project.resolve("lib/00-the_classes.jar")));
	}

	@Test
	void withoutInputsThereIsNoProject() {
		Recording none = new Recording(5, List.of(), List.of());
		assertThrows(Refusal.class, () -> Project.write(directory.resolve("none"), payload("+="), none, List.of(), 3));
	}

	@Test
	void madeInputsAreSaidToBeMade() throws Exception {
		Recording made = Recording.made(new Object[] {1, 2});
		List<String> notes = Project.notes(payload("+="), made);
		assertEquals("the inputs are made up: no execution of the program was recorded", notes.get(1));
	}
}
