import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/*
 * Walks one array in a thread that lives as long as the program, and meanwhile another one in
 * threads that live for as long as they are told to.
 *
 * Usage: ShortThreads KIND LIFE_US CPU_SECONDS
 *
 * KIND is how a piece of work of LIFE_US of CPU time gets its thread: `thread` (a new one),
 * `pool` (an executor that keeps none), `burst` (a thread lives for eight pieces, and waits for a
 * moment after each). The pieces together take CPU_SECONDS. The truth, the CPU nanoseconds of
 * either array as the threads' clocks have them, and the number of threads or pieces, is printed as
 * one line of JSON.
 */
public final class ShortThreads {
	static final int INTS = 1 << 20, BURST = 8;
	static final long WARM_NS = 300_000_000L;
	static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
	static final AtomicLong SHORT_NS = new AtomicLong();
	static volatile long sink;
	static volatile boolean done;
	static long steadyNs;

	static int[] newSteady() { return new int[INTS]; }
	static int[] newShort() { return new int[INTS]; }

	static long cpu() { return THREADS.getCurrentThreadCpuTime(); }

	/* Random reads; each waits for the one before, so the time is the array's. */
	static int walk(int[] a, int at, int steps) {
		for (int i = 0; i < steps; i++)
			at = a[(at * 1664525 + 1013904223) >>> 12] ^ at * 69069 + i;
		return at;
	}

	static long stepsFor(int[] a, long lifeNs) {
		long begin = cpu(), steps = 0;
		for (; cpu() - begin < WARM_NS; steps += 2000)
			sink += walk(a, (int) steps, 2000);
		return Math.max(1, steps * lifeNs / WARM_NS);
	}

	static void piece(int[] a, int steps) {
		long begin = cpu();
		sink += walk(a, (int) begin, steps);
		SHORT_NS.addAndGet(cpu() - begin);
	}

	static void burst(int[] a, int steps) {
		for (int i = 0; i < BURST; i++) {
			piece(a, steps);
			try {
				Thread.sleep(0, 300_000);
			} catch (InterruptedException e) {
				return;
			}
		}
	}

	static void steady(int[] a) {
		while (!done) {
			long begin = cpu();
			for (int i = 0; i < 100; i++)
				sink += walk(a, i, 2000);
			steadyNs += cpu() - begin;
		}
	}

	public static void main(String[] args) throws Exception {
		String kind = args[0];
		long lifeNs = Long.parseLong(args[1]) * 1000;
		long halfNs = (long) (Double.parseDouble(args[2]) * 1e9);
		int[] a = newSteady(), b = newShort();
		stepsFor(b, lifeNs); /* interpreted at first */
		int steps = (int) stepsFor(b, lifeNs);
		long threads = 0;
		Thread steady = new Thread(() -> steady(a), "steady");
		ThreadPoolExecutor pool = new ThreadPoolExecutor(
			0, Integer.MAX_VALUE, 0, TimeUnit.SECONDS, new SynchronousQueue<>());

		steady.start();
		for (; SHORT_NS.get() < halfNs; threads++) {
			switch (kind) {
			case "thread":
				Thread t = new Thread(() -> piece(b, steps));
				t.start();
				t.join();
				break;
			case "pool":
				Future<?> f = pool.submit(() -> piece(b, steps));
				f.get();
				break;
			default:
				Thread u = new Thread(() -> burst(b, steps));
				u.start();
				u.join();
			}
		}
		done = true;
		steady.join();
		pool.shutdown();
		System.out.println("{\"steady_ns\":" + steadyNs + ",\"short_ns\":" + SHORT_NS.get()
			+ ",\"threads\":" + threads + "}");
	}
}
