import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.atomic.AtomicLong;

/*
 * Allocates arrays in tasks that split themselves, so that the same code runs at ever new depths
 * of the stack, and in recursion that throws, beside code that the JVM calls.
 *
 * Usage: Recursion ROUNDS
 *
 * Prints one line of JSON: allocations of each line, by marker comment ("line: NAME"), and "deep":
 * those of the recursion by depth.
 */
public final class Recursion {
	static final int LEAF = 64;
	static final int DEPTH = 60;
	static final AtomicLong leaves = new AtomicLong(), joins = new AtomicLong();
	static volatile Object sink;

	static final class Sum extends RecursiveTask<long[]> {
		final int from, to;

		Sum(int from, int to) {
			this.from = from;
			this.to = to;
		}

		@Override
		protected long[] compute() {
			if (to - from <= LEAF) {
				leaves.incrementAndGet();
				return new long[200 + (from & 63)]; // line: leaf
			}
			int middle = (from + to) >>> 1;
			Sum left = new Sum(from, middle), right = new Sum(middle, to);
			left.fork();
			long[] b = right.compute(), a = left.join();
			joins.incrementAndGet();
			long[] both = new long[300]; // line: join
			both[0] = a[0] + b[0];
			return both;
		}
	}

	static int deepAllocate(int left, int at) {
		if (left == 0) {
			sink = new byte[1500]; // line: deep
			return at;
		}
		if ((left & 7) == 3) {
			try {
				deepAllocate(left - 1, at + 1);
				throw new IllegalStateException();
			} catch (IllegalStateException e) {
				return at;
			}
		}
		return deepAllocate(left - 1, at) + 1;
	}

	/* Called by the JVM, from a native method. */
	public static void reflected(int depth) {
		deepAllocate(depth, 0);
	}

	public static void main(String[] args) throws Exception {
		int rounds = Integer.parseInt(args[0]);
		long[] deep = new long[DEPTH + 1];
		ForkJoinPool pool = new ForkJoinPool(2);
		var method = Recursion.class.getMethod("reflected", int.class);

		for (int i = 0; i < rounds; i++) {
			pool.invoke(new Sum(0, 1 << 13));
			for (int k = 0; k < 40; k++) {
				int depth = (i * 7 + k * 13) % (DEPTH + 1);

				deep[depth]++;
				if (k % 10 == 0)
					method.invoke(null, depth);
				else
					deepAllocate(depth, 0);
			}
		}
		pool.shutdown();
		StringBuilder out = new StringBuilder("{\"leaf\":" + leaves + ",\"join\":" + joins + ",\"deep\":[");
		for (int d = 0; d <= DEPTH; d++)
			out.append(d > 0 ? "," : "").append(deep[d]);
		System.out.println(out + "]}");
	}
}
