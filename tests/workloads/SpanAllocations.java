import java.lang.management.ManagementFactory;
import java.util.stream.IntStream;

/**
 * Allocates small objects in a stream, and in a stream inside it. Prints the CPU time of the thread for it in
 * nanoseconds. Usage: SpanAllocations THOUSANDS
 */
public class SpanAllocations {
	static Object kept;

	static int allocate(int n, int depth) {
		if (depth > 0)
			return allocate(n, depth - 1);
		for (int i = 0; i < n; i++)
			kept = new int[] { i, n };
		return n;
	}

	static long run(int thousands) {
		return IntStream.range(0, thousands)
				.mapToLong(i -> allocate(500, 20) + IntStream.range(0, 5).map(j -> allocate(100, 20)).sum()).sum();
	}

	public static void main(String[] args) {
		long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
		long sum = run(Integer.parseInt(args[0]));
		System.out.println(sum + " " + (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before));
	}
}
