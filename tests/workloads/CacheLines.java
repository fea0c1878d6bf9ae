/** Touches all cache lines of an array of so many bytes alike, for so many seconds. Usage: CacheLines BYTES SECONDS */
public final class CacheLines {
	private CacheLines() {
	}

	private static long touch(long[] array, int times, int seed) {
		long sum = 0;
		int at = seed;
		for (int i = 0; i < times; i++) {
			at = at * 1664525 + 1013904223;
			sum += array[(at >>> 8) % array.length];
		}
		return sum;
	}

	public static void main(String[] args) {
		long[] array = new long[Integer.parseInt(args[0]) / 8];
		long end = System.nanoTime() + (long) (Double.parseDouble(args[1]) * 1e9);
		long all = 0;
		for (int seed = 0; System.nanoTime() < end; seed++)
			all += touch(array, 100_000, seed);
		System.out.println(all);
	}
}
