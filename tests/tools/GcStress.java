// SPDX-License-Identifier: Apache-2.0
import java.util.Random;

/*
 * Lets many tables refer to the same arrays, so that several collector threads find one array at once.
 *
 * Usage: GcStress SECONDS LIVE_MEGABYTES THREADS FULL_MILLISECONDS
 *
 * Live arrays of 1 KB to 8 KB, some of 100 KB to 3 MB (humongous for G1, and across the 512 KiB
 * regions of Parallel), between them small objects of every size, most of them short-lived. Every
 * FULL_MILLISECONDS (0: never) a System.gc(). When the heap is exhausted, half of it is let go.
 */
public final class GcStress {
	static final Object[][] tables = new Object[64][];
	static volatile boolean stop;
	static volatile long outOfMemory, made;

	static Object make(Random r) {
		int k = r.nextInt(1000);
		if (k < 500)
			return new byte[r.nextInt(120)];
		if (k < 700)
			return new byte[1008 + r.nextInt(7000)];
		if (k < 850)
			return new long[126 + r.nextInt(900)];
		if (k < 990)
			return new Object[252 + r.nextInt(1500)];
		if (k < 999)
			return new int[1000 + r.nextInt(50_000)];
		return new byte[600_000 + r.nextInt(2_500_000)];
	}

	static void churn(int seed, int slots) {
		Random r = new Random(seed);
		while (!stop) {
			try {
				for (int i = 0; i < 1000; i++) {
					Object o = make(r);
					made++;
					if (r.nextInt(4) != 0)
						continue;
					int slot = r.nextInt(slots);
					/* a table's entry is shared by all; entries die together */
					for (int t = 0; t < tables.length; t++)
						tables[t][slot] = o;
				}
				if (r.nextInt(200) == 0)
					clear(r, slots);
			} catch (OutOfMemoryError e) {
				outOfMemory++;
				clear(r, slots);
			}
		}
	}

	static void clear(Random r, int slots) {
		int from = r.nextInt(slots);
		for (int i = 0; i < slots / 2; i++)
			for (Object[] t : tables)
				t[(from + i) % slots] = null;
	}

	public static void main(String[] args) throws Exception {
		long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
		int slots = (int) (Long.parseLong(args[1]) * (1 << 20) / 5800);
		long full = Long.parseLong(args[3]);
		Thread[] threads = new Thread[Integer.parseInt(args[2])];
		for (int i = 0; i < tables.length; i++)
			tables[i] = new Object[slots];
		for (int i = 0; i < threads.length; i++) {
			int seed = i;
			threads[i] = new Thread(() -> churn(seed, slots));
			threads[i].start();
		}
		while (System.nanoTime() < end) {
			Thread.sleep(5);
			if (full != 0) {
				Thread.sleep(full);
				System.gc();
			}
		}
		stop = true;
		for (Thread t : threads)
			t.join();
		System.out.println("made " + made + " out of memory " + outOfMemory);
	}
}
