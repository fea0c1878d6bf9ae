import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/**
 * Executes streams inside each other, on many threads that live at the same time, and a task on
 * each: ManySlots THREADS LEVELS ROUNDS. Each level of each thread is counted by itself. The threads
 * of a round have ended before those of the next one begin. Prints how many streams and tasks there
 * were.
 */
public final class ManySlots {
	static final AtomicLong streams = new AtomicLong();
	static final AtomicLong tasks = new AtomicLong();

	static void nest(int levels) {
		streams.incrementAndGet();
		IntStream.range(0, 1).forEach(i -> {
			if (levels > 1)
				nest(levels - 1);
		});
	}

	static final class Work implements Runnable {
		private final int levels;

		Work(int levels) {
			this.levels = levels;
		}

		@Override
		public void run() {
			tasks.incrementAndGet();
			nest(levels);
		}
	}

	static void round(int threads, int levels) throws InterruptedException {
		CountDownLatch done = new CountDownLatch(threads);
		CountDownLatch end = new CountDownLatch(1);
		Thread[] all = new Thread[threads];

		for (int i = 0; i < threads; i++) {
			all[i] = new Thread(null, () -> {
				new Work(levels).run();
				done.countDown();
				try {
					end.await();
				} catch (InterruptedException e) {
					throw new IllegalStateException(e);
				}
			}, "nest-" + i, 8 << 20);
			all[i].start();
		}
		done.await();
		end.countDown();
		for (Thread t : all)
			t.join();
	}

	public static void main(String[] args) throws InterruptedException {
		int rounds = Integer.parseInt(args[2]);

		for (int i = 0; i < rounds; i++) {
			round(Integer.parseInt(args[0]), Integer.parseInt(args[1]));
			Thread.sleep(i + 1 < rounds ? 700 : 0);
		}
		System.out.println("streams=" + streams + " tasks=" + tasks);
	}
}
