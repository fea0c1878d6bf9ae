// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

/*
 * Runs phases with a known truth: each works on one array and takes a known share of CPU time.
 * Usage: java -agentpath:libsample_agent.so SampleTruth LIBRARY REPORT [SECONDS]
 * Prints truth and sampled share per array, and exits with 1 where they are 2.5 points apart or
 * more than 3% of the samples in Java code have no address.
 */
final class SampleTruth {
	static final class Node {
		Node next;
		long value, p1, p2, p3;
	}

	static final String[] NAMES = { "random", "stream", "chase", "write", "cached", "copy", "objects", "search" };
	static Node[] nodes;

	static long random(int[] a, int n, int seed) {
		long sum = 0;
		int x = seed;
		for (int i = 0; i < n; i++) {
			x = x * 1664525 + 1013904223;
			sum += a[(x >>> 4) & (a.length - 1)]; // LOAD random
		}
		return sum;
	}

	static long stream(long[] a) {
		long sum = 0;
		for (int i = 0; i < a.length; i++)
			sum += a[i]; // LOAD stream
		return sum;
	}

	static int chase(int[] a, int n, int p) {
		for (int i = 0; i < n; i++)
			p = a[p]; // LOAD chase
		return p;
	}

	static long write(byte[] a, int n, int seed) {
		int x = seed;
		for (int i = 0; i < n; i++) {
			x = x * 1664525 + 1013904223;
			a[(x >>> 3) & (a.length - 1)] += 1; // LOAD write
		}
		return x;
	}

	static int cached(int[] a, int n) {
		int h = 0;
		for (int k = 0; k < n; k++)
			for (int i = 0; i < a.length; i++)
				h = h * 31 + a[i]; // LOAD cached
		return h;
	}

	static void copy(long[] from, long[] to) {
		System.arraycopy(from, 0, to, 0, from.length); // LOAD copy
	}

	static long objects(Object[] a, int n, int seed) {
		long sum = 0;
		int x = seed;
		for (int i = 0; i < n; i++) {
			x = x * 1664525 + 1013904223;
			if (a[(x >>> 4) & (a.length - 1)] != null) // LOAD objects
				sum++;
		}
		return sum;
	}

	/* A load that decides a branch: the sample lands where the branch led. */
	static long search(int[] a, int n, int seed) {
		long sum = 0;
		int x = seed;
		for (int i = 0; i < n; i++) {
			x = x * 1664525 + 1013904223;
			int key = x >>> 9, low = 0, high = a.length - 1;
			while (low < high) {
				int middle = (low + high) >>> 1;
				if (a[middle] < key) // LOAD search
					low = middle + 1;
				else
					high = middle;
			}
			sum += low;
		}
		return sum;
	}

	static final ThreadMXBean MX = ManagementFactory.getThreadMXBean();
	static final long[] spent = new long[NAMES.length];
	static long sink;

	static int[] permutation(int len) {
		int[] a = new int[len];
		Random r = new Random(1);
		for (int i = 0; i < len; i++)
			a[i] = i;
		for (int i = len - 1; i > 0; i--) {
			int j = r.nextInt(i), t = a[i];
			a[i] = a[j];
			a[j] = t;
		}
		return a;
	}

	static int[] big = new int[1 << 25];
	static long[] seq = new long[1 << 21];
	static int[] perm = permutation(1 << 23);
	static byte[] bytes = new byte[1 << 26];
	static int[] small = new int[2048];
	static long[] source = new long[1 << 21];
	static long[] target = new long[1 << 21];
	static Object[] boxes = new Object[1 << 23];
	static int[] sorted = new int[1 << 23];

	static void round(int k, int scale) {
		long t = MX.getCurrentThreadCpuTime();
		sink += random(big, 60000 * scale, k);
		t = mark(0, t);
		for (int i = 0; i < scale / 2; i++)
			sink += stream(seq);
		t = mark(1, t);
		sink += chase(perm, 15000 * scale, k);
		t = mark(2, t);
		sink += write(bytes, 60000 * scale, k);
		t = mark(3, t);
		sink += cached(small, 50 * scale);
		t = mark(4, t);
		for (int i = 0; i < scale / 4; i++)
			copy(source, target);
		t = mark(5, t);
		sink += objects(boxes, 60000 * scale, k);
		t = mark(6, t);
		sink += search(sorted, 4000 * scale, k);
		mark(7, t);
	}

	static long mark(int phase, long since) {
		long now = MX.getCurrentThreadCpuTime();
		spent[phase] += now - since;
		return now;
	}

	public static void main(String[] args) throws Exception {
		System.load(args[0]);
		double seconds = args.length > 2 ? Double.parseDouble(args[2]) : 10;
		for (int i = 0; i < boxes.length; i++)
			boxes[i] = args;
		for (int i = 0; i < sorted.length; i++)
			sorted[i] = i;
		System.gc();
		System.gc();
		for (int k = 0; k < 40; k++)
			round(k, 4);
		for (int k = 0; k < 20000; k++) // or the copy runs interpreted, inside the JVM
			copy(new long[8], new long[8]);
		SampleAgent.watch(big, "random");
		SampleAgent.watch(seq, "stream");
		SampleAgent.watch(perm, "chase");
		SampleAgent.watch(bytes, "write");
		SampleAgent.watch(small, "cached");
		SampleAgent.watch(source, "copy");
		SampleAgent.watch(target, "copy_to");
		SampleAgent.watch(boxes, "objects");
		SampleAgent.watch(sorted, "search");
		java.util.Arrays.fill(spent, 0);
		SampleAgent.start();
		long end = System.nanoTime() + (long) (seconds * 1e9);
		for (int k = 0; System.nanoTime() < end; k++)
			round(k, 8);
		SampleAgent.stop();
		SampleAgent.report(args[1]);
		System.exit(compare(args[1]) ? 0 : 1);
	}

	static boolean compare(String file) throws Exception {
		Map<String, Long> counts = new HashMap<>();
		for (String line : Files.readAllLines(Path.of(file))) {
			String[] parts = line.split(" ");
			if (parts.length == 2)
				counts.put(parts[0], Long.parseLong(parts[1]));
		}
		double time = 0, total = counts.get("total");
		long java = 0, unknown = 0;
		boolean good = true;
		for (long s : spent)
			time += s;
		for (int i = 0; i < NAMES.length; i++) {
			long n = counts.get("watched." + NAMES[i]);
			if (NAMES[i].equals("copy"))
				n += counts.get("watched.copy_to");
			double truth = 100 * spent[i] / time, share = 100 * n / total;
			boolean close = Math.abs(truth - share) < 2.5;
			good &= close;
			System.out.printf("%-8s truth %5.1f%% sampled %5.1f%%%s%n", NAMES[i], truth, share,
					close ? "" : "  FAILED");
		}
		for (Map.Entry<String, Long> e : counts.entrySet())
			if (e.getKey().startsWith("how.compiled.") || e.getKey().startsWith("how.stub.")) {
				java += e.getValue();
				if (e.getKey().matches(".*(no_operand|destroyed|undecoded)"))
					unknown += e.getValue();
			}
		System.out.printf("samples %.0f, in Java code %d, without address %d (%.2f%%)%n", total, java,
				unknown, 100.0 * unknown / java);
		return good && unknown <= 0.03 * java;
	}
}
