/* Main - finds all ways to spell telephone numbers with words, by streams. Arguments: words, numbers, "parallel" or not. */

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

public class Main {
	private static final String KEYS = "22233344455566677778889999"; // of the letters A to Z

	private final boolean parallel;
	private final List<String> words;

	Main(List<String> words, boolean parallel) {
		this.parallel = parallel;
		this.words = words;
	}

	private <T> Stream<T> stream(Collection<T> elements) {
		return parallel ? elements.parallelStream() : elements.stream();
	}

	private static String number(String word) {
		return word.chars().mapToObj(letter -> KEYS.substring(letter - 'A', letter - 'A' + 1)).collect(Collectors.joining());
	}

	private Map<String, List<String>> wordsByNumber() {
		return stream(words).collect(Collectors.groupingBy(Main::number));
	}

	Set<List<String>> spell(String number) {
		if (number.isEmpty())
			return Set.of(List.of());
		return stream(IntStream.rangeClosed(1, number.length()).boxed().toList())
				.flatMap(length -> spell(number.substring(0, length), number.substring(length)))
				.collect(Collectors.toSet());
	}

	private Stream<List<String>> spell(String first, String rest) {
		List<String> known = wordsByNumber().getOrDefault(first, List.of());
		return known.isEmpty() ? Stream.empty() : stream(spell(rest)).flatMap(end -> known.stream().map(word -> join(word, end)));
	}

	private static List<String> join(String word, List<String> end) {
		List<String> all = new ArrayList<>(List.of(word));
		all.addAll(end);
		return all;
	}

	private static List<String> dictionary(int words, SplittableRandom random) {
		return IntStream.range(0, words).mapToObj(i -> random.ints(2 + random.nextInt(4), 'A', 'Z' + 1)
				.collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString())
				.distinct().toList();
	}

	public static void main(String[] arguments) {
		SplittableRandom random = new SplittableRandom(7);
		Main coder = new Main(dictionary(Integer.parseInt(arguments[0]), random), arguments[2].equals("parallel"));
		long total = 0;
		for (int number = Integer.parseInt(arguments[1]); number > 0; number--) {
			Set<List<String>> found = coder.spell(Long.toString(random.nextLong(22_222_222, 99_999_999)).replaceAll("[01]", "2"));
			total = total * 31 + found.size() + found.hashCode();
		}
		System.out.println("result: " + total);
	}
}
