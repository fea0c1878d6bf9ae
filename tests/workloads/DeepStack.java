/*
 * Allocates and works at the end of a deep recursion.
 *
 * Usage: DeepStack FRAMES ALLOCATIONS
 */
public final class DeepStack {
	static volatile long sum;

	static long[] deepAllocate(int n) { return new long[n]; }

	static long[] descend(int frames, int n) {
		return frames > 0 ? descend(frames - 1, n) : deepAllocate(n);
	}

	static void work(int frames, long[] a) {
		if (frames > 0) {
			work(frames - 1, a);
			return;
		}
		long here = 0;
		for (int pass = 0; pass < 300; pass++)
			for (int i = 0; i < a.length; i++)
				here += a[i * 4099 & a.length - 1];
		sum += here;
	}

	public static void main(String[] args) throws Exception {
		int frames = Integer.parseInt(args[0]), n = Integer.parseInt(args[1]);
		Thread t = new Thread(null, () -> {
			for (int i = 0; i < n; i++) {
				long[] a = descend(frames, 1 << 16);
				if (i % 10 == 0)
					work(frames, a);
			}
		}, "deep", 256L << 20);
		t.start();
		t.join();
		System.out.println("done");
	}
}
