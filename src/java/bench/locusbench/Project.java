// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import locusbench.record.Recording;

/**
 * Writes the Maven project of a benchmark: its source, the recorded inputs, the regression test, and what they need.
 *
 * The program's class path is copied into lib/ and stands in the manifest of benchmarks.jar, so that the project is whole.
 */
final class Project {
	/** The sources of locusbench.record that read inputs; a project has no recorder. */
	private static final List<String> READER = List.of("Constant", "Deep", "Digest", "Elements", "FieldsSerializer", "Inputs", "Kinds", "Library", "Primitives",
			"Recording", "SerializableSerializer", "TextSerializer", "Uncapturable", "Values", "WrapperSerializer");
	private static final String PARAMETERS = "/*INPUTS*/";
	/** The recorded inputs. */
	static final String INPUTS = "src/main/resources/locus-inputs.bin";
	/** Stands in a benchmark's source for inputs that are short. */
	static final String VALUES = "/*VALUES*/";

	private final Path directory;
	private final Payload payload;
	private final Recording recording;
	private final Selection selection;
	private final String path;
	private List<String> jars;

	private Project(Path directory, Payload payload, Recording recording) {
		this.directory = directory;
		this.payload = payload;
		this.recording = recording;
		selection = new Selection(recording);
		path = (payload.packageName + "." + payload.className).replace('.', '/');
	}

	/**
	 * Write all but the class path. The recording has an execution at least, of the program or made; `jvmOptions`, `forks`: how
	 * it is to be run.
	 */
	static Project write(Path directory, Payload payload, Recording recording, List<String> jvmOptions, int forks) throws IOException, Refusal {
		if (recording.recorded.isEmpty()) {
			throw new Refusal("there are no inputs to measure with");
		}
		Project project = new Project(directory, payload, recording);
		project.sources();
		project.inputs();
		project.test();
		project.readme(jvmOptions, forks);
		return project;
	}

	/** Copy the class path, or another one in place of it, and name it for Maven; `release` is the version of Java that the sources are of. */
	void complete(List<String> classPath, int release, List<String> jvmOptions) throws IOException {
		jars = ClassPath.copy(classPath, directory.resolve("lib"));
		pom(release, jvmOptions);
	}

	/** Notes for a reader of the numbers: the payload's, and what the recorder could not capture. */
	static List<String> notes(Payload payload, Recording recording) {
		List<String> notes = new ArrayList<>(payload.notes);
		if (recording.executions == 0) {
			notes.add("the inputs are made up: no execution of the program was recorded");
		}
		for (String sentence : recording.sentences(payload.inputNames)) {
			notes.add("not recorded: " + sentence);
		}
		return notes;
	}

	private void pom(int release, List<String> jvmOptions) throws IOException {
		StringBuilder dependencies = new StringBuilder();
		for (int i = 0; i < jars.size(); i++) {
			dependencies.append("\t\t<dependency>\n\t\t\t<groupId>program</groupId>\n\t\t\t<artifactId>part-").append(i)
					.append("</artifactId>\n\t\t\t<version>1</version>\n\t\t\t<scope>system</scope>\n")
					.append("\t\t\t<systemPath>${project.basedir}/lib/").append(jars.get(i))
					.append("</systemPath>\n\t\t</dependency>\n");
		}
		String entries = jars.stream().map(jar -> "../lib/" + jar).collect(Collectors.joining(" "));
		String manifest = jars.isEmpty() ? "" : "\t\t\t\t\t\t\t\t\t<manifestEntries>\n\t\t\t\t\t\t\t\t\t\t<Class-Path>" + entries
				+ "</Class-Path>\n\t\t\t\t\t\t\t\t\t</manifestEntries>\n";
		Template pom = new Template("project/pom.xml.txt").with("ARTIFACT", artifact()).with("RELEASE", release)
				.with("OPTIONS", xml(String.join(" ", jvmOptions))).with("DEPENDENCIES", dependencies).with("CLASS_PATH", manifest);
		write("pom.xml", pom.text());
	}

	private String artifact() {
		return payload.className.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_.-]", "-");
	}

	private static String xml(String text) {
		return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
	}

	private void sources() throws IOException {
		String values = new ShortInputs(recording, selection).text();
		source(payload.file(), payload.source.replaceFirst("\\t\\t" + Pattern.quote(VALUES) + "\n", Matcher.quoteReplacement(values)));
		for (Map.Entry<String, String> other : payload.others.entrySet()) {
			source(other.getKey(), other.getValue());
		}
		for (String name : READER) {
			write("src/main/java/locusbench/record/" + name + ".java", Template.resource("project/record/" + name + ".java"));
		}
	}

	private void source(String file, String text) throws IOException {
		write("src/main/java/" + file, text.replace(PARAMETERS, selection.parameters()));
	}

	private void inputs() throws IOException {
		Path file = directory.resolve(INPUTS);
		Files.createDirectories(file.getParent());
		try (OutputStream out = Files.newOutputStream(file)) {
			new Recording(recording.executions, selection.tested, recording.notes).write(out);
		}
	}

	private void test() throws IOException {
		write("src/test/java/" + path + "Test.java", test(payload, selection.tested.size()));
	}

	/** The regression test of a benchmark, as text. */
	static String test(Payload payload, int executions) throws IOException {
		String tested = IntStream.range(0, executions).mapToObj(String::valueOf).collect(Collectors.joining(", "));
		return new Template("project/Test.java.txt").with("BETWEEN", payload.loadsAgain || payload.goesOn ? "\t\tbenchmark.load();\n" : "")
				.with("PACKAGE", payload.packageName).with("CLASS", payload.className).with("TESTED", tested).text();
	}

	private void readme(List<String> jvmOptions, int forks) throws IOException {
		String inputs = recording.executions == 0 ? "inputs that were made up, since no execution of the program was recorded"
				: selection.tested.size() + " of the " + recording.recorded.size() + " recorded executions, of "
						+ recording.executions + " in the program; " + describe(selection.measured.size());
		StringBuilder notes = new StringBuilder();
		for (String note : notes(payload, recording)) {
			notes.append(notes.length() == 0 ? "Left out or assumed:\n\n" : "").append("- ").append(note).append('\n');
		}
		String options = jvmOptions.isEmpty() ? "" : " -jvmArgs \"" + String.join(" ", jvmOptions) + "\"";
		write("README.md", new Template("project/README.md.txt").with("CLASS", payload.className).with("PATH", path)
				.with("FIRST", payload.firstLine).with("LAST", payload.lastLine)
				.with("ORIGINAL", payload.originalClass + "." + payload.originalMethod).with("INPUTS", inputs)
				.with("FORKS", forks).with("JVM_ARGS", options).with("NOTES", notes).text().trim() + "\n");
	}

	private String describe(int measured) {
		String which = selection.measured.stream().map(String::valueOf).collect(Collectors.joining(", "));
		return measured == 1 ? "`input=" + which + "` is measured"
				: "`input=" + which + "`, those at 10%, 50% and 90% of all by how long they took, are measured";
	}

	private void write(String name, String text) throws IOException {
		Path file = directory.resolve(name);
		Files.createDirectories(file.getParent());
		Files.writeString(file, text);
	}
}
