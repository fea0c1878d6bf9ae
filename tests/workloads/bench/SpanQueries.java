import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Runs twenty queries over the same orders, as programs write them: tables are scanned, grouped,
 * sorted, joined, and streams run inside streams. Arguments: milliseconds for each query. Prints one
 * line of JSON: nanoseconds of each query, the median of batches of about 10 ms.
 */
public class SpanQueries {
	record Line(int product, int quantity, double price) {
	}

	record Order(int id, int customer, int day, List<Line> lines) {
		double total() {
			double sum = 0;
			for (Line l : lines)
				sum += l.quantity * l.price;
			return sum;
		}
	}

	static final List<Order> orders = new ArrayList<>();
	static final List<String> words = new ArrayList<>();
	static final int[][] matrix = new int[24][24];

	static void fill() {
		SplittableRandom random = new SplittableRandom(7);
		for (int i = 0; i < 2000; i++) {
			List<Line> lines = new ArrayList<>();
			for (int j = random.nextInt(1, 6); j > 0; j--)
				lines.add(new Line(random.nextInt(200), random.nextInt(1, 9), random.nextInt(1, 10000) / 100.0));
			orders.add(new Order(i, random.nextInt(300), random.nextInt(365), lines));
		}
		for (int i = 0; i < 2000; i++)
			words.add(Integer.toString(random.nextInt(100000), 36));
		for (int[] row : matrix)
			for (int i = 0; i < row.length; i++)
				row[i] = random.nextInt(100);
	}

	static boolean prime(int n) {
		return n > 1 && IntStream.rangeClosed(2, (int) Math.sqrt(n)).noneMatch(d -> n % d == 0);
	}

	static Map<String, LongSupplier> queries() {
		Map<String, LongSupplier> q = new LinkedHashMap<>();
		q.put("filter", () -> orders.stream().filter(o -> o.day < 90).count());
		q.put("sum", () -> (long) orders.stream().mapToDouble(Order::total).sum());
		q.put("flat", () -> orders.stream().flatMap(o -> o.lines.stream()).mapToLong(Line::quantity).sum());
		q.put("group", () -> orders.stream().collect(Collectors.groupingBy(Order::customer)).size());
		q.put("groupSum", () -> orders.stream()
				.collect(Collectors.groupingBy(Order::customer, Collectors.summingDouble(Order::total))).size());
		q.put("sort", () -> orders.stream().sorted(Comparator.comparingDouble(Order::total)).limit(10).count());
		q.put("distinct", () -> orders.stream().map(Order::customer).distinct().count());
		q.put("partition", () -> orders.stream().collect(Collectors.partitioningBy(o -> o.lines.size() > 2)).size());
		q.put("join", () -> words.stream().collect(Collectors.joining(",")).length());
		q.put("letters", () -> words.stream().flatMapToInt(String::chars).filter(c -> c == 'a').count());
		q.put("lengths", () -> words.stream().collect(Collectors.groupingBy(String::length, Collectors.counting())).size());
		q.put("top", () -> words.stream().sorted().skip(100).findFirst().get().length());
		q.put("matrix", () -> Arrays.stream(matrix)
				.mapToLong(row -> IntStream.range(0, row.length)
						.mapToLong(c -> IntStream.range(0, row.length).mapToLong(k -> row[k] * matrix[k][c]).sum())
						.sum())
				.sum());
		q.put("primes", () -> IntStream.range(0, 2000).filter(SpanQueries::prime).count());
		q.put("statistics", () -> orders.stream().mapToDouble(Order::total).summaryStatistics().getCount());
		q.put("largestLine", () -> orders.stream()
				.map(o -> o.lines.stream().max(Comparator.comparingDouble(Line::price)).get())
				.mapToLong(Line::quantity).sum());
		q.put("anyLine", () -> orders.stream().filter(o -> o.lines.stream().anyMatch(l -> l.product == 7)).count());
		q.put("toArray", () -> orders.stream().mapToInt(Order::day).toArray().length);
		q.put("iterate", () -> IntStream.iterate(1, i -> i * 3 % 1009).limit(5000).sum());
		q.put("collectMap", () -> orders.stream()
				.collect(Collectors.toMap(Order::customer, o -> o.lines.size(), Integer::sum)).size());
		return q;
	}

	static long sink;

	static double nanoseconds(LongSupplier query, long milliseconds) {
		long start = System.nanoTime(), warm = start + milliseconds * 500_000, end = start + milliseconds * 1_000_000;
		List<Double> batches = new ArrayList<>();
		int batch = 1;
		for (long now = start; now < end || batches.size() < 5;) {
			for (int i = 0; i < batch; i++)
				sink += query.getAsLong();
			long after = System.nanoTime();
			if (now >= warm)
				batches.add((after - now) / (double) batch);
			else if (after - now < 5_000_000)
				batch *= 2;
			now = after;
		}
		batches.sort(null);
		return batches.get(batches.size() / 2);
	}

	public static void main(String[] args) {
		StringBuilder text = new StringBuilder();
		fill();
		for (Map.Entry<String, LongSupplier> q : queries().entrySet())
			text.append(text.length() > 0 ? ", " : "{").append('"').append(q.getKey()).append("\": ")
					.append(nanoseconds(q.getValue(), Long.parseLong(args[0])));
		System.out.println(text.append(sink == 42 ? " }" : "}"));
	}
}
