import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Executes tiny tasks as actors do: each submits the next task of its chain. Arguments: thousands of
 * tasks, pool (fork or fixed), chains. Prints one line of JSON: nanoseconds of the second half, and
 * CPU time of the process for it.
 */
public class SpanFlood {
	static final AtomicLong executed = new AtomicLong();
	static ExecutorService pool;

	static final class Message implements Runnable {
		final int left;
		final long value;
		final CountDownLatch done;

		Message(int left, long value, CountDownLatch done) {
			this.left = left;
			this.value = value;
			this.done = done;
		}

		@Override
		public void run() {
			long v = value;
			for (int i = 0; i < 50; i++)
				v = v * 6364136223846793005L + 1442695040888963407L;
			if (left == 0) {
				executed.addAndGet(v & 1);
				done.countDown();
			} else {
				pool.execute(new Message(left - 1, v, done));
			}
		}
	}

	static long cpu() {
		return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
	}

	static void flood(int tasks, int chains) throws InterruptedException {
		CountDownLatch done = new CountDownLatch(chains);
		for (int i = 0; i < chains; i++)
			pool.execute(new Message(tasks / chains - 1, i, done));
		done.await();
	}

	public static void main(String[] args) throws InterruptedException {
		int half = Integer.parseInt(args[0]) * 500, chains = Integer.parseInt(args[2]);
		pool = args[1].equals("fork") ? new ForkJoinPool(2) : Executors.newFixedThreadPool(2);
		flood(half, chains);
		long start = System.nanoTime(), before = cpu();
		flood(half, chains);
		long nanoseconds = System.nanoTime() - start, after = cpu();
		pool.shutdown();
		System.out.println("{\"nanoseconds\": " + nanoseconds + ", \"cpu\": " + (after - before) + ", \"tasks\": " + half + "}");
	}
}
