/* BenchLoop CPU_SECONDS: nearly all of its time is at one line, which walks through an array. Prints a sum. */
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

public final class BenchLoop {
	static final long[] NUMBERS = new long[1 << 22];

	static long sum(int factor) {
		long sum = 0;
		for (int i = 0; i < NUMBERS.length; i += 8)
			sum += NUMBERS[i] * factor; // hot: sum
		return sum;
	}

	public static void main(String[] args) {
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();
		long end = Long.parseLong(args[0]) * 1_000_000_000L, all = 0;
		for (int i = 0; threads.getCurrentThreadCpuTime() < end; i++)
			all += sum(i);
		System.out.println(all);
	}
}
