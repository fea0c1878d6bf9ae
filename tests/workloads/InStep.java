import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/*
 * Is in step with the kernel's tick: it reads one array at the start of each period of the clock
 * that ticks go by, and another one for the rest.
 *
 * Usage: InStep PERIOD_US SECONDS EIGHTH...
 *
 * The clock is System.nanoTime(), whose multiples of the kernel's tick are ticks. In a period that
 * is a multiple or a part of the tick's, whatever looks at a thread with the tick only finds it
 * always in the same place. For each EIGHTH, a thread runs for SECONDS of CPU time; its periods
 * begin so many eighths of a period behind the multiples. It reads the first array for 80% of a
 * period. Before, it reads a third array until it is no longer sampled as a thread that may end
 * soon is. Prints one line of JSON with, for each EIGHTH, the CPU nanoseconds of either array by
 * the thread's own clock.
 */
public final class InStep {
	static final int INTS = 1 << 20, STEPS = 100;
	static final long YOUNG_NS = 200_000_000L;
	static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
	static volatile long sink;

	static int[] newLong() { return new int[INTS]; }
	static int[] newShort() { return new int[INTS]; }

	static long cpu() { return THREADS.getCurrentThreadCpuTime(); }

	/* Random reads; each waits for the one before, so the time is the array's. */
	static int walk(int[] a, int at) {
		for (int i = 0; i < STEPS; i++)
			at = a[(at * 1664525 + 1013904223) >>> 12] ^ at * 69069 + i;
		return at;
	}

	/* Read until the clock says so. */
	static int readUntil(int[] a, int at, long endNs) {
		while (System.nanoTime() < endNs)
			at = walk(a, at);
		return at;
	}

	static long[] run(int[] first, int[] rest, long periodNs, long phaseNs, long cpuNs) {
		long[] used = new long[2];
		int[] third = new int[INTS];
		int at = 1;
		while (cpu() < YOUNG_NS)
			at = walk(third, at);
		for (long before = cpu(); used[0] + used[1] < cpuNs;) {
			long now = System.nanoTime();
			long begin = now - Math.floorMod(now - phaseNs, periodNs);
			at = readUntil(first, at, begin + periodNs * 8 / 10);
			long middle = cpu();
			at = readUntil(rest, at, begin + periodNs);
			long end = cpu();
			used[0] += middle - before;
			used[1] += end - middle;
			before = end;
		}
		sink = at;
		return used;
	}

	public static void main(String[] args) throws Exception {
		long periodNs = Long.parseLong(args[0]) * 1000;
		long cpuNs = (long) (Double.parseDouble(args[1]) * 1e9);
		StringBuilder out = new StringBuilder("{\"phases\":[");

		for (int i = 2; i < args.length; i++) {
			long phaseNs = Long.parseLong(args[i]) * periodNs / 8;
			Thread t = new Thread(() -> {
				long[] used = run(newLong(), newShort(), periodNs, phaseNs, cpuNs);
				synchronized (out) {
					out.append("{\"long_ns\":" + used[0] + ",\"short_ns\":" + used[1] + "}");
				}
			}, "phase-" + args[i]);
			t.start();
			t.join();
			out.append(i + 1 < args.length ? "," : "]}");
		}
		System.out.println(out);
	}
}
