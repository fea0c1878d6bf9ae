import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Runs many short pieces of work, each on a platform thread of its own; some tens of threads live at a time.
 * Arguments: threads; how they start (thread: by themselves, task: by an executor that makes one for each task).
 */
public final class ThreadEach {
	private static final AtomicLong sum = new AtomicLong();
	private static final Semaphore alive = new Semaphore(32);

	private static void work(long seed) {
		long v = seed;
		for (int i = 0; i < 2000; i++)
			v = v * 6364136223846793005L + 1442695040888963407L;
		sum.addAndGet(v & 1023);
		alive.release();
	}

	public static void main(String[] args) throws Exception {
		int threads = Integer.parseInt(args[0]);
		Executor each = task -> new Thread(task).start();
		for (int i = 0; i < threads; i++) {
			long seed = i;
			alive.acquire();
			if (args[1].equals("task"))
				each.execute(() -> work(seed));
			else
				new Thread(() -> work(seed)).start();
		}
		alive.acquire(32);
		System.out.println(sum);
	}
}
