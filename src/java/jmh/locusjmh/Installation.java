// SPDX-License-Identifier: Apache-2.0
package locusjmh;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Finds Locus: the command, and the agent. */
final class Installation {
	/** Why Locus cannot be used, in one line. */
	static final class Missing extends Exception {
		private static final long serialVersionUID = 1;

		Missing(String why) {
			super(why);
		}
	}

	private static final int SECONDS_MAX = 60;
	/** By JVM and agent. */
	private static final Map<String, String> REFUSALS = new HashMap<>();

	final Path command;
	final Path agent;

	private Installation(Path command) throws Missing, IOException {
		this.command = command.toRealPath();
		agent = library("liblocus.so");
	}

	/** Look where the help says; the first place that names one, or has one, counts. */
	static Installation find(Settings settings) throws Missing {
		try {
			return new Installation(command(settings));
		} catch (IOException | InvalidPathException e) {
			throw new Missing("the locus command cannot be read: " + e.getMessage());
		}
	}

	private static Path command(Settings settings) throws Missing {
		String property = System.getProperty("locus");
		String home = System.getenv("LOCUS_HOME");
		if (settings.command != null) {
			return named(settings.command, "the option locus=");
		}
		if (property != null && !property.isEmpty()) {
			return named(property, "the system property 'locus'");
		}
		if (home != null && !home.isEmpty()) {
			return first(below(Paths.get(home), "bin/locus", "build/locus", "locus"),
					"there is no locus command in '" + home + "', which LOCUS_HOME names");
		}
		return first(places(), "no locus command beside the jar or in PATH; name it with -prof \"locus:locus=FILE\"");
	}

	private static Path named(String file, String by) throws Missing {
		Path path = Paths.get(file);
		if (!isCommand(path)) {
			throw new Missing("'" + file + "', which " + by + " names, is no program");
		}
		return path;
	}

	private static Path first(List<Path> places, String otherwise) throws Missing {
		for (Path place : places) {
			if (isCommand(place)) {
				return place;
			}
		}
		throw new Missing(otherwise);
	}

	private static boolean isCommand(Path path) {
		return Files.isRegularFile(path) && Files.isExecutable(path);
	}

	private static List<Path> below(Path directory, String... names) {
		List<Path> places = new ArrayList<>();
		for (String name : names) {
			places.add(directory.resolve(name));
		}
		return places;
	}

	/** Beside the jar of a build (build/), of an installation (lib/locus/), of one in a root of its own; then PATH. */
	private static List<Path> places() {
		List<Path> places = new ArrayList<>();
		Path jar = ownJar();
		if (jar != null && jar.getParent() != null) {
			places.addAll(below(jar.getParent(), "locus", "../bin/locus", "../../bin/locus", "build/locus"));
		}
		String path = System.getenv("PATH");
		for (String directory : (path == null ? "" : path).split(File.pathSeparator)) {
			if (!directory.isEmpty()) {
				places.add(Paths.get(directory, "locus"));
			}
		}
		return places;
	}

	/** The jar with this class; null where it is in none that is a file. */
	private static Path ownJar() {
		CodeSource source = Installation.class.getProtectionDomain().getCodeSource();
		URL url = source == null ? null : source.getLocation();
		try {
			return url == null || !"file".equals(url.getProtocol()) ? null : Paths.get(url.toURI()).toRealPath();
		} catch (URISyntaxException | IOException | IllegalArgumentException e) {
			return null;
		}
	}

	/**
	 * Can this JVM load the agent? One that cannot (of another processor or C library) would not start
	 * at all. The agent is given an option that it does not have: it then says so, and does nothing.
	 */
	void tryIn(String jvm) throws Missing {
		String refusal;
		synchronized (REFUSALS) {
			String key = jvm + " " + agent;
			if (!REFUSALS.containsKey(key)) {
				REFUSALS.put(key, refusalOf(jvm));
			}
			refusal = REFUSALS.get(key);
		}
		if (!refusal.isEmpty()) {
			throw new Missing("'" + jvm + "' does not start with the agent: " + refusal);
		}
	}

	/** The first line that the JVM says where it does not start; "" where it does. */
	private String refusalOf(String jvm) throws Missing {
		List<String> words = new ArrayList<>();
		words.add(jvm);
		words.add("-agentpath:" + agent + "=probe");
		words.add("-version");
		try {
			Path said = Files.createTempFile("locus-jmh", ".out");
			try {
				Process process = new ProcessBuilder(words).redirectErrorStream(true).redirectOutput(said.toFile()).start();
				process.getOutputStream().close();
				if (!process.waitFor(SECONDS_MAX, TimeUnit.SECONDS)) {
					process.destroyForcibly();
					return "it did not end within " + SECONDS_MAX + " s";
				}
				String line = new String(Files.readAllBytes(said), StandardCharsets.UTF_8).split("\n")[0].trim();
				return process.exitValue() == 0 ? "" : line.isEmpty() ? "status " + process.exitValue() : line;
			} finally {
				Files.deleteIfExists(said);
			}
		} catch (IOException e) {
			throw new Missing("'" + jvm + "' cannot be run: " + e.getMessage());
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
			throw new Missing("'" + jvm + "' was interrupted");
		}
	}

	/** A library, where the command itself would find it. */
	private Path library(String name) throws Missing, IOException {
		Path directory = command.getParent();
		for (Path place : below(directory, name, "../lib/locus/" + name)) {
			if (Files.isReadable(place)) {
				return loadable(place.toRealPath());
			}
		}
		throw new Missing(name + " is neither in " + directory + " nor in " + directory
				+ "/../lib/locus; build or install Locus again");
	}

	/* The rules are those of the command: `locus run` preloads a library, whose path holds no ' ' or ':', and the JVM splits its option at '='. */
	private static Path loadable(Path library) throws Missing {
		String text = library.toString();
		if (text.indexOf(' ') >= 0 || text.indexOf(':') >= 0 || text.indexOf('=') >= 0) {
			throw new Missing("'" + text + "' cannot be loaded from a path with ' ', ':' or '='; move Locus to another directory");
		}
		return library;
	}
}
