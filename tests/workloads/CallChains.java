import java.util.Arrays;
import java.util.zip.CRC32;

/*
 * Calls small methods in known ways, so that a call path can be held against what may call what.
 *
 * Usage: CallChains SECONDS [throws]
 *
 * Runs its parts in turn, or only those that throw, for SECONDS of CPU time of its thread, then
 * prints {"rounds": N}. Each
 * method has the callers that a comment "called by: NAME..." above it names, and no other. A
 * method without that comment is called by the JVM.
 */
public final class CallChains {
	static final int DEEP = 24;
	static final Object[] old = new Object[1 << 16];
	static final String[] words = new String[64];
	static final Object[] mixed = new Object[64];
	static final byte[] from = new byte[4096], to = new byte[4096];
	static volatile long sink;

	interface Shape {
		int area(int x);
	}

	/* Itable calls, with enough receivers that they stay calls. */
	static final class Square implements Shape, Comparable<Object> {
		// called by: shapes
		public int area(int x) {
			return half(x) * 2;
		}

		// called by: area
		int half(int x) {
			return x >> 1;
		}

		public int compareTo(Object o) {
			return 0;
		}
	}

	static final class Circle implements Shape {
		// called by: shapes
		public int area(int x) {
			return round(x, x + 1, x + 2) + 3;
		}

		// called by: area
		int round(int x, int y, int z) {
			return x * y + z;
		}
	}

	static final class Line implements Shape {
		// called by: shapes
		public int area(int x) {
			return x ^ 5;
		}
	}

	/* Vtable calls. */
	abstract static class Base {
		// called by: virtuals
		int outer(int x) {
			return inner(x) + 1;
		}

		abstract int inner(int x);
	}

	static final class Left extends Base {
		// called by: outer
		int inner(int x) {
			return x + 1;
		}
	}

	static final class Middle extends Base {
		// called by: outer
		int inner(int x) {
			return x * 3 + wide(x, 1, 2, 3, 4, 5, 6, 7, 8, 9);
		}

		// called by: inner
		static int wide(int a, int b, int c, int d, int e, int f, int g, int h, long i, double j) {
			return a + b + c + d + e + f + g + h + (int) i + (int) j;
		}
	}

	static final class Right extends Base {
		// called by: outer
		int inner(int x) {
			return -x;
		}
	}

	static final Shape[] shapes = {new Square(), new Circle(), new Line()};
	static final Base[] bases = {new Left(), new Middle(), new Right()};

	// called by: chain
	static int a0(int x) {
		return a1(x + 1) ^ 1;
	}

	// called by: a0
	static int a1(int x) {
		return a2(x, x * 3) + 2;
	}

	// called by: a1
	static int a2(int x, int y) {
		int p = x + y, q = x - y;
		return a3(p, q, p * q) + p + q;
	}

	// called by: a2
	static int a3(int x, int y, int z) {
		return a4(x ^ y) + a5((long) z) + 1;
	}

	// called by: a3
	static int a4(int x) {
		return x + 7;
	}

	// called by: a3
	static int a5(long x) {
		return (int) (x >> 3);
	}

	// called by: main
	static long chain(int n) {
		long sum = 0;
		for (int i = 0; i < n; i++)
			sum += a0(i);
		return sum;
	}

	/* Frames of different sizes, one in the other. */
	// called by: recursion odd
	static long even(int n, long sum) {
		return n == 0 ? sum : odd(n - 1, sum + n, n ^ 1, n ^ 2, n ^ 3) + 1;
	}

	// called by: even
	static long odd(int n, long sum, int p, int q, int r) {
		long s = sum + p * q + r;
		return n == 0 ? s : even(n - 1, s) ^ p ^ q ^ r;
	}

	// called by: main
	static long recursion(int n) {
		long sum = 0;
		for (int i = 0; i < n; i++)
			sum += even(DEEP, i);
		return sum;
	}

	// called by: main
	static long shapes(int n) {
		long sum = 0;
		for (int i = 0; i < n; i++)
			sum += shapes[i % 3].area(i);
		return sum;
	}

	// called by: main
	static long virtuals(int n) {
		long sum = 0;
		for (int i = 0; i < n; i++)
			sum += bases[i % 3].outer(i);
		return sum;
	}

	/* Stores that collectors watch, and checks of types that are looked up in a list. */
	// called by: main
	static long barriers(int n) {
		long sum = 0;
		for (int i = 0; i < n; i++) {
			old[i * 31 & old.length - 1] = mixed[i & 63];
			sum += store(i) + check(mixed[i & 63]);
		}
		return sum;
	}

