import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Random;

/*
 * KnownShares SEED SECONDS [allocate]: reads four arrays, each in a share of the CPU time that follows from the seed, in blocks that
 * take turns at random. With "allocate" another thread makes arrays meanwhile, so that Locus costs more than a small
 * budget. Prints {"line": ns of CPU time, ...}: what the reads of each array took by the thread's clock.
 */
public final class KnownShares {
	static final int INTS = 1 << 20;
	static long sink;

	/* Each of another line, so that each is a row of the report. */
	static int[][] arrays() {
		int[] a = new int[INTS]; // site: a
		int[] b = new int[INTS]; // site: b
		int[] c = new int[INTS]; // site: c
		int[] d = new int[INTS]; // site: d
		return new int[][] { a, b, c, d };
	}

	static long read(int[] a, int from) {
		long sum = 0;
		for (int i = 0; i < 40000; i++)
			sum += a[from = from * 1103515245 + 12345 & INTS - 1];
		return sum;
	}

	static void allocate() {
		Object[] kept = new Object[64];
		for (int i = 0;; i++)
			kept[i & 63] = new byte[1024]; // each is counted by a hook
	}

	public static void main(String[] args) {
		if (args.length > 2) {
			Thread other = new Thread(KnownShares::allocate);
			other.setDaemon(true);
			other.start();
		}
		Random random = new Random(Long.parseLong(args[0]));
		ThreadMXBean bean = ManagementFactory.getThreadMXBean();
		int[][] arrays = arrays();
		double[] until = new double[4];
		for (int i = 0; i < 4; i++)
			until[i] = (i == 0 ? 0 : until[i - 1]) + 0.05 + random.nextDouble();
		long[] ns = new long[4];
		long end = System.nanoTime() + (long) (Double.parseDouble(args[1]) * 1e9), last = bean.getCurrentThreadCpuTime();
		while (System.nanoTime() < end) {
			double x = random.nextDouble() * until[3];
			int k = 0;
			while (until[k] < x)
				k++;
			sink += read(arrays[k], random.nextInt());
			long now = bean.getCurrentThreadCpuTime();
			ns[k] += now - last;
			last = now;
		}
		System.out.println("{\"a\": " + ns[0] + ", \"b\": " + ns[1] + ", \"c\": " + ns[2] + ", \"d\": " + ns[3] + "}");
	}
}
