/**
 * Allocates arrays that Locus counts, and does nothing else, so that hooks cost much.
 *
 *   OwnCost MILLIONS BYTES   so many millions of arrays on each of two threads
 */
public class OwnCost {
	static volatile Object sink;

	static void make(long n, int bytes) {
		for (long i = 0; i < n; i++)
			sink = new byte[bytes];
	}

	public static void main(String[] args) throws Exception {
		long n = (long) (Double.parseDouble(args[0]) * 1e6);
		int bytes = Integer.parseInt(args[1]);
		Thread[] all = new Thread[2];
		for (int i = 0; i < all.length; i++) {
			all[i] = new Thread(() -> make(n, bytes));
			all[i].start();
		}
		for (Thread t : all)
			t.join();
	}
}
