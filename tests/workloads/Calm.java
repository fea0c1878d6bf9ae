import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Map;

/*
 * Twenty programs without a problem: what they compute takes the time, and all that they touch fits the first cache. A
 * profiler that has a finding of one is wrong.
 *
 * Usage: Calm MODE CPU_SECONDS, or Calm alone, which prints the modes
 */
public final class Calm {
	static final Map<String, Mode> MODES = new LinkedHashMap<>();
	static final int STEPS = 20_000;
	static volatile long sink;

	/* Does some steps, and returns a number that depends on each. */
	interface Mode {
		long run(long x);
	}

	static final int[] INTS = new int[1 << 10];
	static final long[] LONGS = new long[1 << 11];
	static final byte[] BYTES = new byte[1 << 14];
	static final boolean[] MARKS = new boolean[1 << 13];
	static final double[] LEFT = new double[64], RIGHT = new double[64], PRODUCT = new double[64];
	static final int[] FEW = new int[64], COLUMNS = new int[8];
	static final String TEXT = "8128 496 28 6 33550336 12 7 1024";
	static final Object LOCK = new Object();

	static long divide(long x) {
		for (int i = 1; i <= STEPS; i++)
			x = (x | 1L << 40) / i + i;
		return x;
	}

	static long ints(long x) {
		for (int i = 1; i <= STEPS; i++)
			x = (x | 1L << 40) / (INTS[i & INTS.length - 1] + i);
		return x;
	}

	static long longs(long x) {
		for (int i = 1; i <= STEPS; i++)
			x = (x | 1L << 40) / (LONGS[i & LONGS.length - 1] + i);
		return x;
	}

	static long bytes(long x) {
		for (int i = 1; i <= STEPS; i++)
			x = (x | 1L << 40) / (BYTES[i & BYTES.length - 1] + i);
		return x;
	}

	static long roots(long x) {
		double root = x & 1023;
		for (int i = 0; i < STEPS; i++)
			root = Math.sqrt(root + i);
		return (long) root;
	}

	static long sines(long x) {
		double angle = x & 1023;
		for (int i = 0; i < STEPS; i++)
			angle = Math.sin(angle + i);
		return Double.doubleToLongBits(angle);
	}

	static long escapes(long x) {
		double a = 0, b = 0, c = -0.7 + (x & 7) * 0.01;
		for (int i = 0; i < STEPS; i++) {
			double next = a * a - b * b + c;
			b = 2 * a * b + 0.27;
			a = Math.abs(next) > 2 ? 0 : next;
		}
		return Double.doubleToLongBits(a + b);
	}

	static long divisors(long x) {
		long sum = 0;
		for (int i = 1; i <= STEPS / 8; i++) {
			long a = x & 0xFFFFFF | 1, b = i;
			while (b != 0) {
				long rest = a % b;
				a = b;
				b = rest;
			}
			sum += a;
		}
		return x + sum;
	}

	static long collatz(long x) {
		long n = x & 0xFFFF | 1, steps = 0;
		for (int i = 0; i < STEPS; i++, steps++)
			n = n <= 1 ? steps & 0xFFFF | 1 : (n & 1) == 0 ? n / 2 : 3 * n + 1;
		return n + steps;
	}

	static long numbers(long x) {
		for (int i = 0; i < STEPS / TEXT.length(); i++) {
			long number = 0;
			for (int at = 0; at < TEXT.length(); at++) {
				char c = TEXT.charAt(at);
				number = c == ' ' ? number ^ x : number * 10 + c - '0';
			}
			x += number;
		}
		return x;
	}

	static long bits(long x) {
		for (int i = 0; i < STEPS; i++)
			x = Long.rotateLeft(x * 31 + Long.bitCount(x), 7);
		return x;
	}

	static long matrix(long x) {
		LEFT[0] = x & 7;
		for (int times = 0; times < STEPS / 512; times++)
			for (int i = 0; i < 8; i++)
				for (int j = 0; j < 8; j++) {
					double sum = 0;
					for (int k = 0; k < 8; k++)
						sum += LEFT[i * 8 + k] * RIGHT[k * 8 + j];
					PRODUCT[i * 8 + j] = sum;
				}
		return x + (long) PRODUCT[9];
	}

