import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.AtomicLong;

/*
 * Starts many short threads, and two long ones with names that need care.
 *
 * Usage: ThreadStorm THREADS
 *
 * Prints one line of JSON: what stormAllocate() allocated in all.
 */
public final class ThreadStorm {
	static final String[] NAMES = {
		"\u00dcn\u00efc\u00f6d\u00e9 \u7dda\u7a0b \ud83e\uddf5", "<b>&\"quoted\"\\ \t tab\n line;x,y"};
	static final AtomicLong COUNT = new AtomicLong();
	static volatile Object sink;
	static volatile long sum;

	static int[] stormAllocate(int n) {
		COUNT.incrementAndGet();
		return new int[n];
	}

	static void brief() {
		for (int i = 0; i < 5; i++)
			sink = stormAllocate(300 + i);
	}

	static long walk(int[] a) {
		long here = 0;
		for (int i = 0; i < a.length; i++)
			here += a[i * 7919 & a.length - 1];
		return here;
	}

	static void busy() {
		int[] a = stormAllocate(1 << 20);
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();
		while (threads.getCurrentThreadCpuTime() < 500_000_000L)
			sum += walk(a);
	}

	public static void main(String[] args) throws Exception {
		int threads = Integer.parseInt(args[0]);
		Thread[] named = new Thread[NAMES.length];
		for (int i = 0; i < named.length; i++)
			(named[i] = new Thread(ThreadStorm::busy, NAMES[i])).start();
		for (int i = 0; i < threads; i += 50) {
			Thread[] t = new Thread[50];
			for (int j = 0; j < t.length; j++)
				(t[j] = new Thread(ThreadStorm::brief)).start();
			for (Thread x : t)
				x.join();
		}
		for (Thread t : named)
			t.join();
		System.out.println("{\"allocations\":" + COUNT.get() + "}");
	}
}
