import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/*
 * Reads boxed numbers that were made at the start, until a line on standard input; then makes more at
 * two lines, and reads all of them for known parts of the CPU time. With -Dhot.arrays=true the boxes
 * are arrays of one long.
 *
 * Usage: HotTracked BOXES CPU_SECONDS [idle|short]
 *
 * "ready" on standard output says that the first numbers are there. Class Late, which makes some of
 * the later numbers, is loaded behind the line. With "idle" it reads nothing until the line; with
 * "short" it ends without reading. It prints one line of JSON: CPU nanoseconds of the reads of each
 * kind, and how many numbers each method made.
 */
public final class HotTracked {
	static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
	static final String[] NAMES = {"early", "one", "two"};
	static final int[] PERCENT = {30, 45, 25};
	static final long[] ns = new long[NAMES.length], made = new long[NAMES.length];
	static long sum;

	static final boolean ARRAYS = Boolean.getBoolean("hot.arrays");

	static final class Late {
		static Object two(int i) { made[2]++; return ARRAYS ? new long[] {i} : (Object) Long.valueOf(i + 2_000_000L); }
	}

	static Object early(int i) { made[0]++; return ARRAYS ? new long[] {i} : (Object) Long.valueOf(i + 1_000_000L); }
	static Object one(int i) { made[1]++; return ARRAYS ? new long[] {i} : (Object) Long.valueOf(i + 1_500_000L); }

	static Object make(int kind, int i) {
		switch (kind) {
		case 0: return early(i);
		case 1: return one(i);
		default: return Late.two(i);
		}
	}

	/* Numbers in random order. */
	static Object[] boxes(int kind, int len) {
		Object[] all = new Object[len];
		int seed = 12345;
		for (int i = 0; i < len; i++)
			all[i] = make(kind, i);
		for (int i = len - 1; i > 0; i--) {
			seed = seed * 1664525 + 1013904223;
			int j = (seed >>> 1) % i;
			Object t = all[i];
			all[i] = all[j];
			all[j] = t;
		}
		return all;
	}

	static long read(Object[] boxes, int from) {
		long total = 0;
		for (int i = 0; i < 20_000; i++) {
			Object box = boxes[(from + i) % boxes.length];
			total += ARRAYS ? ((long[]) box)[0] : (Long) box;
		}
		return total;
	}

	static void readFor(int kind, Object[] boxes, long goal) {
		long t0 = THREADS.getCurrentThreadCpuTime(), before = ns[kind];
		for (int from = 0; ns[kind] < goal; from += 20_000) {
			sum += read(boxes, from & 0x3fffffff);
			ns[kind] = before + (THREADS.getCurrentThreadCpuTime() - t0);
		}
	}

	public static void main(String[] args) throws Exception {
		int len = Integer.parseInt(args[0]);
		long quota = (long) (Double.parseDouble(args[1]) * 1e9);
		String mode = args.length > 2 ? args[2] : "";
		Object[][] boxes = new Object[NAMES.length][];
		boxes[0] = boxes(0, len);
		System.out.println("ready");
		if (mode.equals("short"))
			return;
		long end = System.nanoTime() + 300_000_000_000L; /* whoever reads our output may be gone */
		for (int from = 0; !mode.equals("idle") && System.in.available() == 0 && System.nanoTime() < end; from += 20_000)
			sum += read(boxes[0], from & 0x3fffffff);
		System.in.read();
		for (int kind = 1; kind < NAMES.length; kind++)
			boxes[kind] = boxes(kind, len / 2);
		for (int round = 1; round <= 10; round++)
			for (int kind = 0; kind < NAMES.length; kind++)
				readFor(kind, boxes[kind], quota * PERCENT[kind] / 100 * round / 10);
		StringBuilder out = new StringBuilder();
		for (int kind = 0; kind < NAMES.length; kind++)
			out.append(kind > 0 ? ",\"" : "\"").append(NAMES[kind]).append("\":{\"ns\":").append(ns[kind])
					.append(",\"made\":").append(made[kind]).append("}");
		System.out.println("{" + out + "}");
	}
}
