import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/*
 * Runs loops in which the load has a line of its own, so that an access path must name it.
 *
 * Usage: LoadLine CPU_SECONDS
 *
 * Each walk misses the cache: the wait is for the load, and a profiler that names the sampled
 * instruction instead of the one before it blames the next line.
 */
public final class LoadLine {
	static final int SIZE = 8 << 20;
	static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
	static volatile long sink;

	static int[] newGather() { return new int[SIZE]; }
	static long[] newScatter() { return new long[SIZE / 2]; }

	static int gather(int[] a, int x, int steps) {
		int mask = a.length - 1;
		int sum = 0;
		for (int i = 0; i < steps; i++) {
			x = x * 1664525 + 1013904223;
			int index = (x ^ sum & 1) >>> 7 & mask;
			int value = a[index]; // line: gather-load
			int mixed = value * 31 ^ x;
			int folded = mixed >>> 16 ^ mixed;
			sum += folded;
		}
		return x + (sum & 1);
	}

	static long scatter(long[] a, long x, int steps) {
		int mask = a.length - 1;
		for (int i = 0; i < steps; i++) {
			x = x * 6364136223846793005L + 1442695040888963407L;
			int index = (int) (x >>> 40) & mask;
			long old = a[index]; // line: scatter-load
			long fresh = old * 31 + i;
			x ^= fresh & 1;
		}
		return x;
	}

	static long cpu() { return THREADS.getCurrentThreadCpuTime(); }

	public static void main(String[] args) {
		long half = (long) (Double.parseDouble(args[0]) * 5e8);
		int[] g = newGather();
		long[] s = newScatter();
		int x = 1;
		long y = 1;
		for (long end = cpu() + half; cpu() < end; )
			x = gather(g, x, 20_000);
		for (long end = cpu() + half; cpu() < end; )
			y = scatter(s, y, 20_000);
		sink = x + y;
		System.out.println("done");
	}
}
