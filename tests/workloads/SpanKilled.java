import java.lang.management.ManagementFactory;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Streams and tasks that do not end before the program is killed: one in main, two nested ones in a daemon thread, a task
 * on a pool, one that sleeps, and with a second argument one on a virtual thread. With an argument above 0 they end after so many
 * milliseconds; with -1 main exits after 1.5 s, with -2 it halts the JVM. Each thread prints its name and its CPU time in ns since it began, every 100 ms.
 */
public class SpanKilled {
	static volatile long sink;
	static long endNs;
	static final CountDownLatch started = new CountDownLatch(3);

	static boolean goesOn() {
		return System.nanoTime() < endNs;
	}

	static long cpu() {
		return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
	}

	static void say(String name, long since) {
		System.out.println(name + " " + (cpu() - since));
		System.out.flush();
	}

	/** Works until then, and tells every 100 ms. */
	static void work(String name, long untilNs) {
		long next = System.nanoTime(), since = cpu();
		while (System.nanoTime() < untilNs) {
			for (int i = 0; i < 10000; i++)
				sink += i;
			if (System.nanoTime() >= next) {
				say(name, since);
				next = System.nanoTime() + 100_000_000;
			}
		}
	}

	static void tiny() {
		sink += IntStream.of(1, 2).sum(); // span: tiny
	}

	/** Half of the work is done by streams inside it. */
	static void nested() {
		Stream.of(1).forEach(x -> { // span: outer
			Stream.of(2).forEach(y -> { // span: inner
				long next = System.nanoTime(), since = cpu();
				while (goesOn()) {
					for (int i = 0; i < 100; i++)
						tiny();
					if (System.nanoTime() >= next) {
						say("nested", since);
						next = System.nanoTime() + 100_000_000;
					}
				}
			});
		});
	}

	static class Endless implements Runnable {
		public void run() {
			started.countDown();
			work("task", endNs);
		}
	}

	static class Sleeper implements Callable<String> {
		public String call() throws Exception {
			started.countDown();
			while (goesOn())
				Thread.sleep(Math.max(1, Math.min(1000, (endNs - System.nanoTime()) / 1_000_000)));
			return "";
		}
	}

	static class Virtual implements Runnable {
		public void run() {
			started.countDown();
			try {
				while (goesOn())
					Thread.sleep(Math.max(1, Math.min(1000, (endNs - System.nanoTime()) / 1_000_000)));
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		}
	}

	public static void main(String[] args) throws Exception {
		long ms = Long.parseLong(args[0]);
		endNs = System.nanoTime() + (ms > 0 ? ms : 1_000_000) * 1_000_000;
		Thread daemon = new Thread(SpanKilled::nested, "nested");
		daemon.setDaemon(true);
		daemon.start();
		ExecutorService pool = Executors.newFixedThreadPool(2);
		pool.execute(new Endless());
		pool.submit(new Sleeper());
		Thread virtual = null;
		if (args.length > 1)
			virtual = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, new Virtual());
		else
			started.countDown();
		started.await();
		long end = endNs;
		IntStream.of(1).forEach(i -> work("main", ms < 0 ? System.nanoTime() + 1_500_000_000 : end)); // span: main
		if (ms == -1)
			System.exit(0);
		if (ms == -2)
			Runtime.getRuntime().halt(0);
		daemon.join();
		pool.shutdown();
		pool.awaitTermination(1, java.util.concurrent.TimeUnit.MINUTES);
		if (virtual != null)
			virtual.join();
	}
}
