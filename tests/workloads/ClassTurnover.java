import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.management.ClassLoadingMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;

/*
 * Loads a class again and again under another name, each in a loader of its own, walks a list of its
 * objects, and drops it, so that the JVM unloads classes and puts new ones in their place.
 *
 * Usage: ClassTurnover CPU_SECONDS
 *
 * Prints one line of JSON: how many classes it loaded, how many the JVM unloaded.
 */
public final class ClassTurnover {
	/* A list that walks itself; its copies are Generation10000, Generation10001, ... */
	public static final class Generation_____ implements Runnable {
		Generation_____ next;
		long n;
		public static volatile long sink;

		static long walk(Generation_____ from, int steps) {
			long sum = 0;
			for (int i = 0; i < steps; i++, from = from.next)
				sum += from.n;
			return sum;
		}

		@Override
		public void run() {
			Generation_____[] all = new Generation_____[50_000];
			for (int i = 0; i < all.length; i++)
				all[i] = new Generation_____();
			for (int i = 0; i < all.length; i++)
				all[i].next = all[(int) ((i * 7919L + 1) % all.length)];
			for (int i = 0; i < 60; i++)
				sink += walk(all[i], 20_000);
		}
	}

	static final class Loader extends ClassLoader {
		Loader() { super(ClassTurnover.class.getClassLoader()); }

		Class<?> define(String name, byte[] code) { return defineClass(name, code, 0, code.length); }
	}

	static final String OLD = "ClassTurnover$Generation_____", PREFIX = "Generation000000000000000000";

	/* The class file with another name of the same length. */
	static byte[] renamed(byte[] code, String name) {
		byte[] from = OLD.getBytes(StandardCharsets.US_ASCII);
		byte[] to = name.getBytes(StandardCharsets.US_ASCII);
		byte[] out = code.clone();
		for (int i = 0; i + from.length <= code.length; i++) {
			int same = 0;
			while (same < from.length && code[i + same] == from[same])
				same++;
			if (same == from.length)
				System.arraycopy(to, 0, out, i, to.length);
		}
		return out;
	}

	static String name(int n) {
		String digits = Integer.toString(10_000 + n);
		return PREFIX.substring(0, OLD.length() - digits.length()) + digits;
	}

	public static void main(String[] args) throws Exception {
		ByteArrayOutputStream file = new ByteArrayOutputStream();
		try (InputStream in = ClassTurnover.class.getResourceAsStream(OLD + ".class")) {
			in.transferTo(file);
		}
		ClassLoadingMXBean loading = ManagementFactory.getClassLoadingMXBean();
		long end = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime()
				+ (long) (Double.parseDouble(args[0]) * 1e9);
		long before = loading.getUnloadedClassCount();
		int loaded = 0;
		while (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() < end) {
			String name = name(loaded++);
			Class<?> c = new Loader().define(name, renamed(file.toByteArray(), name));
			((Runnable) c.getDeclaredConstructor().newInstance()).run();
			c = null;
			System.gc();
		}
		System.out.println("{\"loaded\":" + loaded + ",\"unloaded\":"
				+ (loading.getUnloadedClassCount() - before) + "}");
	}
}
