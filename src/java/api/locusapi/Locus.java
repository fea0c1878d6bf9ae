// SPDX-License-Identifier: Apache-2.0
package locusapi;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URISyntaxException;
import java.security.CodeSource;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Begins and ends recordings of the JVM that it is called in, and marks points in time in them.
 *
 * <p>The agent may have been loaded with {@code -agentpath}, by {@code locus run}, by {@code locus attach}, or not at all. In the
 * last case {@link #start} has the JVM load it: {@code liblocus.so}, whose path the system property {@code locus.library} names,
 * or which is beside this class's jar, or in it ({@code locus-loader.jar}). JDK 21 and newer print a warning then, and refuse with
 * {@code -XX:-EnableDynamicAgentLoading}.
 *
 * <p>All but {@link #start} may stay in a program that nobody records: they return {@code false} then, and never fail for the want
 * of the agent. There is one recording at a time; whoever began it, these methods act on it. All are safe to be called by several
 * threads.
 */
public final class Locus {
	private static final String INTO = "recording into ";

	private Locus() {
	}

	/**
	 * Begins a recording. What runs when this returns is recorded; classes that are loaded already get their hooks in batches
	 * meanwhile.
	 *
	 * @param options as those of {@code -agentpath}: {@code NAME=VALUE} with commas between them, such as
	 *        {@code "output=/tmp/profile,interval=1ms"} ({@code locus agent-args} prints them); empty for the defaults
	 * @return the directory of the profile
	 * @throws IllegalStateException when no recording could be begun: the message says why. The program runs on as before.
	 */
	public static synchronized String start(String options) {
		if (options == null)
			throw new IllegalArgumentException("options: null");
		load();
		for (String line : ask("attach", options).split("\n"))
			if (line.startsWith(INTO))
				return line.substring(INTO.length());
		return "";
	}

	/**
	 * Ends the recording: the profile is whole when this returns, and no hook is left.
	 *
	 * @return whether there was a recording
	 * @throws IllegalStateException when the profile could not be written: the message says why
	 */
	public static synchronized boolean stop() {
		if (!isRecording())
			return false;
		ask("detach", "");
		return true;
	}

	/**
	 * Writes what was recorded so far, so that it can be read. The recording goes on.
	 *
	 * @return whether there is a recording
	 * @throws IllegalStateException when it could not be written: the message says why
	 */
	public static synchronized boolean dump() {
		if (!isRecording())
			return false;
		ask("dump", "");
		return true;
	}

	/**
	 * Puts a point in time into the profile, with a name that reports show, and divides there what is counted. Returns when that is done:
	 * after a third of a millisecond as a rule, after a second at the latest.
	 *
	 * @param name of at most 120 bytes in UTF-8, beyond which it is cut
	 * @return whether it is in the profile: there is a recording, and it has fewer than 500 marks
	 */
	public static boolean mark(String name) {
		if (name == null)
			throw new IllegalArgumentException("name: null");
		try {
			return mark0(name);
		} catch (UnsatisfiedLinkError noAgent) {
			return false;
		}
	}

	/**
	 * Tells whether a recording runs in this JVM.
	 *
	 * @return whether one has begun and not ended
	 */
	public static boolean isRecording() {
		try {
			return recording0();
		} catch (UnsatisfiedLinkError noAgent) {
			return false;
		}
	}

	/* Natives of the agent (src/agent/agent_api.c): the JVM finds them in the libraries of agents that it has loaded. */

	private static native boolean recording0();

	private static native boolean mark0(String name);

	/* What the agent has to say, a line each, the last of which is "ok" or "failed"; null without memory or a descriptor. */
	private static native String ask0(String command, String options);

	private static String ask(String command, String options) {
		String answer = ask0(command, options);
		if (answer == null)
			throw new IllegalStateException("locus: no memory, or no file descriptor");
		if (answer.endsWith("ok\n"))
			return answer;
		answer = answer.trim();
		if (answer.endsWith("failed"))
			answer = answer.substring(0, answer.length() - "failed".length()).trim();
		throw new IllegalStateException("locus: " + (answer.isEmpty() ? command + " failed" : answer));
	}

	private static boolean isLoaded() {
		try {
			recording0();
			return true;
		} catch (UnsatisfiedLinkError noAgent) {
			return false;
		}
	}

	private static File library() {
		String named = System.getProperty("locus.library");
		if (named != null)
			return new File(named);
		CodeSource source = Locus.class.getProtectionDomain().getCodeSource();
		try {
			File beside = source == null ? null : new File(new File(source.getLocation().toURI()).getParentFile(), "liblocus.so");
			File carried = beside != null && beside.isFile() ? null : Loader.library();
			return carried == null ? beside : carried;
		} catch (URISyntaxException | IllegalArgumentException notAFile) {
			return null;
		} catch (IOException refused) {
			throw new IllegalStateException("locus: " + refused.getMessage(), refused);
		}
	}

	/* The JVM loads an agent into itself when its own diagnostic command asks for it: then, as by locus attach, natives of all class
	 * loaders are found in it. System.load() would show it to this class's loader alone. */
	private static void load() {
		if (isLoaded())
			return;
		File library = library();
		if (library == null || !library.isFile())
			throw new IllegalStateException("locus: the agent is not loaded, and there is no " + (library == null ? "liblocus.so" : library)
				+ "; its path is the system property locus.library");
		String answer;
		try {
			String[] words = {"\"" + library.getAbsolutePath() + "\"", "@load"};
			answer = String.valueOf(ManagementFactory.getPlatformMBeanServer().invoke(
				new ObjectName("com.sun.management:type=DiagnosticCommand"), "jvmtiAgentLoad", new Object[] {words},
				new String[] {String[].class.getName()}));
		} catch (JMException | RuntimeException | LinkageError refused) {
			throw new IllegalStateException("locus: this JVM does not load " + library + ": " + refused, refused);
		}
		if (!isLoaded())
			throw new IllegalStateException("locus: this JVM does not load " + library + ": " + answer.trim());
	}
}
