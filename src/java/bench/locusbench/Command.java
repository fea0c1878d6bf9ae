// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs a program to its end, with all that it says in a file. */
final class Command {
	private Command() {
	}

	/** Its exit status. */
	static int run(Path directory, Path log, long seconds, Map<String, String> environment, List<String> words)
			throws IOException, Refusal {
		ProcessBuilder builder = new ProcessBuilder(words).directory(directory.toFile()).redirectErrorStream(true)
				.redirectOutput(log.toFile()).redirectInput(new File("/dev/null"));
		builder.environment().putAll(environment);
		Process process;
		try {
			process = builder.start();
		} catch (IOException e) {
			throw new Refusal("'" + words.get(0) + "' cannot be run: " + e.getMessage());
		}
		Thread stop = new Thread(() -> kill(process));
		Runtime.getRuntime().addShutdownHook(stop);
		try {
			if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
				throw new Refusal("'" + words.get(0) + "' was not done after " + seconds + " s; see " + log);
			}
			return process.exitValue();
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
			throw new Refusal("'" + words.get(0) + "' was interrupted");
		} finally {
			kill(process);
			Runtime.getRuntime().removeShutdownHook(stop);
		}
	}

	private static void kill(Process process) {
		process.descendants().forEach(ProcessHandle::destroyForcibly);
		process.destroyForcibly();
	}
}
