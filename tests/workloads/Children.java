/*
 * Starts children by fork, vfork and posix_spawn from native code, and enters critical sections while another
 * thread collects.
 *
 * Usage: Children LIBRARY TIMES; childAllocate() allocates 10 arrays for each time
 */
public final class Children {
	static volatile Object sink;
	static volatile boolean ended;

	static native int start(int how);

	static native long critical(byte[] array);

	static byte[] childAllocate(int n) { return new byte[n]; }

	public static void main(String[] args) throws Exception {
		System.load(args[0]);
		int times = Integer.parseInt(args[1]);
		Thread collects = new Thread(() -> {
			while (!ended) {
				System.gc();
				sink = new byte[100_000];
			}
		});
		collects.start();
		int status = 0;
		long sum = 0;
		for (int i = 0; i < times; i++) {
			status += start(i % 3);
			for (int k = 0; k < 10; k++)
				sum += critical(childAllocate(5000 + k));
		}
		ended = true;
		collects.join();
		System.out.println(status + " " + sum);
		System.exit(3);
	}
}
