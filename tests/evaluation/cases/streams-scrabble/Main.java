/* Main - finds the words that score most at a game of letters, by streams. Arguments: words, rounds. */

import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

public class Main {
	private static final int[] POINTS = {1, 3, 3, 2, 1, 4, 2, 4, 1, 8, 5, 1, 3, 1, 1, 3, 10, 1, 1, 1, 1, 4, 4, 8, 4, 10};
	private static final int[] TILES = {9, 2, 2, 1, 12, 2, 3, 2, 9, 1, 1, 4, 2, 6, 8, 2, 1, 6, 4, 6, 4, 2, 2, 1, 2, 1};
	private static final int BLANKS = 2, FULL = 7;

	private static Map<Integer, Long> letters(String word) {
		return word.chars().boxed().collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
	}

	private static long blanks(String word) {
		return letters(word).entrySet().stream()
				.mapToLong(entry -> Math.max(0, entry.getValue() - TILES[entry.getKey() - 'a']))
				.sum();
	}

	private static int points(String word) {
		return letters(word).entrySet().stream()
				.mapToInt(entry -> POINTS[entry.getKey() - 'a'] * Math.min(entry.getValue().intValue(), TILES[entry.getKey() - 'a']))
				.sum();
	}

	private static int bonus(String word) {
		return Stream.of(word.chars().limit(3), word.chars().skip(Math.max(0, word.length() - 3)))
				.flatMapToInt(Function.identity())
				.map(letter -> POINTS[letter - 'a'])
				.max().orElse(0);
	}

	private static int score(String word) {
		return 2 * (points(word) + bonus(word)) + (word.length() >= FULL ? 50 : 0);
	}

	private static Map<Integer, List<String>> best(List<String> words) {
		return words.stream().filter(word -> blanks(word) <= BLANKS)
				.collect(Collectors.groupingBy(Main::score));
	}

	public static void main(String[] arguments) {
		SplittableRandom random = new SplittableRandom(3);
		List<String> words = IntStream.range(0, Integer.parseInt(arguments[0]))
				.mapToObj(i -> random.ints(3 + random.nextInt(9), 'a', 'z' + 1)
						.collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString())
				.toList();
		long total = 0;
		for (int round = Integer.parseInt(arguments[1]); round > 0; round--)
			total = total * 31 + best(words).hashCode();
		System.out.println("result: " + total);
	}
}
