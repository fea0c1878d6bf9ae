/*
 * Keeps small objects that threads made which end before the first collection.
 *
 * Usage: EndedThreads THREADS KEPT ROUNDS
 *
 * After them ROUNDS arrays of 100,000 bytes are made, so that young collections follow.
 */
public final class EndedThreads {
	static volatile Object sink;

	public static void main(String[] args) throws Exception {
		int threads = Integer.parseInt(args[0]), kept = Integer.parseInt(args[1]), rounds = Integer.parseInt(args[2]);
		long[][][] live = new long[threads][kept][];
		for (int i = 0; i < threads; i++) {
			long[][] own = live[i];
			Thread t = new Thread(() -> {
				for (int k = 0; k < own.length; k++)
					own[k] = new long[1 + (k & 3)];
			});
			t.start();
			t.join();
		}
		Thread.sleep(1000); // the agent takes the records of a thread that has ended
		for (int i = 0; i < rounds; i++)
			sink = new byte[100_000];
		System.out.println(live[threads - 1][kept - 1].length);
	}
}
