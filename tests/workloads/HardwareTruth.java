import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/*
 * Runs phases whose memory accesses a hardware engine must find: each reads or writes the array of one site only.
 *
 * Usage: HardwareTruth CPU_SECONDS_PER_PHASE
 *
 * far reads 256 MiB in a random cycle, so nearly each read misses all caches and the TLB. near reads 8 KiB, which
 * stay in the first cache. store writes 256 MiB in a random order. The sites are the methods newFar, newNear and
 * newStore. Prints one line of JSON: of each phase the accesses and the CPU time. With 0 seconds it ends at once.
 */
public final class HardwareTruth {
	static final int FAR_INTS = 64 << 20, NEAR_INTS = 2 << 10, STEPS = 1 << 20;
	static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
	static volatile long sink;

	interface Phase {
		int run(int[] array, int at);
	}

	static int[] newFar() { return new int[FAR_INTS]; }
	static int[] newNear() { return new int[NEAR_INTS]; }
	static int[] newStore() { return new int[FAR_INTS]; }

	/* The next of a cycle through all numbers below a power of two: the step is odd and far from its neighbours. */
	static void link(int[] array) {
		int mask = array.length - 1;
		for (int i = 0, at = 0; i < array.length; i++) {
			int next = (int) (at * 1_664_525L + 1_013_904_223L) & mask;
			array[at] = next;
			at = next;
		}
	}

	static int far(int[] array, int at) {
		for (int i = 0; i < STEPS; i++)
			at = array[at];
		return at;
	}

	static int near(int[] array, int at) {
		for (int i = 0; i < STEPS; i++)
			at = array[at];
		return at;
	}

	static int store(int[] array, int at) {
		int mask = array.length - 1;
		for (int i = 0; i < STEPS; i++) {
			at = (int) (at * 1_664_525L + 1_013_904_223L) & mask;
			array[at] = i;
		}
		return at;
	}

	/* Runs a phase for so much CPU time; returns what there is to say of it. */
	static String run(String name, int[] array, long ns, Phase phase) {
		long start = THREADS.getCurrentThreadCpuTime(), accesses = 0, took;
		int at = 0;
		do {
			at = phase.run(array, at);
			accesses += STEPS;
			took = THREADS.getCurrentThreadCpuTime() - start;
		} while (took < ns);
		sink += at;
		return "\"" + name + "\": {\"accesses\": " + accesses + ", \"cpu_ns\": " + took + "}";
	}

	public static void main(String[] args) {
		long ns = (long) (Double.parseDouble(args[0]) * 1e9);
		if (ns == 0)
			return;
		int[] far = newFar(), near = newNear(), store = newStore();
		link(far);
		link(near);
		System.out.println("{" + run("far", far, ns, HardwareTruth::far) + ", " + run("near", near, ns, HardwareTruth::near)
				+ ", " + run("store", store, ns, HardwareTruth::store) + "}");
	}
}
