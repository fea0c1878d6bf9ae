package locusbench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import locusbench.record.Recording;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The time of an execution in the program, by its samples, beside that in the benchmark. */
class LikenessTest {
	@TempDir
	Path directory;
	private Payload payload;

	@BeforeEach
	void segment() {
		payload = new Payload();
		payload.firstLine = 10;
		payload.lastLine = 20;
	}

	/** 9 executions took 100 ns, one 1000, each with inputs of its own; `executions` were counted. */
	private static Recording recording(long executions) {
		List<Recording.Execution> recorded = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			recorded.add(new Recording.Execution(i < 9 ? 100 : 1000, new byte[] {1}, new byte[] {(byte) i}));
		}
		return new Recording(executions, recorded, List.of());
	}

	/** Each of the three inputs takes so many ns. */
	private Results results(double ns) throws Exception {
		StringBuilder json = new StringBuilder("[");
		for (int input : new Selection(recording(10)).measured) {
			json.append(json.length() > 1 ? "," : "").append("{\"params\":{\"input\":\"").append(input)
					.append("\"},\"primaryMetric\":{\"rawData\":[[").append(ns).append(',').append(ns).append("]]}}");
		}
		Path file = directory.resolve("results.json");
		Files.writeString(file, json.append(']'));
		return Results.read(file, "B", "", List.of());
	}

	/** Of the lines 9, 10, 20 and 21 each has so many samples of 5 ms. */
	private Request request(long samples, long sampleNs) throws Exception {
		StringBuilder lines = new StringBuilder();
		for (int line : new int[] {9, 10, 20, 21}) {
			lines.append(lines.length() > 0 ? "," : "").append("{\"line\":").append(line).append(",\"samples\":0,\"with_calls\":")
					.append(samples).append('}');
		}
		Path file = directory.resolve("request.json");
		Files.writeString(file, "{\"format\":1,\"lines\":[" + lines + "],\"sample_ns\":" + sampleNs + ",\"output\":\"out\"}");
		return Request.read(file);
	}

	@Test
	void executionsThatTookLongerCountForMore() throws Exception {
		// Nine of 30 ns, and one that took ten times as long as the slowest that is measured.
		assertEquals((9 * 30 + 300) / 10.0, Likeness.mean(recording(10), results(30)), 1e-9);
	}

	@Test
	void equalTimesAreAlike() throws Exception {
		// 200 samples of 5 ms are a second: 10,000,000 executions of 100 ns, and of 190 in the mean where 100 is measured.
		assertEquals("", Likeness.of(request(100, 5_000_000), payload, recording(10_000_000), results(60)));
	}

	@Test
	void muchLessTimeIsNotLikeTheProgram() throws Exception {
		String said = Likeness.of(request(100, 5_000_000), payload, recording(1_000_000), results(10));
		assertTrue(said.startsWith("this benchmark is not like your program: an execution took 1,000 ns of CPU time there (200 samples,"
				+ " 1,000,000 executions), and takes 19.0 ns here: most likely"), said);
	}

	@Test
	void muchMoreTimeIsNotEither() throws Exception {
		String said = Likeness.of(request(100, 5_000_000), payload, recording(100_000_000), results(100));
		assertTrue(said.contains("took 10.0 ns") && said.endsWith("takes 190 ns here"), said);
	}

	@Test
	void whatCannotBeKnownIsSaid() throws Exception {
		assertTrue(Likeness.of(request(2, 5_000_000), payload, recording(10), results(10)).contains("has 4 samples"));
		assertTrue(Likeness.of(request(100, 0), payload, recording(10), results(10)).contains("not of time"));
		assertEquals("", Likeness.of(request(100, 5_000_000), payload, Recording.made(), results(10)));
	}
}
