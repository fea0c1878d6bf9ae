/* BenchLoop SECONDS: nearly all of its time is at one line, which walks through an array. Prints a sum. */
public final class BenchLoop {
	static final long[] NUMBERS = new long[1 << 22];

	static long sum(int factor) {
		long sum = 0;
		for (int i = 0; i < NUMBERS.length; i += 8)
			sum += NUMBERS[i] * factor; // hot: sum
		return sum;
	}

	public static void main(String[] args) {
		long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L, all = 0;
		for (int i = 0; System.nanoTime() < end; i++)
			all += sum(i);
		System.out.println(all);
	}
}
