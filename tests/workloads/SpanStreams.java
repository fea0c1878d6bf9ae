import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Consumer;
import java.util.stream.BaseStream;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Executes streams that can be counted by reading: each line with a marker executes the streams
 * that test_spans_streams.py says, once for each round.
 */
public class SpanStreams {
	static long sink;

	static Stream<Integer> numbers() {
		return Stream.of(3, 1, 2).map(i -> i + 1);
	}

	static IntStream ints() {
		return IntStream.of(3, 1, 2).map(i -> i + 1);
	}

	static LongStream longs() {
		return LongStream.of(3, 1, 2).map(i -> i + 1);
	}

	static DoubleStream doubles() {
		return DoubleStream.of(3, 1, 2).map(i -> i + 1);
	}

	static void ofReferences() {
		numbers().forEach(i -> sink += i); // span: one
		numbers().forEachOrdered(i -> sink += i); // span: one
		sink += numbers().toArray().length; // span: one
		sink += numbers().toArray(Integer[]::new).length; // span: one
		sink += numbers().reduce(0, Integer::sum); // span: one
		sink += numbers().reduce(Integer::sum).get(); // span: one
		sink += numbers().reduce(0, (a, b) -> a + b, Integer::sum); // span: one
		sink += numbers().collect(Collectors.toList()).size(); // span: one
		sink += numbers().collect(ArrayList::new, ArrayList::add, ArrayList::addAll).size(); // span: one
		sink += numbers().toList().size(); // span: one
		sink += numbers().min(Comparator.naturalOrder()).get(); // span: one
		sink += numbers().max(Comparator.naturalOrder()).get(); // span: one
		sink += numbers().filter(i -> i > 1).count(); // span: one
		sink += numbers().anyMatch(i -> i > 1) ? 1 : 0; // span: one
		sink += numbers().allMatch(i -> i > 1) ? 1 : 0; // span: one
		sink += numbers().noneMatch(i -> i > 1) ? 1 : 0; // span: one
		sink += numbers().findFirst().get(); // span: one
		sink += numbers().findAny().get(); // span: one
		sink += numbers().sorted().distinct().limit(2).skip(1).peek(i -> sink++).count(); // span: one
		Iterator<Integer> it = numbers().iterator(); // span: pulled
		while (it.hasNext())
			sink += it.next();
		numbers().spliterator().forEachRemaining(i -> sink += i); // span: pulled
	}

	static void ofInts() {
		ints().forEach(i -> sink += i); // span: one
		ints().forEachOrdered(i -> sink += i); // span: one
		sink += ints().toArray().length; // span: one
		sink += ints().reduce(0, Integer::sum); // span: one
		sink += ints().reduce(Integer::sum).getAsInt(); // span: one
		sink += ints().collect(ArrayList<Integer>::new, ArrayList::add, ArrayList::addAll).size(); // span: one
		sink += ints().sum(); // span: one
		sink += ints().min().getAsInt(); // span: one
		sink += ints().max().getAsInt(); // span: one
		sink += ints().filter(i -> i > 1).count(); // span: one
		sink += (long) ints().average().getAsDouble(); // span: one
		sink += ints().summaryStatistics().getSum(); // span: one
		sink += ints().anyMatch(i -> i > 1) ? 1 : 0; // span: one
		sink += ints().allMatch(i -> i > 1) ? 1 : 0; // span: one
		sink += ints().noneMatch(i -> i > 1) ? 1 : 0; // span: one
		sink += ints().findFirst().getAsInt(); // span: one
		sink += ints().findAny().getAsInt(); // span: one
		sink += ints().boxed().collect(Collectors.toSet()).size(); // span: one
		sink += ints().iterator().nextInt(); // span: pulled
		sink += ints().spliterator().estimateSize(); // span: pulled
	}

