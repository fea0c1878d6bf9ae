import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Executes one small stream after the other inside a few large ones, so that all code runs in a stream.
 * Arguments: millions of streams, elements. Prints one line of JSON: nanoseconds of the second half of them, and the thread's
 * CPU time for it and for all.
 */
public class SpanSmall {
	static long cpu() {
		return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
	}

	static long run(int[] values, int streams) {
		return IntStream.range(0, streams).mapToLong(i -> Arrays.stream(values).map(v -> v * 31 ^ v >>> 3)
				.filter(v -> (v & 3) != 1).asLongStream().sum()).sum();
	}

	public static void main(String[] args) {
		int half = (int) (Double.parseDouble(args[0]) * 500_000);
		int[] values = new int[Integer.parseInt(args[1])];
		for (int i = 0; i < values.length; i++)
			values[i] = i * 7919;
		long sum = 0, before = cpu();
		for (int i = 0; i < 10; i++)
			sum += run(values, half / 10);
		long start = System.nanoTime(), between = cpu();
		for (int i = 0; i < 10; i++)
			sum += run(values, half / 10);
		long nanoseconds = System.nanoTime() - start, after = cpu();
		System.out.println("{\"nanoseconds\": " + nanoseconds + ", \"cpu\": " + (after - between) + ", \"total_cpu\": "
				+ (after - before) + ", \"streams\": " + half / 10 * 20 + ", \"sum\": " + sum + "}");
	}
}
