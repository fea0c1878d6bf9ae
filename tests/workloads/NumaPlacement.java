import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/*
 * Reads arrays, whose pages lie on known NUMA nodes, by threads on known nodes.
 *
 * Usage: java -Dnative=LIBRARY NumaPlacement MODE [SECONDS_PER_PHASE [LONGS]]
 *
 * master       node 0 allocates and fills an array; the other nodes read their part of it
 * parallel     each node allocates, fills and reads a row of its own
 * interleaved  as master, to be run below `numactl --interleave=all`; at a site of its own
 * gc           node 0 allocates and fills; node 1 reads, the collector, which runs on node 1, moves the
 *              array, and node 1 reads on
 *
 * The JVM zeroes what it allocates, so the allocating thread is the first to touch a page. A young
 * generation of some three times the array keeps collections away that nobody asked for; `gc` needs an
 * initial heap (-Xms) whose old generation holds the array.
 *
 * Prints one line of JSON: the accesses of Java code as a matrix, accesses[node of the
 * thread][node of the page], as counted from the loops and from where the kernel says that the
 * pages are, before and after; what cannot be said for sure is in "unknown". "cpu_ns" is the same matrix
 * with the CPU time that the loops took, spread evenly over what they accessed. Zeroing by the JVM is not
 * counted.
 */
public final class NumaPlacement {
	static final int NODES = nodes();
	/* At least: however slow the machine is, the stores that fill the array are then few beside. */
	static final int PASSES = 40;

	static native void pin(int node);
	static native int pinCollector(int node);
	static native int node();
	static native long cpuNs();
	static native long locate(long[] array, int from, int to, long[] count);

	/* The sites, by mode. */
	static long[] newMaster(int longs) { return new long[longs]; } // site: master
	static long[] newParallel(int longs) { return new long[longs]; } // site: parallel
	static long[] newInterleaved(int longs) { return new long[longs]; } // site: interleaved
	static long[] newGc(int longs) { return new long[longs]; } // site: gc

	static void fill(long[] a) {
		for (int i = 0; i < a.length; i++)
			a[i] = i; // access: fill
	}

	static long read(long[] a, int from, int to) {
		long sum = 0;
		for (int i = from; i < to; i++)
			sum += a[i]; // access: read
		return sum;
	}

	/* So that the loops are compiled before they count: an interpreted one takes as long as a hundred. */
	static void warmUp() {
		long[] small = new long[256];
		for (int i = 0; i < 4000; i++) {
			fill(small);
			small[0] += read(small, 0, small.length);
		}
	}

	static int nodes() {
		int n = 0;
		while (new java.io.File("/sys/devices/system/node/node" + n).exists())
			n++;
		return n;
	}

	/* The work of the threads of one phase. */
	static final class Phase {
		final String name;
		final long[][] accesses = new long[NODES][NODES];
		final double[][] spentNs = new double[NODES][NODES];
		final long[] elements = new long[NODES];
		long unknown, passes, sum, address;

		Phase(String name) { this.name = name; }

		synchronized void add(int node, long[] before, long[] after, long times, long sum, long ns) {
			long all = Arrays.stream(after).sum();
			boolean sure = node == node() && Arrays.equals(before, after);
			for (int n = 0; n < NODES; n++) {
				elements[n] += after[n];
				if (sure) {
					accesses[node][n] += times * after[n];
					spentNs[node][n] += (double) ns * after[n] / all;
				} else {
					unknown += times * after[n];
				}
			}
			unknown += times * after[NODES];
			passes += times;
			this.sum += sum;
		}

		long[] where(long[] a, int from, int to) {
			long[] count = new long[NODES + 1];
			address = locate(a, from, to, count);
			return count;
		}

		void filled(int node, long[] a) {
			long begin = cpuNs();
			fill(a);
			long ns = cpuNs() - begin;
			long[] where = where(a, 0, a.length);
			add(node, where, where, 1, 0, ns);
		}

		void readUntil(int node, long[] a, int from, int to, long untilNs) {
			long[] before = where(a, from, to);
			long times = 0, sum = 0, begin = cpuNs();
			do {
				sum += read(a, from, to);
				times++;
			} while (times < PASSES || System.nanoTime() < untilNs);
			long ns = cpuNs() - begin;
			add(node, before, where(a, from, to), times, sum, ns);
		}