	// called by: barriers
	static int store(int i) {
		old[i * 17 & old.length - 1] = new int[1 + (i & 7)];
		return i;
	}

	// called by: barriers
	static int check(Object o) {
		return o instanceof Comparable ? 1 : o instanceof CharSequence ? 2 : 3;
	}

	/* Native code and stubs that Java code calls without leaving a trace. */
	// called by: main
	static long leaves(int n) {
		long sum = 0;
		for (int i = 0; i < n; i++) {
			sum += clock(i) + copy(i) + compare(i);
			sum += (long) mathematics(i);
		}
		return sum;
	}

	// called by: leaves
	static long clock(int i) {
		return System.nanoTime() + i;
	}

	// called by: leaves
	static int copy(int i) {
		System.arraycopy(from, i & 63, to, i & 31, 2048 + (i & 255));
		Arrays.fill(from, 1024, 2048, (byte) i);
		CRC32 crc = new CRC32();
		crc.update(from, i & 63, 512);
		return to[i & 4095] + (int) crc.getValue();
	}

	// called by: leaves
	static int compare(int i) {
		return words[i & 63].compareTo(words[i * 7 & 63]) + words[i & 63].indexOf("xyz");
	}

	// called by: leaves
	static double mathematics(int i) {
		return Math.sin(i) + Math.log(i + 1.0) + Math.pow(i, 1.1) + i % 7.5;
	}

	static final class Found extends RuntimeException {
		Found() {
			super(null, null, false, false);
		}
	}

	static final Found found = new Found();

	// called by: main
	static long exceptions(int n) {
		long sum = 0;
		for (int i = 0; i < n; i++) {
			try {
				sum += search(i);
			} catch (Found e) {
				sum++;
			}
		}
		return sum;
	}

	// called by: exceptions
	static int search(int i) {
		return find(i, i & 15) + 1;
	}

	// called by: search
	static int find(int i, int j) {
		if (j == 3)
			throw found;
		return locked(i);
	}

	// called by: find
	static synchronized int locked(int i) {
		return i + 1;
	}

	/* Exceptions that leave one to nine frames of different sizes, some of which look at them. */
	// called by: main
	static long deep(int n) {
		long sum = 0;
		for (int i = 0; i < n; i++) {
			try {
				sum += t1(i, i % 10);
			} catch (RuntimeException e) {
				sum++;
			}
		}
		return sum;
	}

	// called by: deep
	static int t1(int i, int left) {
		return t2(i, left) + 1;
	}

	// called by: t1
	static int t2(int i, int left) {
		return t3(i, left - 1) + 2;
	}

	// called by: t2
	static int t3(int i, int left) {
		if (left <= 0)
			throw found;
		return t4(i, left - 1, i) + 3;
	}

	// called by: t3
	static int t4(int i, int left, long wide) {
		if (left <= 0)
			throw found;
		try {
			return t5(i, left - 1, (int) wide, 1.0) + 3;
		} finally {
			sink++;
		}
	}

	// called by: t4
	static int t5(int i, int left, int y, double z) {
		if (left <= 0)
			throw found;
		return t6(i, left - 1) * 2 + y;
	}

	// called by: t5
	static int t6(int i, int left) {
		if (left <= 0)
			throw found;
		try {
			return t7(i, left - 1) * 2;
		} catch (IllegalStateException e) {
			return 1;
		}
	}

	// called by: t6
	static int t7(int i, int left) {
		if (left <= 0)
			throw found;
		synchronized (found) {
			return t8(i, left - 1) * 2;
		}
	}

	// called by: t7
	static int t8(int i, int left) {
		if (left <= 0)
			throw found;
		return t9(i, left - 1) * 2;
	}

	// called by: t8
	static int t9(int i, int left) {
		if (left <= 0)
			throw found;
		return i / left;
	}

	public static void main(String[] arguments) {
		final long seconds = Long.parseLong(arguments[0]);
		final boolean all = arguments.length == 1;
		final var threads = java.lang.management.ManagementFactory.getThreadMXBean();
		long rounds = 0;
		for (int i = 0; i < words.length; i++) {
			words[i] = "a common beginning of all the words, " + i % 5;
			mixed[i] = i % 3 == 0 ? words[i] : i % 3 == 1 ? new Square() : new Line();
		}
		while (threads.getCurrentThreadCpuTime() < seconds * 1_000_000_000L) {
			if (all) {
				sink += chain(4000);
				sink += recursion(200);
				sink += shapes(4000);
				sink += virtuals(4000);
				sink += barriers(2000);
				sink += leaves(300);
			}
			sink += exceptions(2000);
			sink += deep(500);
			rounds++;
		}
		System.out.println("{\"rounds\": " + rounds + "}");
	}
}
