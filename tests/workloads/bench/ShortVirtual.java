import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/** Runs many short virtual threads, each of which does a piece of arithmetic. Argument: thousands of threads. JDK 21 or newer. */
public final class ShortVirtual {
	private static final AtomicLong sum = new AtomicLong();

	private static void work(long seed) {
		long v = seed;
		for (int i = 0; i < 2000; i++)
			v = v * 6364136223846793005L + 1442695040888963407L;
		sum.addAndGet(v & 1023);
	}

	public static void main(String[] args) throws Exception {
		int threads = Integer.parseInt(args[0]) * 1000;
		try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
			for (int i = 0; i < threads; i++) {
				long seed = i;
				pool.execute(() -> work(seed));
			}
		}
		System.out.println(sum);
	}
}
