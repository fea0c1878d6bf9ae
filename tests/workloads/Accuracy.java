import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;

/*
 * Runs phases of known CPU time over arrays of known sites, while garbage makes the arrays move.
 *
 * Usage: Accuracy THREADS CPU_SECONDS_PER_THREAD
 *
 * Each phase touches only the array of its own site, and a site is named after its phase by the
 * method that allocates (newChase, ...). The truth, CPU nanoseconds of all threads, is printed as
 * one line of JSON. Filling an array counts as its phase, allocating it does not: a large array
 * is zeroed by the JVM, not by Java code. Churn touches its small arrays mostly while zeroing
 * them, so its time is in the total, but it is no phase with a truth of its own.
 */
public final class Accuracy {
	static final int CHASE = 0, RANDOM = 1, STREAM = 2, WRITE = 3, CACHE = 4, PHASES = 5;
	static final String[] NAMES = {"Chase", "Random", "Stream", "Write", "Cache"};
	static final int[] PERCENT = {30, 24, 20, 14, 12};
	static final long ROUND_NS = 400_000_000L;
	static final long CHURN_NS = 16_000_000L;
	static final int CHASE_INTS = 2 << 20, RANDOM_INTS = 1 << 20, STREAM_LONGS = 1 << 18;
	static final int WRITE_BYTES = 4 << 20, CACHE_INTS = 4096;

	static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
	static volatile long sink;

	static int[] newChase() { return new int[CHASE_INTS]; }
	static int[] newRandom() { return new int[RANDOM_INTS]; }
	static long[] newStream() { return new long[STREAM_LONGS]; }
	static byte[] newWrite() { return new byte[WRITE_BYTES]; }
	static int[] newCache() { return new int[CACHE_INTS]; }
	static byte[] newChurn(int n) { return new byte[n]; }

	static long cpu() { return THREADS.getCurrentThreadCpuTime(); }

	/* One cycle through all elements (Sattolo), made inside the array itself. */
	static void fillChase(int[] a, long seed) {
		for (int i = 0; i < a.length; i++)
			a[i] = i;
		for (int i = a.length - 1; i > 0; i--) {
			seed = seed * 6364136223846793005L + 1442695040888963407L;
			int j = (int) ((seed >>> 33) % i);
			int t = a[i];
			a[i] = a[j];
			a[j] = t;
		}
	}

	static int chase(int[] a, int at, int steps) {
		for (int i = 0; i < steps; i++)
			at = a[at];
		return at;
	}

	/*
	 * The next of a row of random numbers. Not a linear one: of that, a compiler computes 64
	 * steps ahead in one go, and the phase has stretches without an access to its array.
	 */
	static int next(int x) {
		x ^= x << 13;
		x ^= x >>> 17;
		return x ^ x << 5;
	}

	static int random(int[] a, int x, int steps) {
		int mask = a.length - 1, sum = 0;
		for (int i = 0; i < steps; i++) {
			x = next(x);
			sum += a[x >>> 8 & mask];
		}
		return x ^ sum & 2 | 1; // 0 would stay 0 in next()
	}

	static long stream(long[] a) {
		long sum = 0;
		for (int i = 0; i < a.length; i++)
			sum += a[i];
		return sum;
	}

	static int write(byte[] a, int x, int steps) {
		int mask = a.length - 1;
		for (int i = 0; i < steps; i++) {
			x = next(x);
			a[x >>> 8 & mask] = (byte) i;
		}
		return x;
	}

	static int cache(int[] a, int x, int passes) {
		int mask = a.length - 1;
		for (int p = 0; p < passes; p++)
			for (int i = 0; i < a.length; i++) {
				a[i] += a[i + 64 & mask] ^ x;
				a[i * 5 & mask] += a[i];
			}
		return x + a[0];
	}

	static final class Worker extends Thread {
		final long quotaNs;
		final boolean collects;
		final long[] phaseNs = new long[PHASES];
		final byte[][] ring = new byte[512][];
		int[] chase, random, cache;
		long[] stream;
		byte[] write;
		int x = 12345, at;
		long churnNs, totalNs;

		Worker(int number, long quotaNs, boolean collects) {
			super("worker-" + number);
			this.quotaNs = quotaNs;
			this.collects = collects;
		}

