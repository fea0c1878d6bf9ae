import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Streams that the library executes inside others: functions that make them are on lines of their own. Each
 * line with a marker executes the streams that test_spans_streams.py says, once for each round.
 */
public class SpanFlat {
	static long sink;
	static final List<Integer> FIVE = new ArrayList<>(List.of(1, 2, 3, 4, 5));

	/** One line executes what two callers' functions make. */
	static <R> long expand(Function<Integer, Stream<R>> function) {
		return FIVE.stream()
				.flatMap(function)
				.count(); // flat: expand
	}

	static void callers() {
		sink += expand(
				i -> Stream.of(i)); // flat: first
		sink += expand(
				i -> Stream.of(i, i).filter(j -> j > 1)); // flat: second
		sink += expand(FIVE.size() > 3 ?
				SpanFlat::named : null);
		int[] base = { 1 };
		sink += expand(
				i -> Stream.of(i + base[0])); // flat: captures
	}

	static Stream<Integer> named(int i) {
		return Stream.of(i).map(j -> j + 1); // flat: named
	}

	static final class Maker implements Function<Integer, Stream<Integer>> {
		public Stream<Integer> apply(Integer i) {
			return Stream.of(i); // flat: ordinary
		}
	}

	static void nested() {
		sink += FIVE.stream()
				.flatMap(i -> FIVE.stream() // flat: outer
						.flatMap(j -> Stream.of(i, j) // flat: inner
								.flatMap(k -> Stream.of(k)))) // flat: innermost
				.collect(Collectors.toList()).size(); // flat: nested
		sink += FIVE.stream()
				.flatMap(i -> FIVE.stream().map(j -> i * j)) // flat: one
				.flatMap(i -> Stream.of(i, i)) // flat: two
				.count(); // flat: chained
	}

	/** The function executes streams of its own, which flatten others, before it returns one. */
	static void busy() {
		sink += FIVE.stream()
				.flatMap(i -> {
					List<Integer> all = FIVE.stream() // flat: made
							.flatMap(j -> Stream.of(j, i)) // flat: deep
							.collect(Collectors.toList()); // flat: collected
					return all.stream();
				})
				.count(); // flat: busy
	}

	static void primitives() {
		sink += IntStream.range(0, 3).flatMap(
				i -> IntStream.range(0, i)).sum(); // flat: ints
		sink += LongStream.range(0, 3).flatMap(
				i -> LongStream.range(0, i)).sum(); // flat: longs
		sink += (long) DoubleStream.of(1, 2, 3).flatMap(
				d -> DoubleStream.of(d, d)).sum(); // flat: doubles
		sink += FIVE.stream().flatMapToInt(
				i -> IntStream.range(0, i)).sum(); // flat: toInt
		sink += FIVE.stream().flatMapToLong(
				i -> LongStream.range(0, i)).sum(); // flat: toLong
		sink += (long) FIVE.stream().flatMapToDouble(
				i -> DoubleStream.of(i)).sum(); // flat: toDouble
	}

	static void others() {
		sink += FIVE.stream().collect( // flat: grouped
				Collectors.groupingBy(i -> i & 1, Collectors.flatMapping(
						i -> Stream.of(i, i), // flat: collector
						Collectors.counting()))).size();
		sink += FIVE.stream().flatMap(
				i -> Stream.concat( // flat: concat
						Stream.of(i), Stream.of(i + 1)))
				.count(); // flat: concatenated
		sink += FIVE.stream().flatMap(
				i -> Stream.iterate(i, j -> j + 1).limit(3)) // flat: iterate
				.count(); // flat: iterated
		sink += FIVE.stream().<Integer>mapMulti((i, out) ->
				Stream.of(i, i).map(j -> j + 1).forEach(out)) // flat: multi
				.count(); // flat: mapMulti
		sink += FIVE.stream().flatMap(
				new Maker()).count(); // flat: maker
		/* No line of the program makes these: they have the line of the stream around them. */
		sink += Stream.of(FIVE, FIVE, FIVE)
				.flatMap(List::stream)
				.count(); // flat: reference
		sink += FIVE.stream().map(i -> i > 9 ? null : i).flatMap(
				i -> i == 3 ? null : Stream.of(i)) // flat: nulls
				.count(); // flat: nullable
	}

	/** In JDK 22 and later. The class is compiled for older ones too. */
	static void gather() throws ReflectiveOperationException {
		Class<?> gatherer, integrator;
		try {
			gatherer = Class.forName("java.util.stream.Gatherer");
			integrator = Class.forName("java.util.stream.Gatherer$Integrator");
		} catch (ClassNotFoundException e) {
			return;
		}
		Method push = Class.forName("java.util.stream.Gatherer$Downstream").getMethod("push", Object.class);
		Object each = Proxy.newProxyInstance(SpanFlat.class.getClassLoader(), new Class<?>[] { integrator },
				(proxy, method, arguments) -> {
					sink += Stream.of(1, 2).map(i -> i + 1).count(); // flat: integrator
					return push.invoke(arguments[2], arguments[1]);
				});
		Object made = gatherer.getMethod("of", integrator).invoke(null, each);
		Method gather = Stream.class.getMethod("gather", gatherer);
		sink += ((Stream<?>) gather.invoke(FIVE.stream(), made)).count(); // flat: gathered
		sink += ((Stream<?>) gather.invoke(FIVE.stream().flatMap(
				i -> Stream.of(i, i)), made)) // flat: before
				.collect(Collectors.toList()).size(); // flat: collectGathered
	}

	public static void main(String[] args) throws Exception {
		int rounds = Integer.parseInt(args[0]);
		for (int i = 0; i < rounds; i++) {
			callers();
			nested();
			busy();
			primitives();
			others();
			gather();
		}
		System.out.println("{\"sink\": " + sink + "}");
	}
}
