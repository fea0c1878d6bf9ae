// SPDX-License-Identifier: Apache-2.0
package locusbench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import locusbench.record.Recording;

/** Runs a benchmark once more, under Locus, and reads what the program and the benchmark touch in the segment. */
final class ProfiledRun {
	private static final String ALL = "1000000"; // objects of a report
	private static final String AGENT = "LOCUS_AGENT="; // as `locus agent-args --for=env` writes it
	private static final String AUTO = "reason"; // an engine's member: it was not asked for by name
	private static final long SECONDS_MAX = 600;

	private final Request request;
	private final Payload payload;
	private final Path project;
	/** The benchmark's profile. */
	final Path profile;
	private JsonNode program; // the report of its segment

	ProfiledRun(Request request, Payload payload, Path project) {
		this.request = request;
		this.payload = payload;
		this.project = project;
		profile = project.resolve("profile").toAbsolutePath();
	}

	/** Read the program's profile, once. */
	void readProgram() throws IOException, Refusal {
		if (program != null) {
			return;
		}
		String method = request.method.isEmpty() ? payload.originalMethod : request.method;
		String of = request.method.isEmpty() ? payload.originalClass : request.className;
		program = report(request.profile, "--engine=" + request.engine, of + "." + method + ":" + payload.firstLine + "-" + payload.lastLine);
	}

	/** Refuse to compare a benchmark with hardly any samples. */
	void check() throws Refusal {
		if (samples() < Likeness.SAMPLES_LEAST) {
			throw few(samples() + " samples");
		}
	}

	private Refusal few(String samples) {
		return new Refusal("the profile has " + samples + " of lines " + payload.firstLine + " to " + payload.lastLine + " of " + payload.originalClass + "."
				+ payload.originalMethod);
	}

	/** The program's samples in the segment. */
	long samples() {
		return program.path("samples").path("total").asLong();
	}

	/** The accesses of the program and of the benchmark, measured with the input that took a median time. */
	Accesses[] run(Recording recording) throws IOException, Refusal {
		check();
		List<String> options = new ArrayList<>(request.jvmOptions);
		options.add(agent(program.path("engine")));
		Selection selection = new Selection(recording);
		new MavenRun(request.java).profiled(project, payload, options, selection.measured.get(selection.measured.size() / 2));
		JsonNode benchmark = report(profile.toString(), null, payload.className + ".segment");
		return new Accesses[] {new Accesses(program, name -> true), new Accesses(benchmark, isOfProgram())};
	}

	/** Not an object of the benchmark's own, nor one of JMH's. */
	private Predicate<String> isOfProgram() {
		return name -> !name.startsWith("org.openjdk.jmh.") && !name.contains(".jmh_generated.")
				&& !name.equals(payload.packageName + "." + payload.className) && !name.equals(payload.className);
	}

	/** The option of a JVM that is to be recorded with the engine of the program's profile. */
	private String agent(JsonNode engine) throws IOException, Refusal {
		List<String> words = new ArrayList<>(List.of(request.locus, "agent-args", "--for=env", "--interval=1ms", "--output=" + profile));
		if (!engine.has(AUTO)) {
			words.add("--event=" + engine.path("name").asText());
		}
		Path log = project.resolve("target/locus-agent.log");
		Command.run(Path.of("."), log, SECONDS_MAX, Map.of(), words);
		String said = Files.readString(log);
		return said.lines().filter(line -> line.startsWith(AGENT)).findFirst().map(line -> line.substring(AGENT.length()))
				.orElseThrow(() -> refusal(said));
	}

	/** The report of the samples with a frame that matches, as in `locus report --include`. */
	private JsonNode report(String of, String engine, String frame) throws IOException, Refusal {
		Path file = Files.createDirectories(project.resolve("target")).resolve("locus-report.json").toAbsolutePath();
		Path log = project.resolve("target/locus-report.log");
		Files.deleteIfExists(file);
		List<String> words = new ArrayList<>(List.of(request.locus, "report", "--file=" + file, "--top=" + ALL, "--include=" + frame));
		if (engine != null) {
			words.add(engine);
		}
		words.add(of);
		Command.run(Path.of("."), log, SECONDS_MAX, Map.of(), words);
		if (!Files.exists(file)) {
			throw refusal(Files.readString(log));
		}
		JsonNode report = new ObjectMapper().readTree(file.toFile());
		Files.delete(file);
		return report;
	}

	private Refusal refusal(String said) {
		return said.contains("--include") ? few("no sample") : new Refusal(said.lines().findFirst().orElse("locus says nothing").replaceFirst("^locus: ", ""));
	}
}
