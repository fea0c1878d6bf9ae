import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.RecursiveAction;

/**
 * Runs task programs of ordinary grain: tasks of some 5 microseconds on a pool of two, a quicksort by ForkJoin tasks, and
 * chains of CompletableFutures. Argument: rounds of each, after as many to warm up. Prints one line of
 * JSON: CPU time of the process for each, in nanoseconds.
 */
public class SpanTasksMix {
	static final int TASKS = 20_000, SORTED = 1 << 20, GRAIN = 4096, CHAINS = 1000, STAGES = 5;
	static volatile long sink;

	static long work(long v, int steps) {
		for (int i = 0; i < steps; i++)
			v = v * 6364136223846793005L + 1442695040888963407L;
		return v;
	}

	static void pool(ExecutorService pool) throws Exception {
		List<Future<Long>> futures = new ArrayList<>();
		for (int i = 0; i < TASKS; i++) {
			long seed = i;
			futures.add(pool.submit(() -> work(seed, 4000)));
		}
		long sum = 0;
		for (Future<Long> f : futures)
			sum += f.get();
		sink = sum;
	}

	static final class Sort extends RecursiveAction {
		final int[] a;
		final int from, to;

		Sort(int[] a, int from, int to) {
			this.a = a;
			this.from = from;
			this.to = to;
		}

		@Override
		protected void compute() {
			if (to - from <= GRAIN) {
				java.util.Arrays.sort(a, from, to);
				return;
			}
			int pivot = a[(from + to) >>> 1], i = from, j = to - 1;
			while (i <= j) {
				while (a[i] < pivot)
					i++;
				while (a[j] > pivot)
					j--;
				if (i <= j) {
					int x = a[i];
					a[i++] = a[j];
					a[j--] = x;
				}
			}
			invokeAll(new Sort(a, from, j + 1), new Sort(a, i, to));
		}
	}

	static void sort(ForkJoinPool pool) {
		int[] a = new int[SORTED];
		long v = 1;
		for (int i = 0; i < a.length; i++) {
			v = work(v, 1);
			a[i] = (int) (v >>> 32);
		}
		pool.invoke(new Sort(a, 0, a.length));
		sink = a[a.length / 2];
	}

	static void futures(ExecutorService pool) throws Exception {
		List<CompletableFuture<Long>> ends = new ArrayList<>();
		for (int i = 0; i < CHAINS; i++) {
			long seed = i;
			CompletableFuture<Long> f = CompletableFuture.supplyAsync(() -> work(seed, 4000), pool);
			for (int s = 0; s < STAGES; s++)
				f = s % 2 == 0 ? f.thenApplyAsync(x -> work(x, 4000), pool) : f.thenApply(x -> work(x, 4000));
			ends.add(f);
		}
		long sum = 0;
		for (CompletableFuture<Long> f : ends)
			sum += f.get();
		sink = sum;
	}

	static long cpu() {
		return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
	}

	interface Part {
		void run() throws Exception;
	}

	static long measure(int rounds, Part part) throws Exception {
		for (int i = 0; i < rounds; i++)
			part.run();
		long before = cpu();
		for (int i = 0; i < rounds; i++)
			part.run();
		return cpu() - before;
	}

	public static void main(String[] args) throws Exception {
		int rounds = Integer.parseInt(args[0]);
		ExecutorService fixed = Executors.newFixedThreadPool(2);
		ForkJoinPool forkJoin = new ForkJoinPool(2);
		long pool = measure(rounds, () -> pool(fixed));
		long sort = measure(rounds, () -> sort(forkJoin));
		long futures = measure(3 * rounds, () -> futures(forkJoin));
		fixed.shutdown();
		forkJoin.shutdown();
		System.out.println("{\"pool\": " + pool + ", \"sort\": " + sort + ", \"futures\": " + futures + "}");
	}
}
