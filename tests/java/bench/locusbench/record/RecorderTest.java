// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs with a recorder in them, each in a JVM of its own: what their files hold, and that they run as without it. */
class RecorderTest {
	@TempDir
	Path directory;

	private String said;

	private Recording run(String what, String... options) throws Exception {
		Path file = directory.resolve("recording");
		run(file, System.getProperty("java.class.path"), what, options);
		try (InputStream in = Files.newInputStream(file)) {
			return Recording.read(in);
		}
	}

	private void run(Path file, String classPath, String what, String... options) throws Exception {
		List<String> words = new ArrayList<>();
		words.add(Paths.get(System.getProperty("java.home"), "bin", "java").toString());
		words.addAll(Arrays.asList(options));
		words.addAll(List.of("-Dlocus.bench.file=" + file, "-cp", classPath, RecorderProgram.class.getName(), what));
		File out = directory.resolve("out").toFile();
		Process process = new ProcessBuilder(words).redirectErrorStream(true).redirectOutput(out).start();
		assertTrue(process.waitFor(100, TimeUnit.SECONDS));
		said = Files.readString(out.toPath());
		assertEquals(0, process.exitValue(), said);
	}

	@Test
	void aSampleOfAllExecutionsIsKeptWithInputsOutputsAndTime() throws Exception {
		Recording recording = run("sum");
		assertEquals("done\n", said);
		assertEquals(10_000, recording.executions);
		assertEquals(100, recording.recorded.size());
		assertTrue(recording.notes.isEmpty());
		Inputs inputs = Inputs.of(recording);
		int late = 0;
		for (int i = 0; i < inputs.size(); i++) {
			Object[] values = inputs.values(i);
			int[] array = (int[]) values[0];
			assertEquals(1L, values[1]);
			assertEquals(2 * array[0], array[1]);
			assertArrayEquals(Inputs.digestOf(1L + array[0] + array[1]), inputs.digest(i));
			assertTrue(inputs.ns(i) >= 0);
			late += array[0] >= 5000 ? 1 : 0;
		}
		assertTrue(late > 20 && late < 80, late + " of the second half");
	}

	@Test
	void propertiesSayHowManyAreKept() throws Exception {
		assertEquals(7, run("sum", "-Dlocus.bench.inputs=7").recorded.size());
	}

	@Test
	void threadsRecordBesideEachOther() throws Exception {
		Recording recording = run("threads");
		assertEquals("done\n", said);
		assertEquals(80_000, recording.executions);
		assertTrue(recording.recorded.size() > 80, recording.recorded.size() + " recorded");
	}

	@Test
	void anExecutionWithinARecordedOneIsNotRecorded() throws Exception {
		Recording recording = run("recursion");
		assertEquals(102, recording.executions);
		Inputs inputs = Inputs.of(recording);
		assertEquals(2, inputs.size());
		assertEquals(50, inputs.values(0)[0]);
		assertEquals(50, inputs.values(1)[0]);
	}

	@Test
	void whatCannotBeCapturedIsInTheFile() throws Exception {
		Recording recording = run("refused");
		assertEquals("done\n", said);
		assertTrue(recording.recorded.isEmpty());
		assertEquals(1, recording.notes.size());
		assertEquals(0, recording.notes.get(0).value);
		assertEquals("a thread (java.lang.Thread)", recording.notes.get(0).why);
		assertEquals(30, recording.notes.get(0).times);
	}

	@Test
	void anInputOverTheBudgetIsReportedAndTheNextOneKept() throws Exception {
		Recording recording = run("large", "-Dlocus.bench.bytes=100000");
		assertEquals(1, recording.recorded.size());
		assertEquals("its inputs need more than 100000 bytes", recording.notes.get(0).why);
	}

	@Test
	void allInputsTogetherKeepTheBudget() throws Exception {
		Recording recording = run("sum", "-Dlocus.bench.bytes=200");
		long bytes = recording.recorded.stream().mapToLong(e -> e.inputs.length).sum();
		assertTrue(bytes > 100 && bytes <= 200, bytes + " bytes");
		assertEquals("no more than 200 bytes are kept of all inputs: those of " + recording.recorded.size(), recording.notes.get(0).why);
	}

	@Test
	void recordingLeavesTheProgramMostOfItsTime() throws Exception {
		Recording recording = run("slow", "-Xmx1g");
		int recorded = recording.recorded.size();
		assertTrue(recorded >= 1 && recording.executions > 4 * recorded, recorded + " of " + recording.executions);
	}

	@Test
	void anExecutionThatThrowsIsForgotten() throws Exception {
		assertEquals(10, run("fail").recorded.size());
	}

	@Test
	void aMonitorThatTheProgramHoldsIsNoDeadlock() throws Exception {
		Recording recording = run("monitor", "-Dlocus.bench.seconds=2");
		assertEquals("done\n", said);
		assertTrue(recording.recorded.size() == 1 || recording.notes.get(0).why.contains("was not done after"));
	}

	@Test
	void withoutKryoTheProgramRunsAndTheFileSaysWhy() throws Exception {
		Path classes = Files.createDirectories(directory.resolve("classes"));
		try (JarFile jar = new JarFile(new File(Recorder.class.getProtectionDomain().getCodeSource().getLocation().toURI()))) {
			for (JarEntry entry : Collections.list(jar.entries())) {
				if (entry.getName().startsWith("locusbench/record/") && entry.getName().endsWith(".class")) {
					copy(jar.getInputStream(entry), classes.resolve(entry.getName()));
				}
			}
		}
		String program = RecorderProgram.class.getName().replace('.', '/') + ".class";
		copy(getClass().getResourceAsStream("/" + program), classes.resolve(program));
		Path file = directory.resolve("recording");
		run(file, classes.toString(), "sum");
		assertEquals("done\n", said);
		try (InputStream in = Files.newInputStream(file)) {
			Recording recording = Recording.read(in);
			assertTrue(recording.recorded.isEmpty());
			assertTrue(recording.notes.get(0).why.contains("com"), recording.notes.get(0).why);
		}
	}

	private static void copy(InputStream from, Path to) throws Exception {
		try (InputStream in = from) {
			Files.createDirectories(to.getParent());
			Files.copy(in, to);
		}
	}

	@Test
	void withoutAFileNothingIsRecorded() throws Exception {
		run(Paths.get(""), System.getProperty("java.class.path"), "sum");
		assertEquals("done\n", said);
		assertFalse(Files.exists(directory.resolve("recording")));
	}

	@Test
	void aFileThatCannotBeWrittenIsSaidOnceOnStderr() throws Exception {
		run(directory.resolve("none/recording"), System.getProperty("java.class.path"), "sum");
		assertTrue(said.startsWith("done\nlocus: bench: '") && said.lines().count() == 2, said);
	}
}
