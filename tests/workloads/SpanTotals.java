// SPDX-License-Identifier: Apache-2.0

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/*
 * Streams and tasks with spans of known length inside: each part of the work uses some CPU time, as its
 * thread's clock says. Prints what was used where, in ns.
 */
public class SpanTotals {
	private static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
	private static volatile long sink;

	/* Use so much CPU time. Returns what was used. */
	static long burn(long ms) {
		long begin = threads.getCurrentThreadCpuTime(), used;
		do {
			for (int i = 0; i < 5000; i++)
				sink += i;
			used = threads.getCurrentThreadCpuTime() - begin;
		} while (used < ms * 1000000);
		return used;
	}

	/* Has the other worker begun? The first one waits for it without using CPU time. */
	private static volatile boolean begun;

	static boolean isFirst() {
		boolean first = Thread.currentThread().getName().equals("main");
		begun |= !first;
		for (int i = 0; first && !begun && i < 2000; i++)
			try {
				Thread.sleep(1);
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		return first;
	}

	/* One worker of two has most of the work, all of it in sequential streams inside. */
	static void shares() {
		long[] used = new long[2];
		for (int round = 0; round < 8; round++) {
			begun = false;
			IntStream.range(0, 32).parallel().forEach(i -> { // span: parallel
				boolean first = isFirst();
				long ns = IntStream.range(0, 1).mapToLong(k -> burn(first ? 12 : 1)).sum(); // span: inner
				synchronized (used) {
					used[first ? 0 : 1] += ns;
				}
			});
		}
		System.out.println("main " + used[0] + "\nother " + used[1]);
	}

	/* A line inside itself: its 5 levels have 10 ms each, and the innermost has a stream of 50 ms inside. */
	static long recursion(int levels) {
		return Stream.of(levels).mapToLong(n -> burn(10) + (n > 1 ? recursion(n - 1) : 0) + leaf(n)).sum(); // span: recursion
	}

	static long leaf(int n) {
		return n > 1 ? 0 : Stream.of(n).mapToLong(k -> burn(50)).sum(); // span: leaf
	}

	/* A task of 10 ms that executes two which nobody submitted, of 20 ms each. */
	static final class Composite implements Runnable {
		final List<Runnable> parts = new ArrayList<>();
		long used;

		@Override public void run() {
			used += burn(10);
			for (Runnable part : parts)
				part.run();
		}
	}

	static final class Part implements Runnable {
		final Composite whole;

		Part(Composite whole) { this.whole = whole; }
		@Override public void run() { whole.used += burn(20); }
	}

	static void composites() throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		List<Composite> all = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			Composite composite = new Composite(); // span: composite
			composite.parts.add(new Part(composite)); // span: part
			composite.parts.add(() -> composite.used += burn(20)); // span: other
			all.add(composite);
			if (i % 2 == 0)
				pool.execute(composite);
			else
				pool.submit(composite);
		}
		pool.shutdown();
		pool.awaitTermination(60, TimeUnit.SECONDS);
		System.out.println("composites " + all.stream().mapToLong(c -> c.used).sum());
	}

	public static void main(String[] args) throws Exception {
		shares();
		long used = 0;
		for (int i = 0; i < 4; i++)
			used += recursion(5);
		System.out.println("recursion " + used);
		composites();
	}
}
