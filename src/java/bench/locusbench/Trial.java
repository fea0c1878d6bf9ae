// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URI;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Compiles a benchmark and its regression test with the program's javac, runs the test with the program's java, and finds which
 * parts of the class path both read. It needs neither Maven nor JMH.
 */
final class Trial {
	private static final String PASSED = "locus: the regression test passes";
	private static final String FAILED = "locus: the regression test fails: ";
	private static final long SECONDS_MAX = 1800;
	/** A class that javac -verbose names, of a directory or of a jar. */
	private static final Pattern COMPILED = Pattern.compile("(?m)^\\[loading (?:\\w+\\[)?(/[^(\\]\\n]*)");
	/** A class that java -verbose:class names, in the form of Java 9 and later, or of Java 8. */
	private static final Pattern LOADED = Pattern.compile("(?m)(?: source: |\\[Loaded \\S+ from )(file:[^\\]\\n]*)");

	private final Path directory;
	private final Request request;
	private final boolean madeUp;
	private String unsuited = "";

	/** `directory` keeps the classes, and what the compiler and the test say; `madeUp`: the inputs. */
	Trial(Path directory, Request request, boolean madeUp) {
		this.directory = directory;
		this.request = request;
		this.madeUp = madeUp;
	}

	/** The failure of the regression test that made-up inputs cause; empty if they suit the code. */
	String unsuited() {
		return unsuited;
	}

	/** Is there a compiler beside the program's java, and is the benchmark to be right? Else there is no trial. */
	static boolean isPossible(Request request) {
		return Files.isExecutable(RecordedRun.javac(request)) && request.without.isEmpty();
	}

	/** The parts of the class path that the benchmark needs, in their order. `project`: with all its sources and inputs. */
	List<String> run(Path project, Payload payload) throws IOException, Refusal {
		Path sources = directory.resolve("src");
		Path classes = Files.createDirectories(directory.resolve("classes"));
		List<String> files = sources(project, sources);
		List<String> path = new ArrayList<>(request.classPath);
		path.addAll(RecordedRun.own());
		String said = compile(files, classes, path);
		Files.copy(project.resolve(Project.INPUTS), classes.resolve("locus-inputs.bin"), StandardCopyOption.REPLACE_EXISTING);
		path.add(0, classes.toAbsolutePath().toString());
		return needed(said, test(payload, path));
	}

	/** Copies of the benchmark and its test that use Stubs; the classes that read inputs are of this jar. */
	private List<String> sources(Path project, Path to) throws IOException {
		List<String> files = new ArrayList<>();
		for (String from : List.of("src/main/java", "src/test/java")) {
			List<Path> all;
			try (Stream<Path> found = Files.walk(project.resolve(from))) {
				all = found.filter(file -> file.toString().endsWith(".java") && !file.startsWith(project.resolve(from).resolve("locusbench/record")))
						.collect(Collectors.toList());
			}
			for (Path file : all) {
				Path copy = to.resolve(project.resolve(from).relativize(file).toString());
				Files.createDirectories(copy.getParent());
				Files.writeString(copy, Files.readString(file).replaceAll("org\\.openjdk\\.jmh\\.(annotations|infra)\\.", "locusbench.Stubs.")
						.replaceAll("org\\.junit\\.jupiter\\.(api\\.Assertions|params\\.provider|params)\\.", "locusbench.Stubs."));
				files.add(copy.toString());
			}
		}
		return files;
	}

	private String compile(List<String> files, Path classes, List<String> path) throws IOException, Refusal {
		List<String> words = new ArrayList<>(List.of(RecordedRun.javac(request).toString(), "-J-XX:TieredStopAtLevel=1", "-J-Xss8m", "-J-Duser.language=en",
				"-verbose", "-nowarn", "-proc:none", "-implicit:none", "-encoding", "UTF-8", "-d", classes.toString(), "-cp", String.join(File.pathSeparator, path)));
		words.addAll(files);
		Path log = directory.resolve("javac.log");
		int status = Command.run(Path.of("."), log, SECONDS_MAX, Map.of(), words);
		String said = Files.readString(log);
		if (status != 0) {
			throw new Refusal("the benchmark does not compile: " + RecordedRun.firstError(said));
		}
		return said;
	}

	private String test(Payload payload, List<String> path) throws IOException, Refusal {
		List<String> words = new ArrayList<>(List.of(request.java));
		words.addAll(request.jvmOptions);
		words.addAll(List.of("-verbose:class", "-cp", String.join(File.pathSeparator, path), Trial.class.getName(), payload.testName()));
		Path log = directory.resolve("test.log");
		int status = Command.run(Path.of("."), log, SECONDS_MAX, Map.of(), words);
		String said = Files.readString(log);
		if (!said.contains(PASSED)) {
			int at = said.indexOf(FAILED);
			String failure = at < 0 ? "its JVM ends with status " + status + "; see " + log : said.substring(at + FAILED.length()).lines().findFirst().orElse("");
			if (!madeUp) {
				throw new Refusal("the regression test fails: " + failure);
			}
			unsuited = failure;
		}
		return said;
	}

	/** The parts of the class path that javac and java have read, without the JDK's and Locus's own. */
	private List<String> needed(String compiled, String loaded) throws IOException {
		Set<String> found = new LinkedHashSet<>();
		Matcher compiler = COMPILED.matcher(compiled);
		while (compiler.find()) {
			found.add(compiler.group(1));
		}
		Matcher jvm = LOADED.matcher(loaded);
		while (jvm.find()) {
			found.add(path(jvm.group(1)));
		}
		List<String> needed = new ArrayList<>();
		for (String element : request.classPath) {
			String absolute = Path.of(element).toAbsolutePath().normalize().toString();
			boolean isRead = found.removeIf(file -> file.equals(element) || file.startsWith(element + "/") || Path.of(file).normalize().toString().equals(absolute)
					|| file.startsWith(absolute + "/"));
			if (isRead) {
				needed.add(element);
			}
		}
		List<String> own = RecordedRun.own();
		found.removeIf(file -> own.contains(file) || !file.endsWith(".jar") || file.startsWith(directory.toAbsolutePath().toString()));
		needed.addAll(found); // a jar that another one's manifest names
		return needed;
	}

	private static String path(String url) {
		try {
			return Path.of(URI.create(url)).toString();
		} catch (IllegalArgumentException | FileSystemNotFoundException e) { // the JVM escapes no space
			return url.substring("file:".length());
		}
	}

	/** Runs the regression test that is named: in the program's java. */
	public static void main(String[] words) throws Exception {
		Class<?> type = Class.forName(words[0]);
		Constructor<?> constructor = type.getDeclaredConstructor();
		Method test = type.getDeclaredMethod("recordedInputsGiveRecordedOutputs", int.class);
		constructor.setAccessible(true);
		test.setAccessible(true);
		try {
			for (int input : test.getAnnotation(Stubs.ValueSource.class).ints()) {
				test.invoke(constructor.newInstance(), input);
			}
			System.out.println("\n" + PASSED);
		} catch (InvocationTargetException e) {
			e.getCause().printStackTrace(System.out);
			System.out.println("\n" + FAILED + (e.getCause() instanceof AssertionError ? e.getCause().getMessage() : e.getCause().toString()));
		}
		Runtime.getRuntime().halt(0); // whatever threads the program's classes have started
	}
}
