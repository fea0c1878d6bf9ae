import java.util.HashSet;
import java.util.Set;

/**
 * Makes tasks while spans are recorded, which gives each an identity hash; then locks them, moves them and asks for
 * their hashes again. Argument: tasks. Prints how many hashes changed, how many are the same as another one's, and how
 * many locks did not work.
 */
public class SpanIdentity {
	private static class Task implements Runnable {
		int runs;

		@Override
		public void run() {
			runs++;
		}
	}

	/** Its lock is taken once before anybody asks for its hash but those who record spans. */
	private static final class Locked extends Task {
		Locked() {
			synchronized (this) {
				runs--;
			}
			runs++;
		}
	}

	public static void main(String[] args) throws InterruptedException {
		int n = Integer.parseInt(args[0]);
		Task[] tasks = new Task[n];
		int[] hashes = new int[n];
		Set<Integer> all = new HashSet<>();
		// Executed by another thread than the one that made them: Locus will record each object of the classes.
		for (Task one : new Task[] { new Task(), new Locked() }) {
			Thread other = new Thread(one);
			other.start();
			other.join();
		}
		Thread[] makers = new Thread[2];
		for (int m = 0; m < 2; m++) {
			int first = m;
			makers[m] = new Thread(() -> {
				for (int i = first; i < n; i += 2)
					tasks[i] = i % 3 == 0 ? new Locked() : new Task();
			});
			makers[m].start();
		}
		for (Thread maker : makers)
			maker.join();
		int changed = 0, unlocked = 0;
		for (int i = 0; i < n; i++)
			all.add(hashes[i] = System.identityHashCode(tasks[i]));
		for (int i = 0; i < n; i += 7)
			synchronized (tasks[i]) {
				if (!Thread.holdsLock(tasks[i]) || System.identityHashCode(tasks[i]) != hashes[i])
					unlocked++;
				tasks[i].run();
			}
		System.gc();
		for (int i = 0; i < n; i++) {
			tasks[i].run();
			if (System.identityHashCode(tasks[i]) != hashes[i])
				changed++;
			if (tasks[i].runs != (i % 7 == 0 ? 2 : 1) || Thread.holdsLock(tasks[i]))
				unlocked++;
		}
		System.out.println(changed + " " + (n - all.size()) + " " + unlocked);
	}
}
