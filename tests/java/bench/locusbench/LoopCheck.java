// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.io.BufferedWriter;
import java.io.File;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs the regression tests of benchmarks: `LoopCheck DIRECTORY CLASS_PATH RESULTS FIRST`. They are those of
 * DIRECTORY/N, from N = FIRST on, each in a class loader of its own. RESULTS gets a line for each: its number and "pass", or why it fails.
 *
 * If one does not end, this JVM does, and the one that started it has to start the next.
 */
final class LoopCheck {
	static final int STUCK = 9; // exit status
	private static final long SECONDS_MAX = 10;

	private final List<URL> path = new ArrayList<>();

	private LoopCheck() {
	}

	public static void main(String[] words) throws Exception {
		LoopCheck check = new LoopCheck();
		for (String entry : words[1].split(File.pathSeparator)) {
			check.path.add(new File(entry).toURI().toURL());
		}
		try (BufferedWriter results = Files.newBufferedWriter(Path.of(words[2]), StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
			for (int i = Integer.parseInt(words[3]); Files.isDirectory(Path.of(words[0], String.valueOf(i))); i++) {
				Path directory = Path.of(words[0], String.valueOf(i));
				if (!Files.exists(directory.resolve("locus-inputs.bin")) || !Files.exists(directory.resolve("test"))) {
					continue;
				}
				String name = Files.readString(directory.resolve("test"));
				FutureTask<String> task = new FutureTask<>(() -> check.result(directory, name));
				Thread thread = new Thread(null, task, name, 8 << 20);
				thread.setDaemon(true);
				thread.start();
				String result;
				try {
					result = task.get(SECONDS_MAX, TimeUnit.SECONDS);
				} catch (TimeoutException e) {
					result = "it does not end";
				} catch (ExecutionException e) {
					result = reason(e.getCause());
				}
				results.write(i + "\t" + result + "\n");
				results.flush();
				if (!task.isDone()) {
					Runtime.getRuntime().halt(STUCK);
				}
			}
		}
		Runtime.getRuntime().halt(0);
	}

	/** The test runs as in JUnit: an instance for each recorded execution. */
	private String result(Path directory, String name) throws Exception {
		URL[] urls = new URL[path.size() + 1];
		urls[0] = directory.toUri().toURL();
		for (int i = 0; i < path.size(); i++) {
			urls[i + 1] = path.get(i);
		}
		try (URLClassLoader loader = new URLClassLoader(urls, LoopCheck.class.getClassLoader())) {
			Thread.currentThread().setContextClassLoader(loader);
			Class<?> inputs = loader.loadClass("locusbench.record.Inputs");
			int size = (int) inputs.getMethod("size").invoke(inputs.getMethod("load").invoke(null));
			Class<?> type = loader.loadClass(name);
			Constructor<?> constructor = type.getDeclaredConstructor();
			Method test = type.getDeclaredMethod("recordedInputsGiveRecordedOutputs", int.class);
			constructor.setAccessible(true);
			test.setAccessible(true);
			for (int i = 0; i < size; i++) {
				test.invoke(constructor.newInstance(), i);
			}
			return "pass";
		} catch (InvocationTargetException e) {
			return reason(e.getCause());
		}
	}

	private static String reason(Throwable failure) {
		boolean compared = failure instanceof AssertionError && String.valueOf(failure.getMessage()).contains("outputs");
		Throwable cause = failure;
		while (cause.getCause() != null) {
			cause = cause.getCause();
		}
		String text = compared ? failure.getMessage() : failure instanceof IllegalStateException ? failure.getMessage() : "throws " + cause;
		return text.split("\n")[0].replace('\t', ' ');
	}
}
