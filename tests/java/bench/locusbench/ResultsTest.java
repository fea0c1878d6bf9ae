// SPDX-License-Identifier: Apache-2.0
package locusbench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The printed text of JMH's results, letter by letter. */
class ResultsTest {
	@TempDir
	Path directory;

	private static String row(String input, String raw) {
		return "{\"benchmark\": \"a.B.segment\", \"params\": {\"input\": \"" + input + "\"}, \"primaryMetric\": {\"score\": 1, \"rawData\": "
				+ raw + "}, \"secondaryMetrics\": {\"gc.alloc.rate\": {\"score\": 12.5}, \"gc.alloc.rate.norm\": {\"score\": 24.0001}}}";
	}

	private Results results(String version, List<String> notes, String... rows) throws Exception {
		Path json = directory.resolve("results.json");
		Files.writeString(json, "[" + String.join(",", rows) + "]");
		return Results.read(json, "B", version, notes);
	}

	@Test
	void oneVersion() throws Exception {
		Results results = results("", List.of("nothing was left out"), row("0", "[[10, 10], [11, 11], [12, 12]]"),
				row("12", "[[1000, 1002], [1001], [1001]]"));
		assertEquals("benchmark  input  ns a call        95% interval  bytes a call  MiB/s allocated\n"
				+ "B              0      11.00       8.52 .. 13.48         24.00            12.50\n"
				+ "B             12    1,001.0  1,001.0 .. 1,001.0         24.00            12.50\n"
				+ "\nIntervals are of 95%: Student's, over the means of 3 forks.\nnote: nothing was left out\n"
				+ "this benchmark is not stable: B, input 0: its interval is +-23% of its mean\n", results.text());
		assertEquals(3, results.status());
	}

	@Test
	void twoVersionsWithTheSpeedUp() throws Exception {
		Results before = results("before", List.of("a note"), row("0", "[[20], [20.2], [19.8]]"));
		Results after = results("after", List.of("a note"), row("0", "[[10], [10.1], [9.9]]")).against(before);
		assertEquals(0, after.status());
		String[] lines = after.text().split("\n");
		assertEquals("benchmark  input  version  ns a call    95% interval  bytes a call  MiB/s allocated  speed-up    95% interval", lines[0]);
		assertEquals("B              0   before      20.00  19.50 .. 20.50         24.00            12.50", lines[1]);
		assertTrue(lines[2].matches("B +0 +after +10\\.00 +9\\.75 \\.\\. 10\\.25 +24\\.00 +12\\.50 +2\\.00x +1\\.9\\dx \\.\\. 2\\.0\\dx"), lines[2]);
		assertEquals("Intervals are of 95%: Student's, over the means of 3 forks; of a speed-up Fieller's.", lines[4]);
		assertEquals("note: a note", lines[5]);
		assertEquals(6, lines.length);
	}

	@Test
	void aBenchmarkIsNotWarmWhereEachForkGetsFaster() throws Exception {
		assertTrue(results("", List.of(), row("0", "[[10, 10]]"), row("1", "[[12, 10], [12, 11, 10], [13, 10]]")).isGettingFaster());
		assertFalse(results("", List.of(), row("1", "[[14, 10], [14, 10], [10, 10.1]]")).isGettingFaster()); // one was warm
		assertFalse(results("", List.of(), row("1", "[[10.5, 10], [10.5, 10], [10.5, 10]]")).isGettingFaster()); // by little
		assertFalse(results("", List.of(), row("1", "[[10, 12], [10, 12], [10, 13]]")).isGettingFaster()); // what it works on grows
		assertFalse(results("", List.of(), row("1", "[[13, 10]]")).isGettingFaster()); // of one fork that may be chance
	}

	@Test
	void forksOfSeveralRunsAreTakenTogether() throws Exception {
		List<Path> files = new ArrayList<>();
		for (String raw : List.of("[[10]]", "[[11]]", "[[12]]")) {
			files.add(directory.resolve(files.size() + ".json"));
			Files.writeString(files.get(files.size() - 1), "[" + row("0", raw) + "]");
		}
		String text = Results.read(files, "B", "", List.of()).text();
		assertTrue(text.contains("8.52 .. 13.48") && text.contains("over the means of 3 forks."), text);
	}

	@Test
	void anUnstableVersionBeforeCountsToo() throws Exception {
		Results before = results("before", List.of(), row("0", "[[20], [30], [10]]"));
		Results after = results("after", List.of(), row("0", "[[10], [10], [10]]")).against(before);
		assertFalse(after.isStable());
		assertTrue(after.text().contains("this benchmark is not stable: B (before), input 0: its interval is +-124% of its mean\n"));
	}

	@Test
	void ofOneForkTheIterationsAreTheSamples() throws Exception {
		Results results = results("", List.of(), row("0", "[[10, 10.1, 9.9, 10, 10]]"));
		assertTrue(results.text().contains("over the iterations."), results.text());
		assertEquals(0, results.status());
	}

	@Test
	void oneSampleIsNotStable() throws Exception {
		Results results = results("", List.of(), row("0", "[[10]]"));
		assertTrue(results.text().contains("its interval is unknown, of one sample"), results.text());
		assertEquals(3, results.status());
	}

	@Test
	void aForkThatGetsFasterIsSaidToBeNotWarm() throws Exception {
		String text = results("", List.of(), row("0", "[[12, 11, 10], [12.1, 11, 10], [11.9, 11, 10.1]]")).text();
		assertTrue(text.contains("note: B, input 0: a call takes 16% less at the end of a fork than when measuring begins: it was not warm\n"), text);
	}

	@Test
	void aCallThatGetsMuchFasterTakesAPartOfItsTime() throws Exception {
		String text = results("", List.of(), row("0", "[[90, 4, 4, 4], [110, 4, 4, 4]]")).text();
		assertTrue(text.contains(": a call takes 96% less at the end of a fork "), text);
	}

	@Test
	void aForkThatGetsSlowerIsSaidToWorkOnMore() throws Exception {
		String text = results("", List.of(), row("0", "[[10, 13], [10, 12], [10, 14]]")).text();
		assertTrue(text.contains(": a call takes 30% more at the end of a fork than when measuring begins: what it works on grows, or "), text);
	}

	@Test
	void nothingMeasuredIsRefused() {
		assertThrows(Refusal.class, () -> results("", List.of()));
	}
}
