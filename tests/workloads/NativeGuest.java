/*
 * Runs native code of its own (native/guest.c).
 *
 * Usage: NativeGuest LIBRARY MODE
 *   calls    JNI in both directions, critical sections, a native thread that attaches: prints
 *            how often nativeCallback() allocated
 *   handler  installs handlers for SIGPROF and SIGTRAP, raises each 500 times while working,
 *            and prints how many of those arrived
 *   early    the same for handlers that the library installed before (-agentpath:LIBRARY)
 *   reset    sets SIGPROF and SIGTRAP back to their default action and works on
 */
public final class NativeGuest {
	static volatile long sum;
	static volatile Object sink;
	static long callbacks;

	static native void install(int signal);
	static native void reset(int signal);
	static native long raise(int signal, int times);
	static native long calls(byte[] shared, int times);
	static native int attachedThread(int times);

	static synchronized void nativeCallback(int n) {
		sink = new short[n];
		callbacks++;
	}

	static void work(int milliseconds) {
		int[] a = new int[1 << 20];
		for (long end = System.nanoTime() + milliseconds * 1_000_000L; System.nanoTime() < end; )
			for (int i = 0, p = 0; i < 50_000; i++) {
				p = a[p] + i * 7919 & a.length - 1;
				sum += p;
			}
	}

	public static void main(String[] args) {
		System.load(args[0]);
		int prof = 27, trap = 5, times = 500;
		switch (args[1]) {
		case "calls":
			byte[] shared = new byte[5000];
			long total = calls(shared, 20_000);
			attachedThread(3_000);
			System.out.println("{\"callbacks\":" + callbacks + ",\"total\":" + total + "}");
			break;
		case "handler":
			work(200);
			install(prof);
			install(trap);
			// fall through
		case "early":
			long lost = 0;
			for (int i = 0; i < times; i++) {
				lost += 1 - raise(prof, 1);
				lost += 1 - raise(trap, 1);
				if (i % 50 == 0)
					work(60);
			}
			System.out.println("lost " + lost);
			break;
		default:
			work(300);
			reset(prof);
			reset(trap);
			work(600);
			System.out.println("alive");
		}
	}
}
