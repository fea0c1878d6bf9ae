import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;

/**
 * Counts numbers into buckets by recursive fork-join tasks, each of which allocates arrays: the same code allocates at
 * ever new depths of two stacks. Argument: rounds over all numbers. Prints the sum of one bucket.
 */
public final class ForkJoinArrays {
	private static final int NUMBERS = 1 << 16, GRAIN = 64, BUCKETS = 194;

	private static final class Count extends RecursiveTask<double[]> {
		private static final long serialVersionUID = 1;
		private final transient double[] numbers;
		private final int from, to;

		Count(double[] numbers, int from, int to) {
			this.numbers = numbers;
			this.from = from;
			this.to = to;
		}

		private double[] few() {
			double[] sums = new double[130 + (from & 63)];
			for (int i = from; i < to; i++)
				sums[(int) (numbers[i] * 100)] += numbers[i];
			return sums;
		}

		@Override
		protected double[] compute() {
			if (to - from <= GRAIN)
				return few();
			int middle = (from + to) >>> 1;
			Count left = new Count(numbers, from, middle), right = new Count(numbers, middle, to);
			left.fork();
			double[] b = right.compute();
			double[] sums = Arrays.copyOf(left.join(), BUCKETS);
			for (int i = 0; i < b.length; i++)
				sums[i] += b[i];
			return sums;
		}
	}

	public static void main(String[] args) {
		double[] numbers = new Random(1).doubles(NUMBERS).toArray();
		ForkJoinPool pool = new ForkJoinPool(2);
		double sum = 0;
		for (int i = Integer.parseInt(args[0]); i > 0; i--)
			sum += pool.invoke(new Count(numbers, 0, NUMBERS))[5];
		System.out.printf("%.6f%n", sum);
	}
}
