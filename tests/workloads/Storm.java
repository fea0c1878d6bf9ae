import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.function.LongUnaryOperator;

/*
 * Does one thing that is hard on a profiler again and again, and allocates known arrays between.
 *
 * Usage: Storm MODE TIMES (see main)
 *
 * stormAllocate() allocates 10 arrays for each time ("threads": on a thread each). It prints the same each time. "redefine" wants
 * net.bytebuddy.agent.ByteBuddyAgent on the class path.
 */
public final class Storm {
	public static volatile Object sink;
	static volatile boolean ended;

	static byte[] stormAllocate(int n) { return new byte[n]; }

	static void allocate() {
		for (int i = 0; i < 10; i++)
			sink = stormAllocate(2000 + i);
	}

	/* A class that a loader of its own defines, and that allocates. */
	public static final class Victim implements Callable<Integer> {
		@Override
		public Integer call() {
			int sum = 0;
			for (int i = 0; i < 10; i++)
				sum += ((int[])(sink = new int[500 + i])).length;
			return sum;
		}
	}

	static byte[] bytesOf(Class<?> c) throws Exception {
		try (InputStream in = c.getResourceAsStream(c.getName().replace('.', '/') + ".class")) {
			return in.readAllBytes();
		}
	}

	static final class Loader extends ClassLoader {
		final byte[] bytes;
		final String own;

		Loader(byte[] bytes) {
			this(bytes, Victim.class);
		}

		Loader(byte[] bytes, Class<?> own) {
			super(Storm.class.getClassLoader());
			this.bytes = bytes;
			this.own = own.getName();
		}

