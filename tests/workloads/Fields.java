import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/*
 * Runs phases that touch one field of many small objects, or one part of a large array.
 *
 * Usage: Fields CPU_SECONDS
 *
 * Prints the CPU nanoseconds of each phase as a line of JSON. The phases over objects have one
 * shape, so that the fields' parts of the samples in class Node are their parts of the time.
 */
public final class Fields {
	static final int NODES = 1 << 17, ELEMENTS = 1 << 21;
	static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
	static volatile long sink;

	static class Base {
		long inherited;
	}

	static final class Node extends Base {
		long often;
		int never;
		byte small;
		int written;
		Node self;

		Node(int i) {
			inherited = i;
			often = i;
			self = this;
		}
	}

	/* The same name twice in one object: the report tells them apart. */
	static class Shadowed {
		long value;
	}

	static final class Shadowing extends Shadowed {
		long value;
	}

	static int[] newLower(int n) { return new int[n]; }
	static int[] newUpper(int n) { return new int[n]; }

	static int next(int x) {
		x ^= x << 13;
		x ^= x >>> 17;
		return x ^ x << 5;
	}

	static int readOften(Node[] nodes, int x, int steps) {
		long sum = 0;
		for (int i = 0; i < steps; i++) {
			x = next(x);
			sum += nodes[x >>> 8 & NODES - 1].often;
		}
		sink = sum;
		return x;
	}

	static int readInherited(Node[] nodes, int x, int steps) {
		long sum = 0;
		for (int i = 0; i < steps; i++) {
			x = next(x);
			sum += nodes[x >>> 8 & NODES - 1].inherited;
		}
		sink = sum;
		return x;
	}

	static int write(Node[] nodes, int x, int steps) {
		for (int i = 0; i < steps; i++) {
			x = next(x);
			nodes[x >>> 8 & NODES - 1].written = x;
		}
		return x;
	}

	/* Elements from .. from + mask. */
	static int readPart(int[] a, int from, int mask, int x, int steps) {
		int sum = 0;
		for (int i = 0; i < steps; i++) {
			x = next(x);
			sum += a[from + (x >>> 8 & mask)];
		}
		sink = sum;
		return x;
	}

	static int shadowing(Shadowing[] objects, int x, int steps) {
		long sum = 0;
		for (int i = 0; i < steps; i++) {
			x = next(x);
			sum += ((Shadowed) objects[x >>> 8 & NODES - 1]).value;
		}
		sink = sum;
		return x;
	}

	static long cpu() { return THREADS.getCurrentThreadCpuTime(); }

	interface Phase {
		int run(int x, int steps);
	}

	static int x = 12345;

	static long measure(Phase phase, long ns) {
		long begin = cpu();
		while (cpu() - begin < ns)
			x = phase.run(x, 1 << 16);
		return cpu() - begin;
	}

	public static void main(String[] args) {
		long ns = (long) (Double.parseDouble(args[0]) * 1e9);
		Node[] nodes = new Node[NODES];
		Shadowing[] shadowing = new Shadowing[NODES];
		int[] lower = newLower(ELEMENTS), upper = newUpper(ELEMENTS);
		long[] took = new long[6];

		for (int i = 0; i < NODES; i++) {
			nodes[i] = new Node(i);
			shadowing[i] = new Shadowing();
		}
		for (int round = 0; round < 4; round++) {
			took[0] += measure((x, n) -> readOften(nodes, x, n), ns / 4 * 30 / 100);
			took[1] += measure((x, n) -> readInherited(nodes, x, n), ns / 4 * 15 / 100);
			took[2] += measure((x, n) -> write(nodes, x, n), ns / 4 * 15 / 100);
			took[3] += measure((x, n) -> readPart(lower, 0, ELEMENTS / 2 - 1, x, n), ns / 4 * 15 / 100);
			took[4] += measure((x, n) -> readPart(upper, ELEMENTS / 4 * 3, ELEMENTS / 4 - 1, x, n),
			                   ns / 4 * 15 / 100);
			took[5] += measure((x, n) -> shadowing(shadowing, x, n), ns / 4 * 10 / 100);
		}
		System.out.printf("{\"often\": %d, \"inherited\": %d, \"written\": %d, \"lower\": %d, "
		                  + "\"upper\": %d, \"shadowed\": %d, \"elements\": %d}%n",
		                  took[0], took[1], took[2], took[3], took[4], took[5], ELEMENTS);
	}
}
