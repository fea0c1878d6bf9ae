/**
 * Makes all permutations of six numbers by swapping, as in the Stanford benchmarks, and counts its own calls: there are
 * 6! + 6!/1! + 6!/2! + ... + 6!/6!, which is 1957. Argument: how often.
 */
public final class Permute {
	private static final int SIZE = 6, CALLS = 1957;

	private final int[] values = new int[SIZE];
	private int calls;

	private void swap(int a, int b) {
		int kept = values[a];
		values[a] = values[b];
		values[b] = kept;
	}

	private void permute(int n) {
		calls++;
		for (int i = n - 1; i >= 0; i--) {
			swap(n - 1, i);
			permute(n - 1);
			swap(n - 1, i);
		}
	}

	private static int run() {
		Permute all = new Permute();
		for (int i = 0; i < SIZE; i++)
			all.values[i] = i;
		all.permute(SIZE);
		for (int i = 0; i < SIZE; i++)
			Result.check(all.values[i] == i, "the numbers are not back in their order");
		return all.calls;
	}

	public static void main(String[] args) {
		long sum = 0;
		for (int i = Integer.parseInt(args[0]); i > 0; i--) {
			int calls = run();
			Result.check(calls == CALLS, calls + " calls");
			sum += calls;
		}
		Result.is(sum);
	}
}
