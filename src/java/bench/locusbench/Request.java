// SPDX-License-Identifier: Apache-2.0
package locusbench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The request of `locus bench`, as request.json has it. */
final class Request {
	static final int FORMAT = 1;

	final String profile;
	final int engine; // number of the profile's engine
	final String className;
	final String method;
	final String parameters; // "int,String"; null: the method's are not named
	final int line;
	final Map<Integer, Long> samplesByLine = new TreeMap<>();
	final long methodSamples;
	final long sampleNs; // CPU time that a sample stands for; 0: none
	final String finding;
	final List<String> sourcePath;
	final List<String> classPath;
	final List<String> against;
	final Path output;
	final boolean run;
	final boolean record;
	final List<String> program;
	final int programMain; // index of the word that names the class; 0: it is no command of java's
	final String programDirectory;
	final boolean asProfiled; // that run executes what the profile is of, all of it
	final String java;
	final List<String> jvmOptions;
	final int forks;
	final int seconds;
	final String locus;
	final int inputs;
	final boolean allowIo;
	final Set<Rule> without = EnumSet.noneOf(Rule.class); // for the evaluation of the rules

	private Request(JsonNode json) throws Refusal {
		profile = json.path("profile").asText("");
		engine = json.path("engine").asInt(1);
		className = json.path("class").asText("");
		method = json.path("method").asText("");
		parameters = json.has("parameters") ? json.path("parameters").asText() : null;
		line = json.path("line").asInt(-1);
		for (JsonNode row : json.path("lines")) {
			samplesByLine.merge(row.path("line").asInt(), row.path("samples").asLong(), Long::sum);
		}
		methodSamples = json.path("method_samples").asLong();
		sampleNs = json.path("sample_ns").asLong();
		finding = json.path("finding").asText("");
		sourcePath = texts(json.path("source_path"));
		classPath = texts(json.path("class_path"));
		against = texts(json.path("against"));
		output = Path.of(json.path("output").asText());
		run = json.path("run").asBoolean(true);
		record = json.path("record").asBoolean(true);
		program = texts(json.path("program"));
		programMain = json.path("program_main").asInt();
		programDirectory = json.path("program_directory").asText("");
		asProfiled = json.path("as_profiled").asBoolean(true);
		java = json.path("java").asText("java");
		jvmOptions = texts(json.path("jvm_options"));
		forks = json.path("forks").asInt(3);
		seconds = json.path("seconds").asInt(1);
		locus = json.path("locus").asText("");
		inputs = json.path("inputs").asInt(100);
		allowIo = json.path("allow_io").asBoolean(false);
		for (String name : texts(json.path("without"))) {
			without.add(Rule.of(name));
		}
	}

	private static List<String> texts(JsonNode array) {
		List<String> texts = new ArrayList<>();
		for (JsonNode text : array) {
			texts.add(text.asText());
		}
		return texts;
	}

	static Request read(Path file) throws IOException, Refusal {
		JsonNode json = new ObjectMapper().readTree(file.toFile());
		if (json.path("format").asInt() != FORMAT) {
			throw new Refusal("the request has format " + json.path("format").asInt() + ", not " + FORMAT);
		}
		return new Request(json);
	}
}
