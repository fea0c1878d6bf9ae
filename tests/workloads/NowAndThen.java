/*
 * Works for a part of each second, and sleeps for the rest.
 *
 * Usage: NowAndThen SECONDS WORK_MS
 */
public final class NowAndThen {
	static volatile long result;
	static final long[] VALUES = new long[1 << 20];

	static void work(long cpuNs) {
		java.lang.management.ThreadMXBean clock = java.lang.management.ManagementFactory.getThreadMXBean();
		long end = clock.getCurrentThreadCpuTime() + cpuNs, sum = 0;
		for (int i = 0; clock.getCurrentThreadCpuTime() < end; i += 10_000)
			for (int k = i; k < i + 10_000; k++)
				sum += VALUES[k * 31 & VALUES.length - 1]++;
		result = sum;
	}

	public static void main(String[] args) throws InterruptedException {
		int seconds = Integer.parseInt(args[0]);
		long workMs = Long.parseLong(args[1]);
		for (int i = 0; i < seconds; i++) {
			if (workMs > 0)
				work(workMs * 1_000_000);
			Thread.sleep(1000 - workMs);
		}
	}
}
