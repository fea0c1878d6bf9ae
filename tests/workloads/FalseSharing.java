import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/*
 * Lets two threads count, with one arrangement of their counters after the other. Only `adjacent` and
 * `objects` are false sharing.
 *
 * Usage: FalseSharing SECONDS_PER_PHASE
 *
 * An array is 8-aligned and no better, so a pair of neighbours may lie on both sides of the border
 * of two lines. Therefore each thread has four counters, and of those that take turns some pair
 * always shares a line. Opaque accesses are plain instructions that the JIT must not leave out.
 */
public final class FalseSharing {
	static final int LONGS = 512, FIRST = 64, COUNTERS = 4;
	static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);
	static final VarHandle COUNT;

	static final class Counter {
		long count;
	}

	static {
		try {
			COUNT = MethodHandles.lookup().findVarHandle(Counter.class, "count", long.class);
		} catch (ReflectiveOperationException e) {
			throw new ExceptionInInitializerError(e);
		}
	}

	/* The sites: named after their phase. */
	static long[] newAdjacent() { return new long[Integer.getInteger("longs", LONGS)]; }
	static long[] newPadded() { return new long[Integer.getInteger("longs", LONGS)]; }
	static long[] newSame() { return new long[Integer.getInteger("longs", LONGS)]; }
	static long[] newRead() { return new long[Integer.getInteger("longs", LONGS)]; }

	/* Increment elements at, at + step, .. COUNTERS of them. */
	static void increment(long[] a, int at, int step, long untilNs) {
		do {
			for (int i = 0; i < 1 << 14; i++)
				for (int k = 0; k < COUNTERS; k++) {
					int j = at + step * k;
					ELEMENT.setOpaque(a, j, (long) ELEMENT.getOpaque(a, j) + 1);
				}
		} while (System.nanoTime() < untilNs);
	}

	static long read(long[] a, int at, int step, long untilNs) {
		long sum = 0;
		do {
			for (int i = 0; i < 1 << 14; i++)
				for (int k = 0; k < COUNTERS; k++)
					sum += (long) ELEMENT.getOpaque(a, at + step * k);
		} while (System.nanoTime() < untilNs);
		return sum;
	}

	/* One counter for a while, then the other: of two in one loop the timer may see one alone. */
	static void count(Counter first, Counter second, long untilNs) {
		do {
			for (Counter counter : new Counter[] { first, second })
				for (int i = 0; i < 1 << 15; i++)
					COUNT.setOpaque(counter, (long) COUNT.getOpaque(counter) + 1);
		} while (System.nanoTime() < untilNs);
	}

	interface Part {
		void run(int thread, long untilNs);
	}

	static void phase(String name, long ns, Part part) throws InterruptedException {
		Thread[] threads = new Thread[2];
		for (int t = 0; t < threads.length; t++) {
			int number = t;
			threads[t] = new Thread(() -> part.run(number, System.nanoTime() + ns), name + "-" + t);
		}
		for (Thread t : threads)
			t.start();
		for (Thread t : threads)
			t.join();
	}

	public static void main(String[] args) throws InterruptedException {
		long ns = (long) (Double.parseDouble(args[0]) * 1e9);
		long[] adjacent = newAdjacent(), padded = newPadded(), same = newSame(), read = newRead();
		Counter[] counters = new Counter[2 * COUNTERS];
		long[] sums = new long[64];

		for (int i = 0; i < counters.length; i++)
			counters[i] = new Counter();
		/* 64, 66, 68, 70 and 65, 67, 69, 71. */
		phase("adjacent", ns, (t, until) -> increment(adjacent, FIRST + t, 2, until));
		/* 64 .. 67 and 96 .. 99: 256 bytes away. */
		phase("padded", ns, (t, until) -> increment(padded, FIRST + 32 * t, 1, until));
		/* One element, four times: shared, and truly so. */
		phase("same", ns, (t, until) -> increment(same, FIRST, 0, until));
		phase("read", ns, (t, until) -> sums[32 * t] = read(read, FIRST + t, 2, until));
		/* 24 bytes each, one behind the other: the middle two or their neighbours share a line. */
		phase("objects", ns, (t, until) -> count(counters[t], counters[t + 2], until));
		System.out.println("{\"false_sharing\": [\"newAdjacent\", \"FalseSharing$Counter\"], \"sum\": "
		                   + (adjacent[FIRST] + padded[FIRST] + same[FIRST] + sums[0] + counters[0].count) + "}");
	}
}
