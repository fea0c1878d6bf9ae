import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.util.function.IntFunction;

/*
 * Has many classes loaded, does work, and tells how long it stood still.
 *
 * Usage: ManyClasses CLASSES
 *
 * Answers each line of the input with "GAP_US TURNS NS": the longest time since the last line in which
 * the watching thread did not run, in microseconds, and how many turns of the working thread there
 * were, in how many ns. "end" ends it.
 */
public final class ManyClasses {
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
			long now = System.nanoTime();

			if (now - last > longest)
				longest = now - last;
			last = now;
		}
	}

	static long turn(IntFunction<Object>[] all, long random) {
		long sum = 0;

		for (int i = 0; i < 100; i++) {
			random = random * 6364136223846793005L + 1442695040888963407L;
			int[] made = (int[]) all[(int) (random >>> 33) % all.length].apply(300);
			made[i] = i;
			sum += made[i / 2] + random;
			sink = made;
		}
		return sum;
	}

	static void work(IntFunction<Object>[] all) {
		for (long random = 1;;) {
			random = turn(all, random);
			turns++;
		}
	}

	static void start(Runnable task) {
		Thread thread = new Thread(task);

		thread.setDaemon(true);
		thread.start();
	}

	@SuppressWarnings("unchecked")
	public static void main(String[] args) throws Exception {
		IntFunction<Object>[] all = new IntFunction[Integer.parseInt(args[0])];
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		Loader loader = new Loader();
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
		start(() -> work(all));
		System.out.println("ready");
		long begin = System.nanoTime(), before = turns;
		for (String line; (line = in.readLine()) != null && !line.equals("end"); ) {
			long now = System.nanoTime(), made = turns;

			System.out.println(longest / 1000 + " " + (made - before) + " " + (now - begin));
			longest = 0;
			begin = System.nanoTime();
			before = turns;
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
