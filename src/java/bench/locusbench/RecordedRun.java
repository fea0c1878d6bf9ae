// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.io.BufferedInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import locusbench.record.Recording;

/** Runs the program once more, with one class of it replaced by one that records a segment. */
final class RecordedRun {
	private static final long SECONDS_MAX = 24 * 3600;
	private static final Pattern ERROR = Pattern.compile("([^/\\s]+\\.java):(\\d+): error: (.*)");

	private final Path directory;
	private final Request request;
	private final List<String> recorder; // class path of the recorder

	/** `directory` holds what the run leaves: its class, its output, the recording. */
	RecordedRun(Path directory, Request request) throws IOException {
		this.directory = directory;
		this.request = request;
		recorder = own();
	}

	/** `text`: of the segment's source file. */
	Recording run(Segment segment, Variables variables, String text) throws IOException, Refusal {
		Path classes = directory.resolve("classes");
		Files.createDirectories(classes);
		compile(segment, new Instrumentation(text).with(segment, variables).text(), classes);
		Path file = directory.resolve("inputs.bin").toAbsolutePath();
		Files.deleteIfExists(file);
		Path log = directory.resolve("program.log");
		List<String> words = words(classes, file);
		File home = request.programDirectory.isEmpty() ? new File(".") : new File(request.programDirectory);
		int status = Command.run(home.toPath(), log, SECONDS_MAX, Map.of(), words);
		if (!Files.exists(file)) {
			throw new Refusal("the program ended with status " + status + " and recorded nothing; its output is in " + log);
		}
		try (InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
			return Recording.read(in);
		}
	}

	private void compile(Segment segment, String text, Path classes) throws IOException, Refusal {
		String top = segment.type.getTopLevelType().getQualifiedName().replace('.', '/');
		Path source = directory.resolve("src").resolve(top + ".java");
		Files.createDirectories(source.getParent());
		Files.writeString(source, text);
		Path javac = javac(request);
		if (!Files.isExecutable(javac)) {
			throw new Refusal("there is no javac beside " + request.java + " to compile the recorded class with");
		}
		List<String> words = new ArrayList<>(List.of(javac.toString(), "-J-XX:TieredStopAtLevel=1", "-J-Xss8m", "-g", "-nowarn", "-proc:none", "-implicit:none", "-encoding", "UTF-8", "-d",
				classes.toString(), "-cp", String.join(File.pathSeparator, classPath()), source.toString()));
		Path log = directory.resolve("javac.log");
		if (Command.run(Path.of("."), log, 600, Map.of(), words) != 0) {
			throw new Refusal("the class with the recorder does not compile: " + firstError(Files.readString(log)));
		}
	}

	/** The compiler of the program's JDK, which need not be there. */
	static Path javac(Request request) {
		return Path.of(request.java).resolveSibling("javac");
	}

	/** The first error of javac's, as FILE:LINE: TEXT. */
	static String firstError(String said) {
		Matcher error = ERROR.matcher(said);
		return error.find() ? error.group(1) + ":" + error.group(2) + ": " + error.group(3)
				: said.lines().findFirst().orElse("javac says nothing");
	}

	/** The program's class path, and what the recorder needs. */
	private List<String> classPath() throws IOException {
		List<String> path = new ArrayList<>();
		for (String entry : request.classPath) {
			path.add(absolute(entry));
		}
		path.addAll(recorder);
		return path;
	}

	private static String absolute(String entry) {
		return Path.of(entry).toAbsolutePath().toString();
	}

	/** This jar, and those of Kryo that its manifest names. */
	static List<String> own() throws IOException {
		List<String> path = new ArrayList<>();
		for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
			path.add(absolute(entry));
			Path jar = Path.of(entry).toAbsolutePath();
			if (!Files.isRegularFile(jar)) {
				continue;
			}
			try (JarFile file = new JarFile(jar.toFile())) {
				Manifest manifest = file.getManifest();
				String others = manifest == null ? null : manifest.getMainAttributes().getValue(Attributes.Name.CLASS_PATH);
				for (String other : others == null ? new String[0] : others.trim().split("\\s+")) {
					if (other.matches(".*/(kryo|minlog|objenesis|reflectasm)-[^/]*")) {
						path.add(jar.resolveSibling(other).toString());
					}
				}
			}
		}
		return path;
	}

	/** The program's command, with the recording class before its class path, and the recorder behind. */
	private List<String> words(Path classes, Path file) throws IOException, Refusal {
		List<String> command = request.program;
		List<String> options = new ArrayList<>();
		List<String> rest = new ArrayList<>(command.subList(request.programMain, command.size()));
		List<String> path = new ArrayList<>();
		if (request.programMain == 0) {
			throw new Refusal("the command of the program has to be that of a java and its class, so that a class can be replaced: "
					+ String.join(" ", command));
		}
		for (int i = 1; i < request.programMain; i++) {
			String word = command.get(i);
			if (List.of("-cp", "-classpath", "--class-path").contains(word)) {
				path = elements(command.get(++i));
			} else if (word.startsWith("--class-path=")) {
				path = elements(word.substring(word.indexOf('=') + 1));
			} else if (word.startsWith("--module=")) {
				throw isModule();
			} else if (!word.startsWith("-agentpath:") && !word.startsWith("-agentlib:")) {
				options.add(word);
			}
		}
		if (rest.get(0).equals("-m") || rest.get(0).equals("--module")) {
			throw isModule();
		} else if (rest.get(0).equals("-jar")) {
			rest.remove(0);
			path = elements(rest.get(0));
			rest.set(0, mainClass(rest.get(0)));
		}
		List<String> words = new ArrayList<>(List.of(request.java));
		words.addAll(options);
		words.add("-Dlocus.bench.file=" + file);
		words.add("-Dlocus.bench.inputs=" + request.inputs);
		words.add("-cp");
		List<String> all = new ArrayList<>(List.of(classes.toAbsolutePath().toString()));
		all.addAll(path.isEmpty() ? request.classPath : path);
		all.addAll(recorder);
		words.add(String.join(File.pathSeparator, all));
		words.addAll(rest);
		return words;
	}

	private static Refusal isModule() {
		return new Refusal("the program is a module: its class cannot be replaced by one that records; give its command with"
				+ " a class path behind --");
	}

	private static List<String> elements(String path) {
		return List.of(path.split(File.pathSeparator));
	}

	private String mainClass(String jar) throws IOException, Refusal {
		Path home = Path.of(request.programDirectory.isEmpty() ? "." : request.programDirectory);
		try (JarFile file = new JarFile(home.resolve(jar).toFile())) {
			Manifest manifest = file.getManifest();
			String name = manifest == null ? null : manifest.getMainAttributes().getValue(Attributes.Name.MAIN_CLASS);
			if (name == null) {
				throw new Refusal("the manifest of " + jar + " names no main class");
			}
			return name.trim();
		}
	}
}
