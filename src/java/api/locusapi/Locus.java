// SPDX-License-Identifier: Apache-2.0
package locusapi;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URISyntaxException;
import java.security.CodeSource;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Begins and ends recordings of the JVM that it is called in, marks points in time in them, and names the requests that threads work
 * for.
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
	/* How long context() believes that there is no agent: asking the JVM in vain takes tens of microseconds. */
	private static final long ABSENT_NS = 1_000_000_000L;

	private static volatile boolean absent;
	private static volatile long absentSince; // System.nanoTime()

	private Locus() {
	}

	/**
	 * Begins a recording. Code that runs after this returns is recorded; classes that are loaded already get their hooks in batches
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
	 * Names the kind of request that the current thread works for, until the result is closed: samples and allocations of the
	 * thread count for this context. A context in a context ends with the inner one, and what the outer one has left counts for it
	 * again. Contexts of virtual threads move with them. Threads that this one starts, or hands tasks to, are in no context, unless
	 * {@link #wrap(Runnable)} hands it on.
	 *
	 * <pre>{@code
	 * try (Locus.Context c = Locus.context("GET /cart")) {
	 *     ...
	 * }
	 * }</pre>
	 *
	 * @param name of a kind of request, not of one request: a recording has room for 1,000 names, and further ones are one,
	 *        "(other)". It is cut beyond 120 bytes in UTF-8.
	 * @return the context; one that does nothing without a recording. If an agent was attached from outside, without
	 *         {@link #start}, contexts may begin a second later.
	 */
	public static Context context(String name) {
		if (name == null)
			throw new IllegalArgumentException("name: null");
		if (absent && System.nanoTime() - absentSince < ABSENT_NS || !records())
			return Context.NONE;
		return Context.enter(name);
	}

	/**
	 * Hands the current thread's context on: the result runs {@code task} in it, on any thread and any number of times, each time
	 * until the task returns or throws.
	 *
	 * <pre>{@code
	 * executor.execute(Locus.wrap(() -> charge(order)));
	 * new Thread(Locus.wrap(this::mail)).start();
	 * }</pre>
	 *
	 * @return {@code task} itself if this thread is in no context
	 */
	@SuppressWarnings("try")
	public static Runnable wrap(Runnable task) {
		String name = handedOn(task);
		return name == null ? task : () -> {
			try (Context c = context(name)) {
				task.run();
			}
		};
	}

	/** Hands the current thread's context on with a task that has a result, see {@link #wrap(Runnable)}. */
	@SuppressWarnings("try")
	public static <T> Callable<T> wrap(Callable<T> task) {
		String name = handedOn(task);
		return name == null ? task : () -> {
			try (Context c = context(name)) {
				return task.call();
			}
		};
	}

	/**
	 * Hands on the context of each thread that gives the executor a task, see {@link #wrap(Runnable)}: for instance those of
	 * {@code CompletableFuture.supplyAsync(task, Locus.wrap(executor))}.
	 */
	public static Executor wrap(Executor executor) {
		if (executor == null)
			throw new IllegalArgumentException("executor: null");
		return task -> executor.execute(wrap(task));
	}

	/* The name of the current thread's context; null: it is in none. */
	private static String handedOn(Object task) {
		if (task == null)
			throw new IllegalArgumentException("task: null");
		Context c = Context.INNERMOST.get();
		return c == null ? null : c.name;
	}

	/** Remembers where there is no agent. */
	private static boolean records() {
		try {
			boolean records = recording0();
			absent = false;
			return records;
		} catch (UnsatisfiedLinkError noAgent) {
			absentSince = System.nanoTime();
			absent = true;
			return false;
		}
	}

	/** A context that a thread is in, see {@link Locus#context}. */
	public static final class Context implements AutoCloseable {
		private static final Context NONE = new Context(null, null, 0, null);
		private static final Class<?> VIRTUAL = virtualThread();
		private static final ThreadLocal<Context> INNERMOST = new ThreadLocal<>();

		private final String name; // for threads that it is handed on to
		private final Thread thread;
		private final long virtual; // ID of a virtual thread, else 0
		private final Context outer; // what was the thread's innermost context
		private long number; // of the agent
		private boolean closed;

		private Context(String name, Thread thread, long virtual, Context outer) {
			this.name = name;
			this.thread = thread;
			this.virtual = virtual;
			this.outer = outer;
		}

		private static Class<?> virtualThread() {
			try {
				return Class.forName("java.lang.VirtualThread");
			} catch (ClassNotFoundException beforeJava21) {
				return null;
			}
		}

		/* Allocates the object first, so that the allocation is not in the new context. */
		private static Context enter(String name) {
			Thread thread = Thread.currentThread();
			Context c = new Context(name, thread, VIRTUAL != null && VIRTUAL.isInstance(thread) ? thread.getId() : 0, INNERMOST.get());
			INNERMOST.set(c);
			c.number = enter0(name, c.virtual);
			if (c.number != 0)
				return c;
			restore(c.outer);
			return NONE;
		}

		private static void restore(Context c) {
			if (c == null)
				INNERMOST.remove();
			else
				INNERMOST.set(c);
		}

		/**
		 * Ends the context: its thread returns to the context that it was in before. If a context inside this one is still open,
		 * the thread returns when that one is closed. On another thread, or a second time, this does nothing.
		 */
		@Override
		public void close() {
			if (closed || Thread.currentThread() != thread)
				return;
			closed = true;
			if (INNERMOST.get() != this)
				return;
			Context open = outer;
			while (open != null && open.closed)
				open = open.outer;
			leave0(open == null ? 0 : open.number, virtual);
			restore(open);
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

	/* Natives of the agent (src/agent/agent_api.c, requests.c): the JVM finds them in the libraries of agents that it has loaded. */

	private static native boolean recording0();

	/* The current thread is in the context of that name. A number for leave0(), or 0: it stays where it is. */
	private static native long enter0(String name, long virtual);

	/* The current thread is in the context of that number; 0: in none. */
	private static native void leave0(long number, long virtual);

	private static native boolean mark0(String name);

	/* The agent's answer in lines, the last of which is "ok" or "failed"; null without memory or a descriptor. */
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
		absent = false;
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
