import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.util.concurrent.ThreadLocalRandom;

/*
 * Makes objects of known classes, one phase after the other in the same memory, so that a new object
 * lies where the headers of other classes still stand.
 *
 * Usage: FreshObjects CPU_SECONDS
 *
 * Prints one line of JSON: by phase, the classes that its method may touch.
 */
public final class FreshObjects {
	static long cpu() { return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime(); }

	static final class Small {
		int a;
		Small next;

		Small(int a, Small next) {
			this.a = a;
			this.next = next;
		}
	}

	static final class Wide {
		long a, b, c, d, e, f;
		Wide next;
	}

	/* Large enough to reach from the end of one Wide into the next. */
	static final class Never {
		long a, b, c, d;
	}

	static Small small;
	static Wide wide;
	static int[] ints;
	static Object[] references;

	static void smalls(int n) {
		Small s = null;
		for (int i = 0; i < n; i++)
			s = new Small(i, (i & 63) == 0 ? null : s);
		small = s;
	}

	static void wides(int n) {
		Wide w = null;
		for (int i = 0; i < n; i++) {
			Wide made = new Wide();
			made.f = i;
			made.next = (i & 63) == 0 ? null : w;
			w = made;
		}
		wide = w;
	}

	/* The last two values of each look like the header of another object. */
	static void lookalikes(int n, long mark, long word) {
		Wide w = null;
		for (int i = 0; i < n; i++) {
			Wide made = new Wide();
			made.e = mark;
			made.f = word;
			made.next = (i & 63) == 0 ? null : w;
			w = made;
		}
		wide = w;
	}

	static void intArrays(int n, int x) {
		for (int i = 0; i < n; i++) {
			x = x * 1664525 + 1013904223;
			ints = new int[x >>> 26];
		}
	}

	static void referenceArrays(int n, int x) {
		for (int i = 0; i < n; i++) {
			x = x * 1664525 + 1013904223;
			references = new Object[x >>> 26];
		}
	}

	@SuppressWarnings("removal")
	public static void main(String[] args) throws ReflectiveOperationException {
		Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
		field.setAccessible(true);
		sun.misc.Unsafe unsafe = (sun.misc.Unsafe) field.get(null);
		Never never = new Never();
		long mark = unsafe.getLong(never, 0L), word = unsafe.getLong(never, 8L);
		long end = cpu() + (long) (Double.parseDouble(args[0]) * 1e9);
		while (cpu() < end) {
			int x = ThreadLocalRandom.current().nextInt();
			smalls(20_000);
			intArrays(20_000, x);
			wides(20_000);
			referenceArrays(20_000, x);
			lookalikes(20_000, mark, word);
		}
		System.out.println("{\"smalls\":[\"FreshObjects$Small\",\"java.lang.Class\"],"
				+ "\"wides\":[\"FreshObjects$Wide\",\"java.lang.Class\"],"
				+ "\"lookalikes\":[\"FreshObjects$Wide\",\"java.lang.Class\"],"
				+ "\"intArrays\":[\"int[]\",\"java.lang.Class\"],"
				+ "\"referenceArrays\":[\"java.lang.Object[]\",\"java.lang.Class\"]}");
	}
}
