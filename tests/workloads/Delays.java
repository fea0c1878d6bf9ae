import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.Map;

/*
 * Runs phases of which each calls one method often, for delays of those methods.
 *
 * Usage: Delays CALLS ROUNDS
 *
 * Each round is in a thread of its own. Results go to the standard output; "cpu PHASE
 * NANOSECONDS", of each phase and round, to the standard error.
 */
public final class Delays {
	static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
	static final String[] PHASES = { "anInt",	 "aLong",   "aFloat", "aDouble", "aString",
					 "anArray", "nothing", "map",	 "failing", "fibonacci" };
	static final int FIBONACCI_CALLS = 177; // of fibonacci(10)
	static int calls;

	static int anInt(int n) {
		if (n % 3 == 0)
			return n * 2;
		return n + 1;
	}

	static long aLong(long n) {
		return n ^ 5;
	}

	static float aFloat(float f) {
		return f + 0.5f;
	}

	static double aDouble(double d) {
		return d * 1.0000001;
	}

	static String aString(int n) {
		switch (n % 4) {
		case 0:
			return "none";
		case 1:
			return null;
		default:
			return "some more";
		}
	}

	int[] anArray(int[] a) {
		a[0]++;
		return a;
	}

	static void nothing(int[] a) {
		a[0] += 2;
	}

	/* One of ten of its calls ends with an exception. */
	static int failing(int n) {
		try {
			if (n % 10 == 0)
				throw new IllegalStateException("full");
			return n;
		} finally {
			calls++;
		}
	}

	static synchronized int fibonacci(int n) {
		return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
	}

	static int caught(int n) {
		try {
			return failing(n);
		} catch (IllegalStateException e) {
			return e.getMessage().length() + e.getStackTrace()[0].getLineNumber();
		}
	}

	static int length(String s) {
		return s == null ? -1 : s.length();
	}

	static long phase(String name, int n) {
		Delays self = new Delays();
		Map<Integer, Integer> map = new HashMap<>(Map.of(7, 8));
		int[] a = new int[1];
		double d = 1;
		long sum = 0;

		for (int i = 0; i < n; i++) {
			switch (name) {
			case "anInt" -> sum += anInt(i);
			case "aLong" -> sum += aLong(i);
			case "aFloat" -> sum += (long) aFloat(i);
			case "aDouble" -> d = aDouble(d);
			case "aString" -> sum += length(aString(i));
			case "anArray" -> sum += self.anArray(a)[0];
			case "nothing" -> nothing(a);
			case "map" -> sum += map.get(i % 2 == 0 ? 7 : Integer.valueOf(7));
			case "failing" -> sum += caught(i);
			default -> {
				sum += fibonacci(10);
				i += FIBONACCI_CALLS - 1;
			}
			}
		}
		return sum + a[0] + Double.doubleToLongBits(d);
	}

	static void round(int n) {
		for (String name : PHASES) {
			long begin = THREADS.getCurrentThreadCpuTime();
			long sum = phase(name, n);

			System.err.println("cpu " + name + " " + (THREADS.getCurrentThreadCpuTime() - begin));
			System.out.println(name + " " + sum + " " + calls);
		}
	}

	public static void main(String[] args) throws InterruptedException {
		int n = Integer.parseInt(args[0]);

		for (int i = Integer.parseInt(args[1]); i > 0; i--) {
			Thread thread = new Thread(() -> round(n));

			thread.start();
			thread.join();
		}
	}
}