		@Override
		protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			if (!name.equals(own))
				return super.loadClass(name, resolve);
			Class<?> c = findLoadedClass(name);
			return c != null ? c : defineClass(name, bytes, 0, bytes.length);
		}
	}

	/* An object of a class of its own. */
	static Callable<?> one(byte[] bytes, Class<?> c) throws Exception {
		return (Callable<?>)new Loader(bytes, c).loadClass(c.getName()).getDeclaredConstructor().newInstance();
	}

	static long classes(int times) throws Exception {
		byte[] bytes = bytesOf(Victim.class);
		long sum = 0;
		for (int i = 0; i < times; i++) {
			Object victim = new Loader(bytes).loadClass(Victim.class.getName()).getDeclaredConstructor().newInstance();
			sum += (Integer)((Callable<?>)victim).call();
			Proxy.newProxyInstance(new Loader(bytes), new Class<?>[] {Runnable.class}, (p, m, a) -> null);
			allocate();
			if (i % 50 == 49)
				System.gc();
		}
		return sum;
	}

	static long redefine(int times) throws Exception {
		Instrumentation own = (Instrumentation)Class.forName("net.bytebuddy.agent.ByteBuddyAgent").getMethod("install").invoke(null);
		ClassDefinition again = new ClassDefinition(Victim.class, bytesOf(Victim.class));
		Thread runs = new Thread(() -> {
			while (!ended)
				new Victim().call();
		});
		runs.start();
		for (int i = 0; i < times; i++) {
			own.redefineClasses(again);
			allocate();
		}
		ended = true;
		runs.join();
		return times;
	}

	/* Its code is made for what it has seen, until it sees something else. */
	public static final class Speculates implements Callable<Integer> {
		static int step(int i, boolean rare) {
			return rare ? Integer.numberOfLeadingZeros(i) + Integer.bitCount(i) : i * 3;
		}

		@Override
		public Integer call() {
			int sum = 0;
			for (int i = 0; i < 30_000; i++)
				sum += step(i, false);
			for (int i = 0; i < 10; i++)
				sum += step(i, true);
			return sum;
		}
	}

	interface Shape {
		long area(long n);
	}

	/* Each round brings a class that the compiled code did not expect, and an exception. */
	static long deoptimise(int times) throws Exception {
		Shape[] shapes = {n -> n, n -> n * 3, n -> n ^ 5, n -> n >> 1, n -> { throw new IllegalArgumentException(); }};
		byte[] speculates = bytesOf(Speculates.class);
		long sum = 0;
		for (int i = 0; i < times; i++) {
			Shape shape = shapes[i % 7 == 6 ? 4 : i * shapes.length / times % 4];
			for (int k = 0; k < 2000; k++)
				try {
					sum += shape.area(k);
				} catch (IllegalArgumentException e) {
					sum--;
				}
			if (i % 5 == 0)
				sum += (Integer)one(speculates, Speculates.class).call();
			allocate();
		}
		return sum;
	}

	/* More code than a small code cache holds: many classes with hot loops. */
	static long compile(int times) throws Exception {
		byte[] bytes = bytesOf(Victim.class);
		List<Callable<?>> all = new ArrayList<>();
		long sum = 0;
		for (int i = 0; i < times; i++) {
			all.add(one(bytes, Victim.class));
			for (int k = 0; k < 300; k++)
				sum += (Integer)all.get(all.size() - 1).call();
			allocate();
			if (all.size() > 100) {
				all.clear();
				System.gc();
			}
		}
		return sum;
	}

	static long humongous(int times) {
		Object[] kept = new Object[4];
		long sum = 0;
		for (int i = 0; i < times; i++) {
			byte[] large = new byte[(4 << 20) + (i % 3 << 20)];
			for (int k = 0; k < large.length; k += 4096)
				sum += ++large[k];
			kept[i % kept.length] = large;
			allocate();
		}
		return sum;
	}

	/* Objects of a tenth of the heap, of which few find room beside each other. */
	static long huge(int times) {
		Object[] kept = new Object[3];
		long sum = 0;
		for (int i = 0; i < times; i++) {
			kept[i % kept.length] = null;
			byte[] large = new byte[200 << 20];
			for (int k = 0; k < large.length; k += 4096)
				sum += ++large[k];
			kept[i % kept.length] = large;
			allocate();
		}
		return sum;
	}

	/* So many threads are there at a time. */
	static long threads(int times) throws Exception {
		CountDownLatch there = new CountDownLatch(times), go = new CountDownLatch(1);
		Thread[] all = new Thread[times];
		for (int i = 0; i < times; i++) {
			all[i] = new Thread(() -> {
				allocate();
				there.countDown();
				try {
					go.await();
				} catch (InterruptedException e) {
					return;
				}
			});
			all[i].start();
		}
		there.await();
		System.gc();
		long sum = 0;
		for (int k = 0; k < 1 << 28; k++)
			sum += k ^ times;
		go.countDown();
		for (Thread t : all)
			t.join();
		return sum & 1;
	}

	static long collect(int times) throws Exception {
		Thread collects = new Thread(() -> {
			int n = 0;
			do
				System.gc();
			while (++n < 5 || !ended);
		});
		collects.start();
		List<Object> kept = new ArrayList<>();
		for (int i = 0; i < times; i++) {
			allocate();
			kept.add(new LongUnaryOperator[20]);
			Thread.sleep(i % 20 == 0 ? 1 : 0);
		}
		ended = true;
		collects.join();
		return kept.size();
	}

	static long children(int times) throws Exception {
		long status = 0;
		for (int i = 0; i < times; i++) {
			Process p = new ProcessBuilder("/bin/sh", "-c", "echo child; exit 3").start();
			status += p.getInputStream().readAllBytes().length + p.waitFor();
			allocate();
		}
		return status;
	}

	static long deep(int frames, int times) {
		if (frames > 0)
			return 1 + deep(frames - 1, times);
		long sum = 0;
		for (int i = 0; i < times; i++) {
			allocate();
			for (int k = 0; k < 1 << 20; k++)
				sum += k ^ i;
		}
		return sum & 1;
	}

	static long told;

	public static void main(String[] args) throws Exception {
		int times = Integer.parseInt(args[1]);
		switch (args[0]) {
		case "classes":
			told = classes(times);
			break;
		case "redefine":
			told = redefine(times);
			break;
		case "deoptimise":
			told = deoptimise(times);
			break;
		case "compile":
			told = compile(times);
			break;
		case "humongous":
			told = humongous(times);
			break;
		case "huge":
			told = huge(times);
			break;
		case "threads":
			told = threads(times);
			break;
		case "collect":
			told = collect(times);
			break;
		case "children":
			told = children(times);
			break;
		case "deep":
			Thread t = new Thread(null, () -> told = deep(50_000, times), "deep", 1L << 30);
			t.start();
			t.join();
			break;
		default:
			throw new IllegalArgumentException(args[0]);
		}
		System.out.println(args[0] + " " + told);
		System.exit(3);
	}
}
