import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/*
 * Runs virtual threads that allocate, park and go on, perhaps on another carrier. JDK 21 or newer.
 *
 * Usage: VirtualThreads THREADS
 *
 * Prints one line of JSON: what virtualAllocate() allocated in all.
 */
public final class VirtualThreads {
	static final AtomicLong COUNT = new AtomicLong();
	static volatile Object sink;
	static volatile long sum;

	static int[] virtualAllocate(int n) {
		COUNT.incrementAndGet();
		return new int[n];
	}

	static void body() {
		try {
			for (int i = 0; i < 4; i++) {
				int[] a = virtualAllocate(1000 + i);
				Thread.sleep(1);
				for (int k = 0; k < 20_000; k++)
					sum += a[k % a.length];
				sink = a;
			}
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		int threads = Integer.parseInt(args[0]);
		List<Thread> all = new ArrayList<>();
		for (int i = 0; i < threads; i++)
			all.add(Thread.ofVirtual().name("virtual-" + i).start(VirtualThreads::body));
		for (Thread t : all)
			t.join();
		System.out.println("{\"allocations\":" + COUNT.get() + "}");
	}
}
