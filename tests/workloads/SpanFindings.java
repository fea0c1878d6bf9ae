import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/**
 * Executes tasks and streams in one way that is a finding, or in one that is none. Lines of findings are marked.
 *
 * Usage: SpanFindings fine|coarse|uneven|tiny|none
 */
public final class SpanFindings {
	static volatile long sink;

	/* No compiler finds a shorter way. */
	static long work(long n) {
		long x = n | 1;

		for (long i = 0; i < n; i++) {
			x ^= x << 13;
			x ^= x >>> 7;
			x ^= x << 17;
		}
		return x;
	}

	static void busy(long ms) {
		for (long end = System.nanoTime() + ms * 1_000_000; System.nanoTime() < end;)
			sink += work(10_000);
	}

	/* A round trip to another thread for next to nothing, after a time without any. */
	static void fine(int tasks, int size) throws Exception {
		ExecutorService one = Executors.newSingleThreadExecutor();

		busy(600);
		for (int i = 0; i < tasks; i++)
			one.submit(new Small(size)).get(); // site: fine
		one.shutdown();
		busy(600);
	}

	/* After 400 small tasks 4 large ones, for each of which the machine waits. */
	static void coarse(int large) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		List<Future<?>> all = new ArrayList<>();

		for (int i = 0; i < 400; i++)
			all.add(pool.submit(new Small(50))); // next to nothing, however they are shared out
		for (Future<?> f : all)
			f.get();
		Thread.sleep(300); // their context switches are another tenth of a second's
		for (int i = 0; i < 4; i++)
			pool.submit(new Large(large)).get(); // site: coarse
		pool.shutdown();
	}

	/* Each of three workers executes one task of each round: its own is larger or it is not. */
	static void uneven(int rounds, int largest, int others) throws Exception {
		CyclicBarrier all = new CyclicBarrier(3);
		ExecutorService pool = Executors.newFixedThreadPool(3);
		List<Future<?>> tasks = new ArrayList<>();
		ThreadLocal<Integer> size = new ThreadLocal<>();
		int[] given = { 0 };

		for (int i = 0; i < 3 * rounds; i++)
			tasks.add(pool.submit(new Round(all, size, given, largest, others))); // site: uneven
		for (Future<?> t : tasks)
			t.get();
		pool.shutdown();
	}

	/* A stream for each element of another one. */
	static void tiny(int n) {
		for (int i = 0; i < n; i++)
			sink += IntStream.range(i, i + 400)
					.mapToObj(k -> k)
					.flatMap(k -> IntStream.range(k, k + 24).boxed()) // site: tiny
					.mapToLong(k -> k).sum();
	}

	static final class Small implements Runnable {
		final int size;
		Small(int size) { this.size = size; }
		@Override public void run() { sink += work(size); }
	}

	static final class Large implements Runnable {
		final int size;
		Large(int size) { this.size = size; }
		@Override public void run() {
			try {
				for (int i = 0; i < 5; i++) { // no CPU is in use for long
					sink += work(size / 5);
					Thread.sleep(60);
				}
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		}
	}

	static final class Round implements Runnable {
		final CyclicBarrier all;
		final ThreadLocal<Integer> size;
		final int[] given;
		final int largest, others;

		Round(CyclicBarrier all, ThreadLocal<Integer> size, int[] given, int largest, int others) {
			this.all = all;
			this.size = size;
			this.given = given;
			this.largest = largest;
			this.others = others;
		}

		@Override public void run() {
			if (size.get() == null)
				synchronized (given) {
					size.set(given[0]++ == 0 ? largest : others);
				}
			sink += work(size.get());
			try {
				all.await();
			} catch (Exception e) {
				throw new IllegalStateException(e);
			}
		}
	}

	public static void main(String[] args) throws Exception {
		switch (args[0]) {
		case "fine" -> fine(80_000, 100);
		case "coarse" -> coarse(5_000_000);
		case "uneven" -> uneven(40, 5_000_000, 200_000);
		case "tiny" -> tiny(5_000);
		case "none" -> {
			fine(100, 2_000_000);
			uneven(40, 1_000_000, 1_000_000);
			for (int i = 0; i < 200; i++) {
				int from = i;

				sink += IntStream.range(from, from + 1000).mapToLong(SpanFindings::work).sum();
			}
		}
		default -> throw new IllegalArgumentException(args[0]);
		}
	}
}