	static void ofLongs() {
		longs().forEach(i -> sink += i); // span: one
		longs().forEachOrdered(i -> sink += i); // span: one
		sink += longs().toArray().length; // span: one
		sink += longs().reduce(0, Long::sum); // span: one
		sink += longs().reduce(Long::sum).getAsLong(); // span: one
		sink += longs().collect(ArrayList<Long>::new, ArrayList::add, ArrayList::addAll).size(); // span: one
		sink += longs().sum(); // span: one
		sink += longs().min().getAsLong(); // span: one
		sink += longs().max().getAsLong(); // span: one
		sink += longs().filter(i -> i > 1).count(); // span: one
		sink += (long) longs().average().getAsDouble(); // span: one
		sink += longs().summaryStatistics().getSum(); // span: one
		sink += longs().anyMatch(i -> i > 1) ? 1 : 0; // span: one
		sink += longs().allMatch(i -> i > 1) ? 1 : 0; // span: one
		sink += longs().noneMatch(i -> i > 1) ? 1 : 0; // span: one
		sink += longs().findFirst().getAsLong(); // span: one
		sink += longs().findAny().getAsLong(); // span: one
		sink += longs().iterator().nextLong(); // span: pulled
		sink += longs().spliterator().estimateSize(); // span: pulled
	}

	static void ofDoubles() {
		doubles().forEach(i -> sink += (long) i); // span: one
		doubles().forEachOrdered(i -> sink += (long) i); // span: one
		sink += doubles().toArray().length; // span: one
		sink += (long) doubles().reduce(0, Double::sum); // span: one
		sink += (long) doubles().reduce(Double::sum).getAsDouble(); // span: one
		sink += doubles().collect(ArrayList<Double>::new, ArrayList::add, ArrayList::addAll).size(); // span: one
		sink += (long) doubles().sum(); // span: one
		sink += (long) doubles().min().getAsDouble(); // span: one
		sink += (long) doubles().max().getAsDouble(); // span: one
		sink += doubles().filter(i -> i > 1).count(); // span: one
		sink += (long) doubles().average().getAsDouble(); // span: one
		sink += (long) doubles().summaryStatistics().getSum(); // span: one
		sink += doubles().anyMatch(i -> i > 1) ? 1 : 0; // span: one
		sink += doubles().allMatch(i -> i > 1) ? 1 : 0; // span: one
		sink += doubles().noneMatch(i -> i > 1) ? 1 : 0; // span: one
		sink += (long) doubles().findFirst().getAsDouble(); // span: one
		sink += (long) doubles().findAny().getAsDouble(); // span: one
		sink += (long) doubles().iterator().nextDouble(); // span: pulled
		sink += doubles().spliterator().estimateSize(); // span: pulled
	}

	/** A source without a stage behind it has its own forEach(). */
	static void heads() {
		Stream.of(1, 2, 3).forEach(i -> sink += i); // span: one
		Stream.of(1, 2, 3).forEachOrdered(i -> sink += i); // span: one
		IntStream.range(0, 3).forEach(i -> sink += i); // span: one
		IntStream.range(0, 3).forEachOrdered(i -> sink += i); // span: one
		LongStream.range(0, 3).forEach(i -> sink += i); // span: one
		LongStream.range(0, 3).forEachOrdered(i -> sink += i); // span: one
		DoubleStream.of(1, 2).forEach(i -> sink += (long) i); // span: one
		DoubleStream.of(1, 2).forEachOrdered(i -> sink += (long) i); // span: one
		sink += Stream.of(1, 2, 3).count(); // span: one
		Arrays.asList(1, 2, 3).forEach(i -> sink += i); // not a stream
		Stream.of(1, 2, 3).iterator().forEachRemaining(i -> sink += i); // span: pulled
	}

	/** Seven inner streams, executed inside the one that asks for them. */
	static void flat() {
		sink += Stream.of(1, 2, 3, 4, 5, 6, 7).flatMap(i -> Stream.of(i, i).map(j -> j + 1)) // span: seven
				.collect(Collectors.toList()).size(); // span: one
		sink += IntStream.range(0, 7).flatMap(i -> IntStream.range(0, i)).sum(); // span: flat
		sink += Stream.of(1, 2, 3).flatMap(i -> Stream.of(4, 5).flatMap(j -> Stream.of(6, 7, 8))) // span: flatFlat
				.count(); // span: one
		sink += Stream.of(1, 2, 3, 4, 5, 6, 7).<Integer>mapMulti((i, out) -> out.accept(i + 1))
				.count(); // span: one
	}

