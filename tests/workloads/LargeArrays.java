import java.lang.management.ManagementFactory;
import java.util.Arrays;

/*
 * Allocates, copies, clears and sorts large arrays, one way after the other, each on a thread of its
 * own which does nothing else, so that all of its time is spent in those arrays.
 *
 * Usage: LargeArrays THREADS CPU_MILLISECONDS [PHASE...]
 *
 * The phases `regions` and `critical` need -Dlibrary=PATH of tests/workloads/native/arrays.c.
 *
 * The threads of a phase have the phase's name. Prints one line of JSON: CPU milliseconds of a thread
 * by phase.
 */
public final class LargeArrays {
	static volatile Object sink;
	static byte[] bytes = new byte[4 << 20];
	static byte[] more = new byte[4 << 20];
	static int[] ints = random(1 << 19);
	static Object[] references = new Object[1 << 19];
	static sun.misc.Unsafe unsafe = unsafe();

	static int[] random(int n) {
		int[] a = new int[n];
		long x = 42;
		for (int i = 0; i < n; i++) {
			x = x * 6364136223846793005L + 1442695040888963407L;
			a[i] = (int) (x >>> 33);
		}
		return a;
	}

	static sun.misc.Unsafe unsafe() {
		try {
			var f = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
			f.setAccessible(true);
			return (sun.misc.Unsafe) f.get(null);
		} catch (ReflectiveOperationException e) {
			throw new AssertionError(e);
		}
	}

	static void small() {
		for (int i = 0; i < 200; i++)
			sink = new byte[4000];
	}

	static void middle() {
		for (int i = 0; i < 20; i++)
			sink = new byte[64000];
	}

	static void large() {
		for (int i = 0; i < 4; i++)
			sink = new byte[1 << 20];
	}

	static void clones() {
		sink = bytes.clone();
	}

	static void copies() {
		System.arraycopy(bytes, 0, more, 0, bytes.length);
	}

	static void overlaps() {
		System.arraycopy(bytes, 0, bytes, 64, bytes.length - 64);
	}

	static void objects() {
		System.arraycopy(references, 0, references, 1, references.length - 1);
	}

	static void fills() {
		Arrays.fill(more, (byte) 7);
	}

	static void longer() {
		sink = Arrays.copyOf(bytes, bytes.length + 100);
	}

	static void nested() {
		sink = new int[8][40000];
	}

	static void text() {
		StringBuilder b = new StringBuilder();
		for (int i = 0; i < 2000; i++)
			b.append("a line of some text that is appended to a growing buffer, again and again, and then again");
		sink = b;
	}

	static void sorts() {
		int[] a = ints.clone();
		Arrays.sort(a);
		sink = a;
	}

	static void sets() {
		unsafe.setMemory(more, sun.misc.Unsafe.ARRAY_BYTE_BASE_OFFSET, more.length, (byte) 1);
	}

	static void moves() {
		long base = sun.misc.Unsafe.ARRAY_BYTE_BASE_OFFSET;
		unsafe.copyMemory(bytes, base, more, base, more.length);
	}

	static void reflected() {
		sink = java.lang.reflect.Array.newInstance(long.class, 100000);
	}

	/* Copies the array to native memory and back. */
	static native void regions(byte[] a);

	/* Adds 1 to each byte. */
	static native void critical(byte[] a);

	static final String[] ALL = { "small", "middle", "large", "clones", "copies", "overlaps", "objects", "fills",
		"longer", "nested", "text", "sorts", "sets", "moves", "reflected" };

	static void once(String phase) {
		switch (phase) {
		case "small": small(); break;
		case "middle": middle(); break;
		case "large": large(); break;
		case "clones": clones(); break;
		case "copies": copies(); break;
		case "overlaps": overlaps(); break;
		case "objects": objects(); break;
		case "fills": fills(); break;
		case "longer": longer(); break;
		case "nested": nested(); break;
		case "text": text(); break;
		case "sorts": sorts(); break;
		case "sets": sets(); break;
		case "moves": moves(); break;
		case "regions": regions(more); break;
		case "critical": critical(more); break;
		case "reflected": reflected(); break;
		default: throw new IllegalArgumentException(phase);
		}
	}

	static long cpu() {
		return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
	}

	static long run(String phase, long ns) {
		long begin = cpu(), now = begin;

		while (now - begin < ns) {
			for (int i = 0; i < 5; i++)
				once(phase);
			now = cpu();
		}
		return now - begin;
	}

	public static void main(String[] args) throws Exception {
		if (System.getProperty("library") != null)
			System.load(System.getProperty("library"));
		Thread[] threads = new Thread[Integer.parseInt(args[0])];
		long ns = Long.parseLong(args[1]) * 1000000;
		String[] phases = args.length > 2 ? Arrays.copyOfRange(args, 2, args.length) : ALL;
		StringBuilder out = new StringBuilder("{");
		// The classes and links that a phase needs are made here: their time is not the first phase's.
		run(phases[0], 20000000);
		for (String phase : phases) {
			long[] used = new long[1];
			for (int i = 0; i < threads.length; i++) {
				threads[i] = new Thread(() -> used[0] = run(phase, ns), phase);
				threads[i].start();
			}
			for (Thread t : threads)
				t.join();
			out.append(out.length() > 1 ? ", " : "").append('"').append(phase).append("\": ");
			out.append(used[0] / 1000000);
		}
		System.out.println(out.append("}"));
	}
}
