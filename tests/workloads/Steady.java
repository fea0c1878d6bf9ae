import java.io.PrintStream;

/*
 * Allocates at a steady pace until it is told to end or killed, and says how far it is.
 *
 * Usage: Steady
 *
 * Each line is "MILLISECONDS ALLOCATIONS": CLOCK_MONOTONIC, and what was allocated by then.
 * A shutdown hook prints "hook".
 */
public final class Steady {
	static volatile Object sink;
	static volatile long sum;

	static byte[] steadyAllocate(int n) { return new byte[n]; }

	public static void main(String[] args) throws Exception {
		PrintStream out = System.out;
		Runtime.getRuntime().addShutdownHook(new Thread(() -> {
			out.println("hook");
			out.flush();
		}));
		byte[] walked = new byte[1 << 20];
		for (long made = 0; ; ) {
			for (int i = 0; i < 500; i++, made++)
				sink = steadyAllocate(4000);
			long here = 0;
			for (int i = 0; i < walked.length; i++)
				here += walked[i * 4099 & walked.length - 1];
			sum += here;
			out.println(System.nanoTime() / 1_000_000 + " " + made);
			out.flush();
			Thread.sleep(20);
		}
	}
}