		String json() {
			return String.format("{\"name\": \"%s\", \"address\": %d, \"accesses\": %s, \"elements\": %s, \"unknown\": %d,"
				+ " \"passes\": %d, \"remote_share\": %s, \"cpu_ns\": %s}", name, address,
				Arrays.deepToString(accesses), Arrays.toString(elements), unknown, passes,
				remoteShare(accesses), Arrays.deepToString(spentNs));
		}
	}

	static String remoteShare(long[][] accesses) {
		long local = 0, all = 0;
		for (int t = 0; t < NODES; t++) {
			local += accesses[t][t];
			for (long n : accesses[t])
				all += n;
		}
		return all == 0 ? "null" : String.format("%.6f", 1 - (double) local / all);
	}

	interface Job {
		void run(int node);
	}

	/* Run a job on one thread for each node from `first` to `last`, pinned there. */
	static void onNodes(String name, int first, int last, Job job) throws InterruptedException {
		List<Thread> threads = new ArrayList<>();
		List<Throwable> failures = new ArrayList<>();
		for (int n = first; n <= last; n++) {
			int node = n;
			Thread t = new Thread(() -> {
				pin(node);
				job.run(node);
			}, name + "-" + node);
			t.setUncaughtExceptionHandler((thread, failure) -> {
				synchronized (failures) {
					failures.add(failure);
				}
			});
			threads.add(t);
			t.start();
		}
		for (Thread t : threads)
			t.join();
		if (!failures.isEmpty())
			throw new IllegalStateException(failures.get(0));
	}

	static long end(double seconds) { return System.nanoTime() + (long) (seconds * 1e9); }

	/* Readers from `first` to `last` share the array. */
	static Phase readShared(String name, long[] a, int first, int last, double seconds) throws InterruptedException {
		Phase phase = new Phase(name);
		long untilNs = end(seconds);
		int readers = last - first + 1;
		onNodes("reader", first, last, node -> {
			int i = node - first;
			phase.readUntil(node, a, (int) ((long) a.length * i / readers),
				(int) ((long) a.length * (i + 1) / readers), untilNs);
		});
		return phase;
	}

	public static void main(String[] args) throws Exception {
		System.load(System.getProperty("native"));
		String mode = args[0];
		double seconds = args.length > 1 ? Double.parseDouble(args[1]) : 3;
		int longs = args.length > 2 ? Integer.parseInt(args[2]) : 2 << 20;
		List<Phase> phases = new ArrayList<>();
		Phase init = new Phase("init");
		long[][] rows = new long[NODES][];

		warmUp();
		phases.add(init);
		if (mode.equals("parallel")) {
			onNodes("first", 0, NODES - 1, node -> {
				rows[node] = newParallel(longs / NODES);
				init.filled(node, rows[node]);
			});
			Phase phase = new Phase("read");
			long untilNs = end(seconds);
			onNodes("reader", 0, NODES - 1,
				node -> phase.readUntil(node, rows[node], 0, rows[node].length, untilNs));
			phases.add(phase);
		} else {
			onNodes("master", 0, 0, node -> {
				rows[0] = mode.equals("gc") ? newGc(longs)
					: mode.equals("interleaved") ? newInterleaved(longs) : newMaster(longs);
				init.filled(node, rows[0]);
			});
			switch (mode) {
			case "master":
			case "interleaved":
				phases.add(readShared("read", rows[0], 1, NODES - 1, seconds));
				break;
			case "gc":
				phases.add(readShared("before", rows[0], 1, 1, seconds));
				if (pinCollector(1) == 0)
					throw new IllegalStateException("no collector thread found");
				System.gc();
				phases.add(readShared("after", rows[0], 1, 1, seconds));
				break;
			default:
				throw new IllegalArgumentException(mode);
			}
		}

		long[][] accesses = new long[NODES][NODES];
		long unknown = 0;
		List<String> json = new ArrayList<>();
		for (Phase p : phases) {
			for (int t = 0; t < NODES; t++)
				for (int n = 0; n < NODES; n++)
					accesses[t][n] += p.accesses[t][n];
			unknown += p.unknown;
			json.add(p.json());
		}
		System.out.println(String.format("{\"mode\": \"%s\", \"nodes\": %d, \"longs\": %d, \"accesses\": %s,"
			+ " \"unknown\": %d, \"remote_share\": %s, \"phases\": %s}", mode, NODES, longs,
			Arrays.deepToString(accesses), unknown, remoteShare(accesses), json));
	}
}
