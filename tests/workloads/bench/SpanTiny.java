import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Executes one tiny stream after the other inside a few large ones, so that all code runs in a stream.
 * Arguments: kind of query, elements, millions of streams. Prints one line of JSON: nanoseconds of the
 * second half of them, the thread's CPU time for it and for all, and the bytes that half has allocated.
 */
public class SpanTiny {
	static final ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();

	static IntToLongFunction query(String kind, int n) {
		int[] values = new int[n];
		List<Integer> list = new ArrayList<>();
		List<String> words = new ArrayList<>();
		for (int i = 0; i < n; i++) {
			values[i] = i * 7919;
			list.add(i * 7919);
			words.add(Integer.toString(i * 7919, 36));
		}
		switch (kind) {
		case "sum":
			return i -> Arrays.stream(values).map(v -> v * 31 ^ i).filter(v -> (v & 3) != 1).sum();
		case "boxed":
			return i -> list.stream().map(v -> v * 31 ^ i).filter(v -> (v & 3) != 1).reduce(0, Integer::sum);
		case "collect":
			return i -> list.stream().map(v -> v + i).collect(Collectors.toList()).size();
		case "words":
			return i -> words.stream().filter(w -> w.length() > (i & 3)).mapToInt(String::length).max().orElse(0);
		case "match":
			return i -> IntStream.range(0, n).anyMatch(v -> values[v] == i) ? 1 : 0;
		case "count":
			return i -> list.stream().filter(v -> (v & 3) != (i & 3)).count();
		case "flat":
			return i -> list.stream().flatMap(v -> list.stream().filter(w -> w > v)).mapToLong(v -> v ^ i).sum();
		case "sorted":
			return i -> list.stream().map(v -> v ^ i).sorted().mapToInt(v -> v).limit(3).sum();
		case "join":
			return i -> words.stream().map(w -> w.substring(i & 1)).collect(Collectors.joining(",")).length();
		default:
			throw new IllegalArgumentException(kind);
		}
	}

	static long run(IntToLongFunction query, int streams) {
		return IntStream.range(0, streams).mapToLong(query::applyAsLong).sum();
	}

	public static void main(String[] args) {
		IntToLongFunction query = query(args[0], Integer.parseInt(args[1]));
		int part = (int) (Double.parseDouble(args[2]) * 50_000);
		long sum = 0, before = bean.getCurrentThreadCpuTime();
		for (int i = 0; i < 10; i++)
			sum += run(query, part);
		long start = System.nanoTime(), between = bean.getCurrentThreadCpuTime();
		long bytes = bean.getCurrentThreadAllocatedBytes();
		for (int i = 0; i < 10; i++)
			sum += run(query, part);
		bytes = bean.getCurrentThreadAllocatedBytes() - bytes;
		long nanoseconds = System.nanoTime() - start, after = bean.getCurrentThreadCpuTime();
		System.out.println("{\"nanoseconds\": " + nanoseconds + ", \"cpu\": " + (after - between) + ", \"total_cpu\": "
				+ (after - before) + ", \"streams\": " + part * 20L + ", \"bytes\": " + bytes + ", \"sum\": " + sum + "}");
	}
}
