import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Tiny streams, long enough for windows in which they are only counted. Arguments: rounds. */
public class SpanProbe {
	static final int[] VALUES = { 3, 1, 4, 1, 5, 9, 2, 6 };
	static final List<Integer> LIST = Arrays.asList(3, 1, 4, 1, 5, 9, 2, 6);

	static int leaf(int i) {
		return Arrays.stream(VALUES).map(v -> v ^ i).sum(); // leaf
	}

	/** Now and then it has a stream inside itself, which it had never before the first thousands. */
	static int seldom(int i) {
		return Arrays.stream(VALUES).map(v -> i % 50_000 == 49_999 && v == 9 ? leaf(v) : v).sum(); // seldom
	}

	static int failing(int i) {
		try {
			return LIST.stream().mapToInt(v -> v == 9 && i % 3 == 0 ? 1 / (v - 9) : v).sum(); // failing
		} catch (ArithmeticException e) {
			return 0;
		}
	}

	static long run(int rounds) {
		return IntStream.range(0, rounds).mapToLong(i -> leaf(i) + seldom(i) + failing(i)).sum(); // outer
	}

	public static void main(String[] args) throws InterruptedException {
		int rounds = Integer.parseInt(args[0]);
		long[] sums = new long[2];
		Thread other = new Thread(() -> sums[0] = run(rounds));
		other.start();
		sums[1] = run(rounds);
		other.join();
		for (int i = 0; i < rounds; i++)
			sums[0] += leaf(i);
		System.out.println(sums[0] != sums[1]);
	}
}
