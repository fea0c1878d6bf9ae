/** Runs two threads that compute in registers, 20 frames deep: nothing that they execute touches an object. Argument: seconds. */
public final class Arithmetic {
	private static final long ROUNDS_A_SECOND = 400;

	private static long compute(long v) {
		for (int i = 0; i < 1_000_000; i++) {
			v ^= v << 13;
			v ^= v >>> 7;
			v ^= v << 17;
		}
		return v;
	}

	private static long deeper(int frames, long rounds) {
		if (frames > 0)
			return deeper(frames - 1, rounds);
		long v = rounds;
		for (long i = 0; i < rounds; i++)
			v = compute(v);
		return v;
	}

	public static void main(String[] args) throws Exception {
		long rounds = Long.parseLong(args[0]) * ROUNDS_A_SECOND;
		Thread[] threads = new Thread[2];
		long[] results = new long[threads.length];
		for (int t = 0; t < threads.length; t++) {
			int index = t;
			threads[t] = new Thread(() -> results[index] = deeper(20, rounds + index), "arithmetic-" + t);
			threads[t].start();
		}
		for (Thread t : threads)
			t.join();
		System.out.println(results[0] ^ results[1]);
	}
}
