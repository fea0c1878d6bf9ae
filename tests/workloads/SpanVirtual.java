import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;

/**
 * Lets virtual threads (JDK 21 and newer) sleep in the middle of tasks and streams. Arguments: threads of an
 * executor, threads by themselves.
 */
public class SpanVirtual {
	static volatile long sink;

	static void work(int rounds) {
		long x = sink;
		for (int i = 0; i < rounds; i++)
			x = x * 6364136223846793005L + 1442695040888963407L;
		sink = x;
	}

	static void sleep(int milliseconds) {
		try {
			Thread.sleep(milliseconds);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	static final class Sleeper implements Runnable {
		@Override
		public void run() {
			work(20000);
			sleep(20);
			IntStream.range(0, 3).forEach(i -> {
				work(5000);
				sleep(2);
			});
			work(20000);
		}
	}

	public static void main(String[] args) throws Exception {
		int pooled = Integer.parseInt(args[0]), single = Integer.parseInt(args[1]);
		List<Thread> threads = new ArrayList<>();

		try (ExecutorService executor = (ExecutorService) Executors.class
				.getMethod("newVirtualThreadPerTaskExecutor").invoke(null)) {
			for (int i = 0; i < pooled; i++)
				executor.submit(new Sleeper());
		}
		for (int i = 0; i < single; i++)
			threads.add((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
					.invoke(null, new Sleeper()));
		for (Thread t : threads)
			t.join();
	}
}