	/** Ends at the third element: JDK 17 pulls the inner streams, later ones execute them. */
	static void shortCircuit() {
		sink += Stream.of(1, 2, 3, 4, 5).flatMap(i -> Stream.of(i, i)).anyMatch(i -> i == 3) ? 1 : 0; // span: short
	}

	static long nest(int levels) {
		if (levels == 0)
			return 0;
		return Stream.of(levels).mapToLong(i -> 1 + nest(i - 1)).sum(); // span: nest
	}

	static void infinite() {
		sink += Stream.iterate(1, i -> i + 1).limit(10).mapToInt(i -> i).sum(); // span: one
		sink += Stream.generate(() -> 1).limit(10).count(); // span: one
		sink += IntStream.iterate(1, i -> i + 1).filter(i -> i > 100).findFirst().getAsInt(); // span: one
		sink += IntStream.iterate(1, i -> i < 10, i -> i + 1).count(); // span: one
	}

	static int fail(int i) {
		if (i == 2)
			throw new IllegalStateException();
		return i;
	}

	/** An exception leaves two spans at once; what follows is at level 0 again. */
	static void exceptions() {
		try {
			sink += numbers().mapToInt(SpanStreams::fail).sum(); // span: one
		} catch (IllegalStateException e) {
			sink++;
		}
		try {
			sink += Stream.of(1, 2).mapToInt(i -> IntStream.of(1, 2, 3).map(SpanStreams::fail).sum()).sum(); // span: throwing
		} catch (IllegalStateException e) {
			sink++;
		}
		try {
			Stream.of(2).forEach(SpanStreams::fail); // span: one
		} catch (IllegalStateException e) {
			sink++;
		}
		sink += numbers().count(); // span: one
	}

	/** concat() asks both for their spliterators. */
	static void concatenation() {
		Stream<Integer> both = Stream.concat(numbers(), numbers()); // span: twoPulled
		sink += both.filter(i -> i > 1).count(); // span: one
	}

	/** A stream of its own, which is none of java.util.stream. */
	static final class Own implements BaseStream<Integer, Own> {
		final List<Integer> list = List.of(1, 2, 3);

		public void forEach(Consumer<Integer> action) {
			list.forEach(action);
		}

		@Override
		public Iterator<Integer> iterator() {
			return list.iterator();
		}

		@Override
		public Spliterator<Integer> spliterator() {
			return Spliterators.spliterator(list, 0);
		}

		@Override
		public boolean isParallel() {
			return false;
		}

		@Override
		public Own sequential() {
			return this;
		}

		@Override
		public Own parallel() {
			return this;
		}

		@Override
		public Own unordered() {
			return this;
		}

		@Override
		public Own onClose(Runnable closeHandler) {
			return this;
		}

		@Override
		public void close() {
		}
	}

	static void foreign() {
		new Own().forEach(i -> sink += i); // span: foreign
		sink += new Own().iterator().next(); // span: foreign
	}

	static void sequential() {
		ofReferences();
		ofInts();
		ofLongs();
		ofDoubles();
		heads();
		flat();
		shortCircuit();
		sink += nest(40);
		infinite();
		exceptions();
		concatenation();
		foreign();
	}

	static void parallel(int elements) {
		sink += IntStream.range(0, elements).parallel().sum(); // span: leaves
		sink += IntStream.range(0, elements).parallel().map(i -> i + 1).filter(i -> i > 3).toArray().length; // span: toArray
		IntStream.range(0, elements).parallel().forEach(i -> work(i)); // span: leaves
		sink += IntStream.range(0, elements).boxed().parallel().collect(Collectors.toList()).size(); // span: leaves
		sink += IntStream.range(0, 16).parallel().map(i -> IntStream.range(0, 4).map(j -> j + i).sum()).sum(); // span: inner
	}

	static void work(int i) {
		if (i < 0)
			throw new AssertionError();
	}

	public static void main(String[] args) {
		int rounds = Integer.parseInt(args[1]);
		for (int i = 0; i < rounds; i++) {
			if (args[0].equals("parallel"))
				parallel(Integer.parseInt(args[2]));
			else
				sequential();
		}
		System.out.println("{\"sink\": " + sink + "}");
	}
}
