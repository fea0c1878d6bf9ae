/**
 * Runs two threads that allocate arrays of 1 to 3 KB and do nothing else. Arguments: millions of arrays, frames
 * between the threads' first and the loop (none).
 */
public final class ArrayLoop {
	private static volatile Object sink;

	private static byte[] make(long i) { return new byte[1024 + ((int) i * 797 & 2047)]; }

	private static void allocate(long count) {
		byte[] last = null;
		for (long i = 0; i < count; i++) {
			last = make(i);
			if ((i & 1023) == 0)
				sink = last;
		}
		sink = last;
	}

	private static void deeper(int frames, long count) {
		if (frames > 0)
			deeper(frames - 1, count);
		else
			allocate(count);
	}

	public static void main(String[] args) throws Exception {
		long count = Long.parseLong(args[0]) * 1_000_000 / 40;
		int frames = args.length > 1 ? Integer.parseInt(args[1]) : 0;
		Thread[] threads = new Thread[2];
		for (int t = 0; t < threads.length; t++) {
			threads[t] = new Thread(() -> {
				for (int i = 0; i < 20; i++)
					deeper(frames, count);
			}, "arrays-" + t);
			threads[t].start();
		}
		for (Thread t : threads)
			t.join();
		System.out.println("done");
	}
}
