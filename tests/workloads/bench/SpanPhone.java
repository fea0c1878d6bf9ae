import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Finds the words that a telephone number spells on a keypad, by streams inside streams: each recursion
 * flattens one stream for every split of what is left. Arguments: thousands of numbers. Prints one line of JSON as
 * SpanTiny does.
 */
public class SpanPhone {
	static final ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
	static final String[] KEYS = { "", "", "ABC", "DEF", "GHI", "JKL", "MNO", "PQRS", "TUV", "WXYZ" };

	final Map<Character, Character> digits = IntStream.range(2, 10).boxed()
			.flatMap(d -> KEYS[d].chars().mapToObj(c -> Map.entry((char) c, Character.forDigit(d, 10))))
			.collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
	final Map<String, List<String>> words;

	SpanPhone(List<String> dictionary) {
		words = dictionary.stream().collect(Collectors.groupingBy(this::number));
	}

	String number(String word) {
		return word.chars().mapToObj(c -> String.valueOf(digits.get((char) c))).collect(Collectors.joining());
	}

	Set<List<String>> encode(String number) {
		if (number.isEmpty())
			return Collections.singleton(Collections.emptyList());
		return IntStream.rangeClosed(1, number.length()).boxed()
				.flatMap(n -> words.getOrDefault(number.substring(0, n), Collections.emptyList()).stream()
						.flatMap(word -> encode(number.substring(n)).stream()
								.map(rest -> Stream.concat(Stream.of(word), rest.stream()).collect(Collectors.toList()))))
				.collect(Collectors.toSet());
	}

	static List<String> dictionary() {
		SplittableRandom random = new SplittableRandom(11);
		return IntStream.range(0, 3000).mapToObj(i -> random.ints(random.nextInt(1, 6), 'A', 'Z' + 1)
				.mapToObj(c -> String.valueOf((char) c)).collect(Collectors.joining())).distinct()
				.collect(Collectors.toList());
	}

	long run(int numbers, int seed) {
		SplittableRandom random = new SplittableRandom(seed);
		String[] list = new String[numbers];
		Arrays.setAll(list, i -> random.ints(6, 2, 10).mapToObj(Integer::toString).collect(Collectors.joining()));
		return Arrays.stream(list).mapToLong(n -> encode(n).stream().mapToLong(List::size).sum()).sum();
	}

	public static void main(String[] args) {
		int part = Math.max(1, (int) (Double.parseDouble(args[0]) * 50));
		long sum = 0, before = bean.getCurrentThreadCpuTime();
		SpanPhone phone = new SpanPhone(dictionary());
		for (int i = 0; i < 10; i++)
			sum += phone.run(part, i);
		long start = System.nanoTime(), between = bean.getCurrentThreadCpuTime();
		long bytes = bean.getCurrentThreadAllocatedBytes();
		for (int i = 0; i < 10; i++)
			sum += phone.run(part, i + 10);
		bytes = bean.getCurrentThreadAllocatedBytes() - bytes;
		long nanoseconds = System.nanoTime() - start, after = bean.getCurrentThreadCpuTime();
		System.out.println("{\"nanoseconds\": " + nanoseconds + ", \"cpu\": " + (after - between) + ", \"total_cpu\": "
				+ (after - before) + ", \"bytes\": " + bytes + ", \"sum\": " + sum + "}");
	}
}
