/* Adds up a square of numbers again and again, down its columns. Usage: BenchColumns TIMES */
public final class BenchColumns {
	static final int SIZE = 1024;

	private final int[] m = new int[SIZE * SIZE];

	private BenchColumns() {
		for (int i = 0; i < m.length; i++)
			m[i] = i * 31 >>> 3;
	}

	private long sum() {
		long sum = 0;
		for (int i = 0; i < SIZE; i++)
			for (int j = 0; j < SIZE; j++)
				sum += m[j * SIZE + i];
		return sum;
	}

	public static void main(String[] args) {
		BenchColumns columns = new BenchColumns();
		long all = 0;
		for (int i = Integer.parseInt(args[0]); i > 0; i--)
			all += columns.sum();
		System.out.println(all);
	}
}
