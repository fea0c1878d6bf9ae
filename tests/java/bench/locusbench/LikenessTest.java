// SPDX-License-Identifier: Apache-2.0
package locusbench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import locusbench.record.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The time and the accesses of an execution in the program, by its samples, beside the same in the benchmark. */
class LikenessTest {
	@TempDir
	Path directory;

	/** 9 executions took 100 ns, one 1000, each with inputs of its own; `executions` were counted. */
	private static Recording recording(long executions) {
		List<Recording.Execution> recorded = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			recorded.add(new Recording.Execution(i < 9 ? 100 : 1000, new byte[] {1}, new byte[] {(byte) i}));
		}
		return new Recording(executions, recorded, List.of());
	}

	private Results results(double ns) throws Exception {
		return results(recording(10), ns);
	}

	/** Each measured input takes so many ns. */
	private Results results(Recording of, double ns) throws Exception {
		StringBuilder json = new StringBuilder("[");
		for (int input : new Selection(of).measured) {
			json.append(json.length() > 1 ? "," : "").append("{\"params\":{\"input\":\"").append(input)
					.append("\"},\"primaryMetric\":{\"rawData\":[[").append(ns).append(',').append(ns).append("]]}}");
		}
		Path file = directory.resolve("results.json");
		Files.writeString(file, json.append(']'));
		return Results.read(file, "B", "", List.of());
	}

	@Test
	void executionsThatTookLongerCountForMore() throws Exception {
		// Nine of 30 ns, and one that took ten times as long as the slowest that is measured.
		assertEquals((9 * 30 + 300) / 10.0, Likeness.mean(recording(10), results(30)), 1e-9);
	}

	@Test
	void equalInputsTakeEqualTime() throws Exception {
		List<Recording.Execution> recorded = new ArrayList<>(); // the first one before the compiler had seen it
		for (long ns : new long[] {9000, 100, 110}) {
			recorded.add(new Recording.Execution(ns, new byte[] {1}, new byte[] {7}));
		}
		Recording equal = new Recording(3, recorded, List.of());
		assertEquals(30, Likeness.mean(equal, results(equal, 30)), 1e-9);
	}

	/** The report's lines on the time alone. */
	private String time(long samples, long sampleNs, long executions, double ns) throws Exception {
		Likeness likeness = new Likeness();
		likeness.time(samples, sampleNs, true, recording(executions), results(ns));
		return String.join("\n", likeness.sentences());
	}

	@Test
	void equalTimesAreAlike() throws Exception {
		// 200 samples of 5 ms are a second: 10,000,000 executions of 100 ns, and of 190 in the mean where 100 is measured.
		assertEquals("this benchmark is like your program: an execution took 100 ns of CPU time there, and takes 114 ns here",
				time(200, 5_000_000, 10_000_000, 60));
	}

	@Test
	void muchLessTimeIsNotLikeTheProgram() throws Exception {
		String said = time(200, 5_000_000, 1_000_000, 10);
		assertTrue(said.startsWith("this benchmark is not like your program: an execution took 1,000 ns of CPU time there (200 samples,"
				+ " 1,000,000 executions), and takes 19 ns here: most likely"), said);
	}

	@Test
	void muchMoreTimeIsNotEither() throws Exception {
		String said = time(200, 5_000_000, 100_000_000, 100);
		assertTrue(said.contains("took 10 ns") && said.endsWith("takes 190 ns here"), said);
	}

	@Test
	void whatCannotBeKnownIsSaid() throws Exception {
		assertEquals("not compared with your program: the time of an execution (the profile has 4 samples of the segment)", time(4, 5_000_000, 10, 10));
		assertTrue(time(100, 0, 10, 10).contains("not of time"));
	}

	@Test
	void executionsOfAnotherRunSayNothingOfItsTime() throws Exception {
		Likeness likeness = new Likeness();
		likeness.time(200, 5_000_000, false, recording(1000), results(10));
		assertEquals(List.of("not compared with your program: the time of an execution (the executions of a run were counted that is not the profiled"
				+ " one, or of which the profile has a part)"), likeness.sentences());
	}

	/** A report of `locus report`: samples of double[] and of two fields of Node, and a footprint. */
	private static Accesses accesses(long elements, long key, long next, String footprint) throws Exception {
		return new Accesses(new ObjectMapper().readTree("{\"engine\":{\"name\":\"timer\",\"interval_ns\":1000,\"tick_ns\":4000},"
				+ "\"sites\":[{\"class\":\"double[]\",\"samples\":" + elements + ",\"fields\":[{\"name\":\"(length)\",\"samples\":1}]}],"
				+ "\"classes\":[{\"class\":\"Node\",\"samples\":900,\"fields\":[{\"name\":\"key\",\"samples\":" + key + "},{\"name\":\"next\",\"samples\":"
				+ next + "}]},{\"class\":\"Bench\",\"samples\":900,\"fields\":[{\"name\":\"local_i\",\"samples\":900}]}]"
				+ (footprint.isEmpty() ? "" : ",\"footprint\":" + footprint) + "}"), name -> !name.equals("Bench"));
	}

	private static String footprint(long drawn, double kb, double low, String high) {
		return "{\"drawn\":" + drawn + ",\"bytes\":" + kb * 1024 + ",\"low\":" + low * 1024 + ",\"high\":" + high + "}";
	}

	private static final String SMALL = footprint(500, 2, 2, "2048");

	private static String said(Accesses there, Accesses here, String... inputs) {
		Likeness likeness = new Likeness();
		likeness.accesses(there, here, List.of(inputs));
		return String.join("\n", likeness.sentences());
	}

	@Test
	void theSamePartsAreAlike() throws Exception {
		assertEquals("this benchmark is like your program: 90% of the accesses are to the same parts of objects; the accesses are to about"
				+ " 2 KB of cache lines there, and to about 20 KB here",
				said(accesses(500, 300, 200, SMALL), accesses(600, 250, 150, footprint(500, 20, 20, "20480"))));
	}

	@Test
	void thePartThatDiffersMostIsNamed() throws Exception {
		String said = said(accesses(610, 300, 90, SMALL), accesses(120, 400, 480, SMALL));
		assertEquals("this benchmark is not like your program: 51% only of the accesses are to the same parts of objects; 61% are to"
				+ " double[] elements there, and 12% here", said);
	}

	/** 160 samples of 1 us are 40 observations where a tick is 4 us. */
	@Test
	void chanceIsNoDifference() throws Exception {
		assertTrue(said(accesses(96, 32, 32, SMALL), accesses(40, 60, 60, SMALL)).startsWith("this benchmark is like your program: 65%"));
		assertTrue(said(accesses(960, 320, 320, SMALL), accesses(400, 600, 600, SMALL)).startsWith("this benchmark is not like your program: 65%"));
		assertTrue(said(accesses(50, 30, 30, SMALL), accesses(0, 0, 900, SMALL)).contains("the parts of objects that are touched (110 samples"));
	}

	/** A field of the class that the benchmark has in a field of its own is touched in the program alone. */
	@Test
	void fieldsThatTheBenchmarkHoldsAreLeftOut() throws Exception {
		assertTrue(said(accesses(300, 700, 0, SMALL), accesses(900, 0, 0, SMALL), "i", "this.key").contains(" 100% of the accesses"));
		assertTrue(said(accesses(300, 700, 0, SMALL), accesses(900, 0, 0, SMALL), "key").contains(" 30% only"));
		assertTrue(said(accesses(300, 700, 0, SMALL), accesses(900, 100, 0, SMALL), "this.key").contains(" 40% only"));
	}

	@Test
	void moreMemoryIsNotLikeTheProgram() throws Exception {
		Accesses here = accesses(300, 0, 0, footprint(500, 64, 50, "90000"));
		assertEquals("this benchmark is not like your program: the accesses are to 4 MB or more of cache lines there, and to about 64 KB here:"
				+ " the cache is large enough for those of one execution, which is repeated",
				said(accesses(300, 0, 0, footprint(500, 8000, 4096, "null")), here));
		assertTrue(said(here, accesses(300, 0, 0, footprint(500, 8000, 4096, "null"))).endsWith("to about 64 KB of cache lines there, and to 4 MB or more here"));
	}

	@Test
	void aFootprintThatIsHardlyKnownIsNoDifference() throws Exception {
		Accesses there = accesses(300, 0, 0, footprint(40, 800, 90, "null"));
		assertTrue(said(there, accesses(300, 0, 0, footprint(500, 64, 50, "90000"))).endsWith("not compared with your program: the cache"
				+ " footprint (90 KB or more there and about 64 KB here, of 40 and 500 samples)"));
		assertTrue(said(accesses(300, 0, 0, ""), there).endsWith("the cache footprint (0 samples with a known cache line there, and 40 samples"
				+ " with a known cache line here)"));
	}

	@Test
	void whatWasNotProfiledIsSaid() {
		Likeness likeness = new Likeness();
		likeness.unknown("the JVM does not start");
		assertEquals(List.of("not compared with your program: what is touched (the JVM does not start)"), likeness.sentences());
	}
}
