import java.lang.management.ManagementFactory;
import java.util.function.IntSupplier;

/*
 * Calls lambdas that capture a variable, each an object of one hidden class.
 *
 * Usage: Lambdas NUMBER CPU_SECONDS
 */
public final class Lambdas {
	static volatile long sink;

	static IntSupplier of(int value) {
		return () -> value;
	}

	public static void main(String[] args) {
		IntSupplier[] all = new IntSupplier[Integer.parseInt(args[0])];
		long end = (long) (Double.parseDouble(args[1]) * 1e9), sum = 0;
		int at = 1;

		for (int i = 0; i < all.length; i++)
			all[i] = of(i);
		while (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() < end) {
			for (int i = 0; i < 100_000; i++) {
				at = at * 1664525 + 1013904223;
				sum += all[(at >>> 8) % all.length].getAsInt();
			}
		}
		sink = sum;
	}
}
