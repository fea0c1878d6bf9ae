import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

/*
 * Has many classes loaded, works with 100 of them, so that all its work is compiled soon, and tells how
 * long it stood still.
 *
 * Usage: ManyClasses CLASSES [returning]
 *
 * The loop that makes the turns never returns. With "returning" it does after 1000 turns, and is called
 * again.
 *
 * Answers each line of the input with "GAP_US TURNS CPU_NS": the longest time since the last line in which
 * the watching thread did not run, in microseconds, how many turns of the working thread there were, and
 * the CPU time of the working thread in ns. "end" ends it.
 */
public final class ManyClasses {
	static final int SOME = 100;
	static final String NAME = "Many00000"; // below; the name of each class has as many letters

	static final class Loader extends ClassLoader {
		/* The class file of the template with another number in its name. */
		Class<?> define(byte[] template, int number) {
			byte[] bytes = template.clone(), digits = String.format("%05d", number).getBytes(StandardCharsets.US_ASCII);
			byte[] name = NAME.getBytes(StandardCharsets.US_ASCII);

			for (int i = 0; i + name.length <= bytes.length; i++) {
				int same = 0;

				while (same < name.length && template[i + same] == name[same])
					same++;
				if (same == name.length)
					System.arraycopy(digits, 0, bytes, i + name.length - digits.length, digits.length);
			}
			return defineClass(null, bytes, 0, bytes.length);
		}
	}

	static volatile Object sink;
	static volatile long longest, turns;

	static void watch() {
		long last = System.nanoTime();

		for (;;) {
			LockSupport.parkNanos(50_000);
			long now = System.nanoTime();

			if (now - last > longest)
				longest = now - last;
			last = now;
		}
	}

	static long turn(IntFunction<Object>[] some, long random) {
		for (int i = 0; i < 100; i++) {
			random = random * 6364136223846793005L + 1442695040888963407L;
			int[] made = (int[]) some[(int) (random >>> 33) % some.length].apply(300);
			made[i] = i;
			random += made[i / 2];
			sink = made;
		}
		return random;
	}

	static long turns(IntFunction<Object>[] some, long random, long count) {
		for (long i = 0; i < count; i++) {
			random = turn(some, random);
			turns++;
		}
		return random;
	}

	static void work(IntFunction<Object>[] some, long count) {
		for (long random = 1;;)
			random = turns(some, random, count);
	}

	static Thread start(Runnable task) {
		Thread thread = new Thread(task);

		thread.setDaemon(true);
		thread.start();
		return thread;
	}

	@SuppressWarnings("unchecked")
	static IntFunction<Object>[] some(IntFunction<Object>[] all) {
		IntFunction<Object>[] some = new IntFunction[Math.min(SOME, all.length)];

		for (int i = 0; i < some.length; i++)
			some[i] = all[(int) ((long) i * all.length / some.length)];
		return some;
	}

	@SuppressWarnings({"unchecked", "deprecation"}) /* Thread.getId(), for JDK 17 */
	public static void main(String[] args) throws Exception {
		IntFunction<Object>[] all = new IntFunction[Integer.parseInt(args[0])];
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		Loader loader = new Loader();
		long count = args.length > 1 ? 1000 : Long.MAX_VALUE;
		byte[] template;

		try (InputStream file = ManyClasses.class.getResourceAsStream(NAME + ".class")) {
			template = file.readAllBytes();
		}
		for (int i = 0; i < all.length; i++) {
			Constructor<?> made = loader.define(template, i).getDeclaredConstructor();

			made.setAccessible(true); /* the loader has a package of its own */
			all[i] = (IntFunction<Object>) made.newInstance();
		}
		start(ManyClasses::watch);
		ThreadMXBean clock = ManagementFactory.getThreadMXBean();
		long worker = start(() -> work(some(all), count)).getId(), begin = clock.getThreadCpuTime(worker), before = turns;
		System.out.println("ready");
		for (String line; (line = in.readLine()) != null && !line.equals("end"); ) {
			long now = clock.getThreadCpuTime(worker), made = turns;

			System.out.println(longest / 1000 + " " + (made - before) + " " + (now - begin));
			longest = 0;
			begin = now;
			before = made;
		}
	}
}

/* The template: allocates in three methods, one of which is called. */
final class Many00000 implements IntFunction<Object> {
	public Many00000() {
	}

	@Override
	public Object apply(int n) {
		return new int[n];
	}

	String text(Object o) {
		return "many " + o + new StringBuilder(o.toString());
	}

	Object[] objects(int n) {
		Object[] made = new Object[n];

		for (int i = 0; i < n; i++)
			made[i] = text(i);
		return made;
	}
}
