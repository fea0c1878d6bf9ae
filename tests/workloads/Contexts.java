import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import locusapi.Locus;

/**
 * Serves requests of three kinds, all by the same lines, in contexts that have their names. Each kind allocates another
 * number of objects of both sizes: request k makes 2 outside, 2 * (k + 1) in its context, and request 1 makes one more in a
 * context of its own inside. Arguments: platform, executor or virtual threads; requests of each kind.
 *
 * With a third argument, main() is in the contexts and hands tasks on: each makes 3 objects of both sizes in the context of
 * its request, and 1 in none. A thread that is started in each context makes 10 more.
 */
public class Contexts {
	static final String[] NAMES = {"GET /cart", "POST /order", "GET /item;\u00e4"};
	static final int THREADS = 4;

	static final class Item {
		final int number;

		Item(int number) {
			this.number = number;
		}
	}

	static volatile Object array, item;

	static void allocate(int n) {
		for (int i = 0; i < n; i++) {
			array = new byte[2048];
			item = new Item(i);
		}
	}

	static void pause(int round) throws InterruptedException {
		if (round % 16 == 0)
			Thread.sleep(1);
		else
			Thread.yield();
	}

	static void serve(int kind, int round) throws Exception {
		allocate(1);
		try (Locus.Context request = Locus.context(NAMES[kind])) {
			allocate(kind + 1);
			pause(round);
			allocate(kind + 1);
			if (kind == 1)
				try (Locus.Context inside = Locus.context("db")) {
					pause(round);
					allocate(1);
				}
		}
		allocate(1);
	}

	/* Contexts that are closed in another order, twice, by another thread, or not at all. */
	static void misuse() throws Exception {
		Thread t = new Thread(() -> {
			Locus.Context outer = Locus.context("outer"), inner = Locus.context("inner");
			Thread other = new Thread(() -> {
				inner.close();
				allocate(1);
			});
			other.start();
			try {
				other.join();
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
			outer.close();
			allocate(10);
			inner.close();
			inner.close();
			allocate(100);
			Locus.context("left");
		});
		t.start();
		t.join();
	}

	static ExecutorService executor(String kind) throws Exception {
		return kind.equals("virtual")
				? (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null)
				: Executors.newFixedThreadPool(THREADS);
	}

	static void threads(int requests) throws Exception {
		List<Thread> threads = new ArrayList<>();

		for (int t = 0; t < THREADS; t++) {
			final int first = t;
			threads.add(new Thread(() -> {
				try {
					for (int i = first; i < 3 * requests; i += THREADS)
						serve(i % 3, i);
				} catch (Exception e) {
					throw new IllegalStateException(e);
				}
			}));
		}
		for (Thread t : threads)
			t.start();
		for (Thread t : threads)
			t.join();
	}

	static void tasks(String kind, int requests) throws Exception {
		List<Future<?>> results = new ArrayList<>();
		ExecutorService executor = executor(kind);

		for (int i = 0; i < 3 * requests; i++) {
			final int number = i;
			results.add(executor.submit(() -> {
				serve(number % 3, number);
				return null;
			}));
		}
		for (Future<?> r : results)
			r.get();
		executor.shutdown();
	}

	static void hand(ExecutorService executor, int round, List<Future<?>> results) {
		results.add(executor.submit(Locus.wrap(() -> {
			allocate(1);
			pause(round);
			allocate(1);
			return null;
		})));
		results.add(CompletableFuture.runAsync(() -> allocate(1), Locus.wrap(executor)));
		results.add(executor.submit(() -> allocate(1)));
	}

	static void handed(String kind, int requests) throws Exception {
		List<Future<?>> results = new ArrayList<>();
		ExecutorService executor = executor(kind);

		for (int i = 0; i < 3 * requests; i++)
			try (Locus.Context request = Locus.context(NAMES[i % 3])) {
				hand(executor, i, results);
				if (i < 3) {
					Thread t = new Thread(Locus.wrap(() -> allocate(10)));
					t.start();
					t.join();
				}
			}
		for (Future<?> r : results)
			r.get();
		executor.shutdown();
	}

	public static void main(String[] args) throws Exception {
		int requests = Integer.parseInt(args[1]);

		if (args.length > 2) {
			handed(args[0], requests);
		} else if (args[0].equals("misuse")) {
			misuse();
		} else if (args[0].equals("names")) {
			for (int i = 0; i < requests; i++)
				try (Locus.Context c = Locus.context("name " + i)) {
					allocate(1);
				}
		} else if (args[0].equals("platform")) {
			threads(requests);
		} else {
			tasks(args[0], requests);
		}
	}
}
