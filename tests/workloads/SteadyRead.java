import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/*
 * Two threads read an array until each has used some CPU time.
 *
 * Usage: SteadyRead SECONDS
 *
 * The last line is JSON: cpu_ns of both threads together, and wall_ns of the one that took longest.
 */
public final class SteadyRead {
	private static final ThreadMXBean TIMES = ManagementFactory.getThreadMXBean();
	static volatile long sum;

	static long steadyRead(byte[] walked) {
		long here = 0;
		for (int i = 0; i < walked.length; i++)
			here += walked[i * 4099 & walked.length - 1];
		return here;
	}

	public static void main(String[] args) throws Exception {
		long until = Long.parseLong(args[0]) * 1_000_000_000;
		byte[] walked = new byte[8 << 20];
		long[] cpu = new long[2], wall = new long[2];
		Thread[] readers = new Thread[2];
		for (int i = 0; i < readers.length; i++) {
			int me = i;
			readers[i] = new Thread(() -> {
				long start = System.nanoTime();
				while ((cpu[me] = TIMES.getCurrentThreadCpuTime()) < until)
					sum += steadyRead(walked);
				wall[me] = System.nanoTime() - start;
			}, "reader-" + i);
			readers[i].start();
		}
		for (Thread reader : readers)
			reader.join();
		System.out.println("{\"cpu_ns\": " + (cpu[0] + cpu[1]) + ", \"wall_ns\": " + Math.max(wall[0], wall[1]) + "}");
	}
}
