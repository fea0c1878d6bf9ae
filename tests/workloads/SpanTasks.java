import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/**
 * Executes tasks of all kinds that can be counted by reading: test_spans_tasks.py has the numbers.
 * Each marker stands on the line that creates the tasks.
 */
public class SpanTasks {
	static final AtomicLong sink = new AtomicLong();

	static void work(int n) {
		long x = n;
		for (int i = 0; i < 500; i++)
			x = x * 31 + i;
		sink.addAndGet(x & 1);
	}

	static class Plain implements Runnable {
		@Override
		public void run() {
			work(1);
		}
	}

	/** Overrides and calls: one execution. */
	static class Derived extends Plain {
		@Override
		public void run() {
			super.run();
		}
	}

	/** Runs itself again, and calls its other method: one execution. */
	static class Both implements Runnable, Callable<Integer> {
		int left = 3;

		@Override
		public void run() {
			if (left-- > 0)
				run();
			else
				call();
		}

		@Override
		public Integer call() {
			work(2);
			return 1;
		}
	}

	static class Fails implements Runnable {
		@Override
		public void run() {
			throw new IllegalStateException("wanted");
		}
	}

	/** Runs another one inside. */
	static class Outer implements Runnable {
		@Override
		public void run() {
			new Plain().run(); // task: inner
			work(3);
		}
	}

	static class Fib extends RecursiveTask<Integer> {
		final int n;

		Fib(int n) {
			this.n = n;
		}

		@Override
		protected Integer compute() {
			if (n < 2)
				return n;
			Fib a = new Fib(n - 1), b = new Fib(n - 2); // task: fib
			a.fork();
			int y = b.invoke();
			return y + a.join();
		}
	}

	static class Worker extends Thread {
		@Override
		public void run() {
			work(4);
		}
	}

	/** Two classes of one name: only one of them is a task. */
	static class Loader extends ClassLoader {
		final String other;

		Loader(String other) {
			super(SpanTasks.class.getClassLoader());
			this.other = other;
		}

		@Override
		protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			if (!name.equals("Homonym"))
				return super.loadClass(name, resolve);
			try (InputStream in = SpanTasks.class.getResourceAsStream("/" + other)) {
				byte[] bytes = in.readAllBytes();
				return defineClass(name, bytes, 0, bytes.length);
			} catch (IOException e) {
				throw new ClassNotFoundException(name, e);
			}
		}
	}

	static void await(ExecutorService pool) throws InterruptedException {
		pool.shutdown();
		if (!pool.awaitTermination(60, TimeUnit.SECONDS))
			throw new AssertionError("pool does not end");
	}

	static void fixedPool() throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2); // task: workers
		List<Callable<Integer>> all = new ArrayList<>();
		Runnable same = () -> work(5); // task: same
		for (int i = 0; i < 570; i++) {
			int n = i;
			pool.execute(() -> work(n)); // task: lambda
		}
		for (int i = 0; i < 40; i++)
			pool.execute(same);
		for (int i = 0; i < 30; i++)
			pool.execute(new Derived()); // task: derived
		for (int i = 0; i < 20; i++)
			pool.submit((Runnable) new Both()); // task: both
		for (int i = 0; i < 10; i++)
			pool.submit(new Fails()); // task: fails
		for (int i = 0; i < 25; i++)
			pool.execute(new Outer()); // task: outer
		for (int i = 0; i < 15; i++) {
			int n = i;
			pool.submit(() -> { // task: callable
				work(n);
				return n;
			});
		}
		for (int i = 0; i < 12; i++) {
			all.add(new Callable<Integer>() { // task: anonymous
				@Override
				public Integer call() {
					work(6);
					return 0;
				}
			});
		}
		for (Future<Integer> f : pool.invokeAll(all))
			f.get();
		for (int i = 0; i < 7; i++)
			new Plain(); // task: dropped
		await(pool);
	}

	/** A full queue makes the submitting thread execute what it submits. */
	static void callerRuns() throws Exception {
		ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1), // task: workers
				new ThreadPoolExecutor.CallerRunsPolicy());
		for (int i = 0; i < 50; i++)
			pool.execute(new Plain()); // task: caller
		await(pool);
	}

	static void scheduled() throws Exception {
		ScheduledExecutorService pool = Executors.newScheduledThreadPool(1);
		for (int i = 0; i < 9; i++)
			pool.schedule(new Plain(), 1, TimeUnit.MILLISECONDS); // task: scheduled
		await(pool);
	}

	static void threads() throws Exception {
		for (int i = 0; i < 5; i++) {
			Thread t = new Worker(); // task: worker
			t.start();
			t.join();
		}
		for (int i = 0; i < 4; i++) {
			Thread t = new Thread(new Plain()); // task: target
			t.start();
			t.join();
		}
	}

	static void forkJoin() throws Exception {
		ForkJoinPool pool = new ForkJoinPool(3);
		sink.addAndGet(pool.invoke(new Fib(12))); // task: root
		await(pool);
	}

	static void async() throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		for (int i = 0; i < 11; i++)
			sink.addAndGet(CompletableFuture.supplyAsync(() -> 1, pool).thenApply(x -> x + 1).get()); // task: supply
		for (int i = 0; i < 13; i++) {
			int n = i;
			CompletableFuture.runAsync(() -> work(n), pool).get(); // task: runAsync
		}
		await(pool);
	}

	static void homonyms() throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(1);
		for (String file : new String[] { "homonym/task.class", "homonym/other.class" }) {
			Class<?> c = new Loader(file).loadClass("Homonym");
			for (int i = 0; i < 6; i++) {
				Object o = c.getConstructor().newInstance();
				if (o instanceof Runnable)
					pool.execute((Runnable) o);
				c.getMethod("run").invoke(o);
			}
		}
		await(pool);
	}

	/** Parallel streams; each element of the second one is a task, executed on the spot. */
	static void streams() {
		for (int round = 0; round < 3; round++) {
			sink.addAndGet(IntStream.range(0, 1000).parallel().map(x -> x * 3).sum());
			sink.addAndGet(IntStream.range(0, 1000).parallel().mapToObj(x -> {
				Runnable task = () -> work(x); // task: inStream
				task.run();
				return x;
			}).reduce(0, Integer::sum));
		}
	}

	public static void main(String[] args) throws Exception {
		for (String mode : args) {
			switch (mode) {
			case "fixedPool":
				fixedPool();
				break;
			case "callerRuns":
				callerRuns();
				break;
			case "scheduled":
				scheduled();
				break;
			case "threads":
				threads();
				break;
			case "forkJoin":
				forkJoin();
				break;
			case "streams":
				streams();
				break;
			case "async":
				async();
				break;
			default:
				homonyms();
			}
		}
		System.out.println("{\"sink\": " + sink + "}");
	}
}
