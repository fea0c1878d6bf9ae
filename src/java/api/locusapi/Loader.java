// SPDX-License-Identifier: Apache-2.0
package locusapi;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Runs the {@code locus} that {@code locus-loader.jar} carries: {@code java -jar locus-loader.jar report prof}. With that jar on the
 * class path, {@link Locus#start} needs no other file.
 */
public final class Loader {
	private static final String CARRIED = "/locus/linux-x86_64/locus";
	private static final String AGENT = "LOCUS_AGENT=-agentpath:";

	private Loader() {
	}

	/**
	 * Runs {@code locus} with these arguments, and ends this JVM with its exit status.
	 *
	 * @param args of {@code locus}
	 * @throws InterruptedException when this thread is interrupted
	 */
	public static void main(String[] args) throws InterruptedException {
		try {
			List<String> command = new ArrayList<>();
			command.add(unpack().getPath());
			command.addAll(Arrays.asList(args));
			System.exit(new ProcessBuilder(command).inheritIO().start().waitFor());
		} catch (IOException refused) {
			System.err.println("locus: " + refused.getMessage());
			System.exit(1);
		}
	}

	/* The agent's library, or null where this class's jar carries none. It stays where the carried locus has written it. */
	static File library() throws IOException {
		if (Loader.class.getResource(CARRIED) == null)
			return null;
		Process asked = new ProcessBuilder(unpack().getPath(), "agent-args", "--for=env").redirectError(ProcessBuilder.Redirect.INHERIT).start();
		asked.getOutputStream().close();
		File found = null;
		try (BufferedReader lines = new BufferedReader(new InputStreamReader(asked.getInputStream()))) {
			for (String line = lines.readLine(); line != null; line = lines.readLine())
				if (line.startsWith(AGENT))
					found = new File(line.substring(AGENT.length()).split("=", 2)[0]);
		}
		return found;
	}

	/* Writes the executable to the first of the usual directories where programs may be run; it goes with this JVM. */
	private static File unpack() throws IOException {
		IOException refused = new IOException("this jar carries no locus: take locus-loader.jar, on Linux");
		if (Loader.class.getResource(CARRIED) == null)
			throw refused;
		for (String place : new String[] {System.getProperty("java.io.tmpdir"), "/var/tmp", "/dev/shm", System.getProperty("user.home")}) {
			try {
				return unpack(Paths.get(place));
			} catch (IOException next) {
				refused = new IOException("cannot write and run a program in " + place + ": " + next.getMessage(), next);
			}
		}
		throw refused;
	}

	private static File unpack(Path place) throws IOException {
		Path directory = Files.createTempDirectory(place, ".locus-"); // which only this user may enter
		File file = directory.resolve("locus").toFile();
		directory.toFile().deleteOnExit(); // files go before the directories that were named before them
		file.deleteOnExit();
		try (InputStream from = Loader.class.getResourceAsStream(CARRIED)) {
			Files.copy(from, file.toPath());
			if (!file.setExecutable(true, true))
				throw new IOException("no permission");
			new ProcessBuilder(file.getPath(), "--version").start().getInputStream().close();
			return file;
		} catch (IOException noRoomOrNoPrograms) {
			Files.deleteIfExists(file.toPath());
			Files.deleteIfExists(directory);
			throw noRoomOrNoPrograms;
		}
	}
}
