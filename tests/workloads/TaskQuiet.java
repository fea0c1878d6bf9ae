import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Makes objects of three classes, which nobody submits; the maker executes those of one class. It submits some of two
 * classes afterwards. Arguments: how many of each first, and how many are submitted.
 */
public class TaskQuiet {
	static volatile Object kept;
	static int sum;

	static class Task implements Runnable {
		@Override
		public void run() {
			synchronized (TaskQuiet.class) {
				sum++;
			}
		}
	}

	static final class Never extends Task {
	}

	static final class Late extends Task {
	}

	static Runnable called(int by) {
		return () -> {
			synchronized (TaskQuiet.class) {
				sum += by;
			}
		};
	}

	public static void main(String[] args) throws Exception {
		int many = Integer.parseInt(args[0]), few = Integer.parseInt(args[1]);
		for (int i = 0; i < many; i++) {
			kept = new Never();
			kept = new Late();
			called(1).run();
		}
		ExecutorService pool = Executors.newFixedThreadPool(2);
		for (int i = 0; i < few; i++) {
			pool.execute(new Late());
			pool.execute(called(1));
		}
		pool.shutdown();
		while (!pool.isTerminated())
			Thread.sleep(1);
		if (sum != many + 2 * few)
			throw new AssertionError(sum);
	}
}
