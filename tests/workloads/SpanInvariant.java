import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * An encoder of telephone numbers as words, with recursive streams, of which one computes the same for each
 * number and each part of it ("slow"), or once for all ("fast"); and streams whose results are not the same
 * ("varying"), though much of them is.
 */
public class SpanInvariant {
	static final String[] KEYS = { "", "", "ABC", "DEF", "GHI", "JKL", "MNO", "PQRS", "TUV", "WXYZ" };
	static long sink;

	static final class Coder {
		final List<String> words;
		final Map<Character, Character> digits = new HashMap<>();
		final Map<String, List<String>> known;

		Coder(List<String> words, boolean once) {
			this.words = words;
			for (int i = 0; i < KEYS.length; i++)
				for (char letter : KEYS[i].toCharArray())
					digits.put(letter, (char) ('0' + i));
			known = once ? wordsForNum() : null;
		}

		String number(String word) {
			StringBuilder out = new StringBuilder();
			for (int i = 0; i < word.length(); i++)
				out.append(digits.get(word.charAt(i)));
			return out.toString();
		}

		Map<String, List<String>> wordsForNum() {
			return words.stream()
					.collect(Collectors.groupingBy(this::number)); // invariant: wordsForNum
		}

		Set<List<String>> encode(String number) {
			if (number.isEmpty())
				return Set.of(List.of());
			Map<String, List<String>> known = this.known != null ? this.known : wordsForNum();
			return IntStream.rangeClosed(1, number.length()).boxed()
					.flatMap(split -> known.getOrDefault(number.substring(0, split), List.of()).stream()
							.flatMap(word -> encode(number.substring(split)).stream().map(rest -> {
								List<String> all = new ArrayList<>(rest);
								all.add(0, word);
								return all;
							})))
					.collect(Collectors.toSet()); // invariant: encode
		}
	}

	static List<String> dictionary(int n) {
		List<String> words = new ArrayList<>();
		long seed = 42;
		for (int i = 0; i < n; i++) {
			StringBuilder word = new StringBuilder();
			seed = seed * 6364136223846793005L + 1442695040888963407L;
			int length = 2 + (int) (seed >>> 60) % 4;
			for (int k = 0; k < length; k++) {
				seed = seed * 6364136223846793005L + 1442695040888963407L;
				word.append((char) ('A' + (seed >>> 33) % 26));
			}
			words.add(word.toString());
		}
		return words;
	}

	static void encodeAll(int numbers, boolean once) {
		Coder coder = new Coder(dictionary(600), once);
		long seed = 7;
		for (int i = 0; i < numbers; i++) {
			StringBuilder number = new StringBuilder();
			for (int k = 0; k < 7; k++) {
				seed = seed * 6364136223846793005L + 1442695040888963407L;
				number.append((char) ('2' + (seed >>> 33) % 8));
			}
			sink += coder.encode(number.toString()).size();
		}
	}

	static final class Box {
		final List<Integer> all = dictionary(300).stream().map(String::hashCode).collect(Collectors.toList());
		int value;
	}

	/** The same list each time: its size stays, what it holds changes, or what is asked of it. */
	static void varying(int rounds) {
		List<Integer> list = new ArrayList<>(IntStream.range(0, 300).boxed().collect(Collectors.toList()));
		List<Object> objects = Arrays.asList(new Object[300]);
		int[] array = new int[300];
		List<Integer> two = new ArrayList<>(list);
		List<int[]> cells = IntStream.range(0, 300).mapToObj(n -> new int[] { n + 1000 }).collect(Collectors.toList());
		Box box = new Box();
		for (int i = 0; i < rounds; i++) {
			list.set(i % 300, i + 1000);
			array[i % 300] = i * 1000;
			int limit = i + 1000;
			sink += list.stream().map(n -> n + 1).collect(Collectors.toList()).size(); // invariant: content
			sink += list.stream().mapToInt(n -> n).map(n -> n * 3).sum(); // invariant: sum
			sink += Arrays.stream(array).filter(n -> n >= 0).map(n -> n / 7).max().getAsInt(); // invariant: array
			two.set(7, i & 1);
			sink += two.stream().map(n -> n * 5).collect(Collectors.toList()).size(); // invariant: twofold
			cells.get(i % 300)[0]++;
			sink += cells.stream().mapToInt(c -> c[0]).map(n -> n * 3).sum() + 1000; // invariant: cells
			box.value = i;
			sink += box.all.stream().map(n -> n + box.value).reduce(0, Integer::sum); // invariant: field
			/* A few values each, equal most of the time. */
			sink += list.stream().map(n -> n * 31).anyMatch(n -> n == -limit) ? 1 : 0; // invariant: few
			sink += IntStream.range(0, 300).filter(n -> n == limit % 300).map(n -> n / 299).sum(); // invariant: zero
			/* Captured: the source is the same, the results are not. */
			sink += IntStream.range(0, 300).mapToObj(n -> n + limit).collect(Collectors.toList()).size(); // invariant: captured
			/* New objects, of which it cannot be told whether they are equal. */
			sink += IntStream.range(0, 300).mapToObj(n -> new int[] { n }.length + new Object().hashCode())
					.collect(Collectors.toSet()).size(); // invariant: objects
			objects.stream().map(o -> limit).forEach(n -> sink += n); // invariant: none
		}
	}

	public static void main(String[] args) {
		int n = Integer.parseInt(args[1]);
		long start = ProcessHandle.current().info().totalCpuDuration().get().toMillis();
		if (args[0].equals("varying"))
			varying(n);
		else
			encodeAll(n, args[0].equals("fast"));
		long end = ProcessHandle.current().info().totalCpuDuration().get().toMillis();
		System.out.println("{\"sink\": " + sink + ", \"cpu_ms\": " + (end - start) + "}");
	}
}
