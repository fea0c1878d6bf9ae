import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/**
 * Makes small objects at sites, in known numbers, for the estimates.
 *
 *   counts THREADS MIB   each thread allocates MIB of 16 to 912 byte objects at six sites
 *   bursts ROUNDS        a few MB in a second, then hundreds in as long, from two threads
 *   lives  ROUNDS        one site keeps all its objects, the other none, over collections
 *   split  SECONDS A B C random accesses to objects of one class from three sites, A, B and C thousand
 *   churn  MIB           allocates MIB of small objects and prints the CPU time
 */
public class SampledSites {
	/* Small classes of 16, 32 and 64 bytes with compressed class pointers. */
	static class Tiny { int a; }
	static class Node { int a, b, c, d, e; }
	static class Wide { long a, b, c, d, e, f; }

	static volatile Object sink;
	static volatile long result;

	static Object newTiny() { return new Tiny(); } // site: tiny
	static Object newNode() { return new Node(); } // site: node
	static Object newWide() { return new Wide(); } // site: wide
	static Object newSmall() { return new byte[112]; } // site: small
	static Object newMiddle() { return new byte[384]; } // site: middle
	static Object newLarge() { return new byte[896]; } // site: large

	static void counts(int threads, int mib) throws Exception {
		/* Per round: 8 tiny, 4 node, 2 wide, 2 small, 1 middle, 1 large: about 2 KB. */
		long rounds = ((long) mib << 20) / (8 * 16 + 4 * 32 + 2 * 64 + 2 * 128 + 400 + 912);
		Thread[] all = new Thread[threads];
		for (int i = 0; i < threads; i++) {
			all[i] = new Thread(() -> {
				for (long r = 0; r < rounds; r++) {
					for (int k = 0; k < 8; k++)
						sink = newTiny();
					for (int k = 0; k < 4; k++)
						sink = newNode();
					sink = newWide();
					sink = newWide();
					sink = newSmall();
					sink = newSmall();
					sink = newMiddle();
					sink = newLarge();
				}
			});
			all[i].start();
		}
		for (Thread t : all)
			t.join();
		long n = rounds * threads;
		System.out.println("{\"newTiny\":" + 8 * n + ",\"newNode\":" + 4 * n + ",\"newWide\":" + 2 * n
				+ ",\"newSmall\":" + 2 * n + ",\"newMiddle\":" + n + ",\"newLarge\":" + n + "}");
	}

	static void allocate(long rounds) {
		for (long r = 0; r < rounds; r++) {
			for (int k = 0; k < 8; k++)
				sink = newTiny();
			sink = newMiddle();
			sink = newLarge();
		}
	}

	static final long BURST = 300_000, CALM = 3_000, CALM_MS = 1_200;

	static void bursts(int times) throws Exception {
		long n = 0;
		for (int i = 0; i < times; i++) {
			for (int k = 0; k < 100; k++) {
				allocate(CALM / 100);
				Thread.sleep(CALM_MS / 100);
			}
			Thread second = new Thread(() -> allocate(BURST)); // it begins while the interval is short
			second.start();
			allocate(BURST);
			second.join();
			allocate(BURST);
			n += CALM + 3 * BURST;
		}
		System.out.println("{\"newTiny\":" + 8 * n + ",\"newMiddle\":" + n + ",\"newLarge\":" + n + "}");
	}

	static Node newKept() { return new Node(); }
	static Node newDropped() { return new Node(); }

	/* 2000 a step: a quarter of a million stay, as many die at once. */
	static void lives(int rounds) {
		Node[] kept = new Node[250_000];
		int at = 0;
		while (at < kept.length) {
			for (int i = 0; i < 2000 && at < kept.length; i++) {
				kept[at++] = newKept();
				sink = newDropped();
			}
		}
		for (int r = 0; r < rounds; r++)
			System.gc();
		long sum = 0;
		for (Node n : kept)
			sum += n.a;
		result = sum;
		System.out.println("{\"newKept\":" + at + ",\"newDropped\":" + at + ",\"gcs\":" + rounds + "}");
	}

	static Node fromA() { return new Node(); }
	static Node fromB() { return new Node(); }
	static Node fromC() { return new Node(); }

	/* Accesses at random over all three sites' objects, shuffled among one another. */
	static void split(double seconds, int a, int b, int c) {
		Node[] all = new Node[(a + b + c) * 1000];
		long x = 88172645463325252L;
		for (int i = 0; i < all.length; i++)
			all[i] = i % (a + b + c) < a ? fromA() : i % (a + b + c) < a + b ? fromB() : fromC();
		System.gc();
		long end = System.nanoTime() + (long) (seconds * 1e9), sum = 0;
		while (System.nanoTime() < end) {
			for (int k = 0; k < 100_000; k++) {
				x ^= x << 13;
				x ^= x >>> 7;
				x ^= x << 17;
				sum += all[(int) ((x >>> 1) % all.length)].c;
			}
		}
		result = sum;
		double total = a + b + c;
		System.out.println("{\"fromA\":" + a / total + ",\"fromB\":" + b / total + ",\"fromC\":" + c / total + "}");
	}

	static void churn(int mib) {
		for (int warm = 0; warm < 2; warm++) {
			long n = ((long) mib << 20) / 32 / (warm == 0 ? 8 : 1);
			long t0 = ManagementFactory.getThreadMXBean().isCurrentThreadCpuTimeSupported()
					? ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() : 0;
			for (long i = 0; i < n; i++)
				sink = newNode();
			if (warm == 1)
				System.out.println("{\"cpu_ns\":"
						+ (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - t0) + "}");
		}
	}

	public static void main(String[] args) throws Exception {
		switch (args[0]) {
		case "counts":
			counts(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
			break;
		case "bursts":
			bursts(Integer.parseInt(args[1]));
			break;
		case "lives":
			lives(Integer.parseInt(args[1]));
			break;
		case "split":
			split(Double.parseDouble(args[1]), Integer.parseInt(args[2]), Integer.parseInt(args[3]),
					Integer.parseInt(args[4]));
			break;
		default:
			churn(Integer.parseInt(args[1]));
		}
	}
}
