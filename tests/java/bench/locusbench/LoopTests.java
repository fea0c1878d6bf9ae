// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import locusbench.record.Recorders;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/**
 * Runs the tests of a library, whose classes record their loops: `LoopTests TESTS.jar DIRECTORY SECONDS SECONDS_OF_A_CLASS`.
 * Test classes that take longer are ended, and those that come too late are left out.
 */
final class LoopTests {
	private static final long GRACE_MS = 2000;

	private LoopTests() {
	}

	public static void main(String[] words) throws Exception {
		long end = System.nanoTime() + Long.parseLong(words[2]) * 1_000_000_000L;
		Runtime.getRuntime().addShutdownHook(new Thread(() -> write(Path.of(words[1])))); // also where a test ends the JVM
		Launcher launcher = LauncherFactory.create();
		long passed = 0;
		int classes = 0;
		int late = 0;
		try (ZipFile archive = new ZipFile(words[0])) {
			for (ZipEntry entry : Collections.list(archive.entries())) {
				String name = entry.getName().replaceFirst("\\.class$", "").replace('/', '.');
				if (!name.matches("(.*\\.)?(Test\\w+|\\w*Test)")) {
					continue;
				}
				classes++;
				if (System.nanoTime() > end) {
					late++;
					continue;
				}
				SummaryGeneratingListener listener = new SummaryGeneratingListener();
				Thread thread = new Thread(() -> launcher.execute(LauncherDiscoveryRequestBuilder.request()
						.selectors(DiscoverySelectors.selectClass(name)).build(), listener), name);
				thread.setDaemon(true);
				thread.start();
				thread.join(Long.parseLong(words[3]) * 1000);
				if (thread.isAlive()) {
					Recorders.abandoned = thread;
					thread.interrupt();
					thread.join(GRACE_MS);
					System.out.println("too long: " + name);
				}
				if (listener.getSummary() != null) {
					passed += listener.getSummary().getTestsSucceededCount();
				}
			}
		}
		System.out.println("classes of tests: " + classes + ", left out: " + late + "; tests passed: " + passed);
		System.exit(0); // whatever threads the tests left
	}

	private static void write(Path directory) {
		try {
			Recorders.write(directory);
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}
}
