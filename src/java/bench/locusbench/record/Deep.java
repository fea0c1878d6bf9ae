// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs what needs a stack of unusual size, on a thread of its own.
 *
 * The thread that waits may hold monitors of the program that this thread asks for: hence the limit in time.
 */
final class Deep {
	/** The thread did not end in time; it may still run. */
	static final class Late extends Exception {
		private static final long serialVersionUID = 1;

		Late(long seconds) {
			super("it was not done after " + seconds + " s", null, false, false);
		}
	}

	private static final long STACK_BYTES = 512L << 20; // of addresses; of memory what is used
	private static final String NAME = "locus-bench";

	private Deep() {
	}

	/** Is this thread one of those that run() starts? */
	static boolean isHere() {
		return Thread.currentThread().getName().equals(NAME);
	}

	static <T> T run(Callable<T> task, long seconds) throws Exception {
		FutureTask<T> future = new FutureTask<>(task);
		Thread thread = new Thread(null, future, NAME, STACK_BYTES);
		thread.setDaemon(true);
		thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
		thread.start();
		long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
		boolean interrupted = false;
		try {
			while (true) {
				try {
					return future.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
				} catch (InterruptedException e) {
					interrupted = true; // which is meant for the program
				}
			}
		} catch (TimeoutException e) {
			throw new Late(seconds);
		} catch (ExecutionException e) {
			if (e.getCause() instanceof Exception) {
				throw (Exception) e.getCause();
			}
			throw e;
		} finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}
}