		/* Replace the array of a phase: the new one is young and will move. */
		void replace(int phase) {
			switch (phase) {
			case CHASE: chase = newChase(); break;
			case RANDOM: random = newRandom(); break;
			case STREAM: stream = newStream(); break;
			case WRITE: write = newWrite(); break;
			default: cache = newCache();
			}
			long t0 = cpu();
			if (phase == CHASE) {
				fillChase(chase, x | 1);
				at = 0;
			}
			phaseNs[phase] += cpu() - t0;
		}

		void step(int phase) {
			switch (phase) {
			case CHASE: at = chase(chase, at, 8_000); break;
			case RANDOM: x = random(random, x, 60_000); break;
			case STREAM: sink += stream(stream); break;
			case WRITE: x = write(write, x, 60_000); break;
			default: x = cache(cache, x, 20) | 1;
			}
		}

		/* Stay in a phase until it has had its part of the rounds so far. */
		void phase(int phase, int rounds) {
			long goal = ROUND_NS * PERCENT[phase] / 100 * rounds;
			long t0 = cpu(), before = phaseNs[phase];
			while (phaseNs[phase] < goal) {
				/* The clock takes time that no array has; a busy machine exchanges threads there. */
				for (int i = 0; i < 8; i++)
					step(phase);
				phaseNs[phase] = before + (cpu() - t0);
			}
		}

		void churn(int rounds) {
			long t0 = cpu(), before = churnNs;
			while (churnNs < CHURN_NS * rounds) {
				for (int i = 0; i < 20; i++) {
					x = x * 1664525 + 1013904223;
					byte[] b = newChurn(1024 + (x >>> 20));
					b[i] = 1;
					if ((x >>> 8 & 7) == 0)
						ring[x >>> 11 & 511] = b;
				}
				churnNs = before + (cpu() - t0);
			}
		}

		@Override
		public void run() {
			for (int p = 0; p < PHASES; p++)
				replace(p);
			for (int round = 1; cpu() < quotaNs; round++) {
				churn(round);
				replace(round % PHASES);
				churn(round);
				if (collects && round % 4 == 0)
					System.gc();
				for (int p = 0; p < PHASES; p++)
					phase(p, round);
			}
			totalNs = cpu();
		}
	}

	/* Have every loop compiled before it counts, on small arrays of another site. */
	static int[] newWarm() { return new int[65536]; }
	static long[] newWarmLongs() { return new long[65536]; }
	static byte[] newWarmBytes() { return new byte[65536]; }

	static void warmUp() {
		Worker w = new Worker(0, 0, false);
		w.chase = newWarm();
		w.random = newWarm();
		w.cache = newWarm();
		w.stream = newWarmLongs();
		w.write = newWarmBytes();
		fillChase(w.chase, 1);
		for (int p = 0; p < PHASES; p++)
			for (long end = cpu() + 120_000_000L; cpu() < end; )
				w.step(p);
		for (int i = 0; i < 20; i++)
			fillChase(w.chase, i);
	}

	public static void main(String[] args) throws Exception {
		int threads = Integer.parseInt(args[0]);
		long quotaNs = (long) (Double.parseDouble(args[1]) * 1e9);
		long main0 = cpu();
		warmUp();
		List<Worker> workers = new ArrayList<>();
		for (int i = 1; i <= threads; i++)
			workers.add(new Worker(i, quotaNs, i == 1));
		for (Worker w : workers)
			w.start();
		long[] phaseNs = new long[PHASES];
		long totalNs = 0;
		for (Worker w : workers) {
			w.join();
			totalNs += w.totalNs;
			for (int p = 0; p < PHASES; p++)
				phaseNs[p] += w.phaseNs[p];
		}
		totalNs += cpu() - main0;
		long gcs = 0;
		for (GarbageCollectorMXBean b : ManagementFactory.getGarbageCollectorMXBeans())
			gcs += b.getCollectionCount();
		StringBuilder out = new StringBuilder("{\"total_ns\":" + totalNs + ",\"gcs\":" + gcs
				+ ",\"phases_ns\":{");
		for (int p = 0; p < PHASES; p++)
			out.append(p > 0 ? "," : "").append("\"new" + NAMES[p] + "\":" + phaseNs[p]);
		System.out.println(out + "}}");
	}
}