	static long sort(long x) {
		for (int times = 0; times < STEPS / 1000; times++) {
			for (int i = 0; i < FEW.length; i++)
				FEW[i] = (int) (x = x * 1_664_525 + 1_013_904_223);
			for (int i = 1; i < FEW.length; i++) {
				int one = FEW[i], at = i;
				for (; at > 0 && FEW[at - 1] > one; at--)
					FEW[at] = FEW[at - 1];
				FEW[at] = one;
			}
		}
		return x + FEW[7];
	}

	static int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

	static long recursion(long x) { return x + fibonacci(20); }

	static long powers(long x) {
		for (int i = 0; i < STEPS / 30; i++) {
			long base = x & 0xFFFF | 2, power = 1;
			for (int exponent = 1 << 29 | i; exponent != 0; exponent >>= 1, base = base * base % 1_000_003)
				power = (exponent & 1) == 0 ? power : power * base % 1_000_003;
			x += power;
		}
		return x;
	}

	static long random(long x) {
		for (int i = 0; i < STEPS; i++) {
			x ^= x << 13;
			x ^= x >>> 7;
			x ^= x << 17;
		}
		return x;
	}

	static int place(int row) {
		if (row == COLUMNS.length)
			return 1;
		int ways = 0;
		for (int column = 0; column < COLUMNS.length; column++) {
			boolean free = true;
			for (int i = 0; i < row && free; i++)
				free = COLUMNS[i] != column && Math.abs(COLUMNS[i] - column) != row - i;
			COLUMNS[row] = column;
			ways += free ? place(row + 1) : 0;
		}
		return ways;
	}

	static long queens(long x) { return x + place(0); }

	static long primes(long x) {
		int count = 0;
		java.util.Arrays.fill(MARKS, false);
		for (int i = 2; i < MARKS.length; i++)
			if (!MARKS[i]) {
				count++;
				for (int j = i + i; j < MARKS.length; j += i)
					MARKS[j] = true;
			}
		return x + count;
	}

	static long locks(long x) {
		for (int i = 1; i <= STEPS; i++)
			synchronized (LOCK) {
				x = (x | 1L << 40) / i + i;
			}
		return x;
	}

	static {
		MODES.put("divide", Calm::divide);
		MODES.put("ints", Calm::ints);
		MODES.put("longs", Calm::longs);
		MODES.put("bytes", Calm::bytes);
		MODES.put("roots", Calm::roots);
		MODES.put("sines", Calm::sines);
		MODES.put("escapes", Calm::escapes);
		MODES.put("divisors", Calm::divisors);
		MODES.put("collatz", Calm::collatz);
		MODES.put("numbers", Calm::numbers);
		MODES.put("bits", Calm::bits);
		MODES.put("matrix", Calm::matrix);
		MODES.put("sort", Calm::sort);
		MODES.put("recursion", Calm::recursion);
		MODES.put("powers", Calm::powers);
		MODES.put("random", Calm::random);
		MODES.put("queens", Calm::queens);
		MODES.put("primes", Calm::primes);
		MODES.put("locks", Calm::locks);
		MODES.put("threads", Calm::ints); // on two of them
	}

	static void work(Mode mode, long ns) {
		long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime(), x = start;
		while (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - start < ns)
			for (int i = 0; i < 100; i++)
				x = mode.run(x);
		sink = x;
	}

	public static void main(String[] args) throws InterruptedException {
		if (args.length == 0) {
			System.out.println(String.join(" ", MODES.keySet()));
			return;
		}
		Mode mode = MODES.get(args[0]);
		long ns = (long) (Double.parseDouble(args[1]) * 1e9);
		Thread second = new Thread(() -> work(mode, ns));
		if (args[0].equals("threads"))
			second.start();
		work(mode, ns);
		second.join();
		System.out.println("done");
	}
}
