import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;

/*
 * Makes small objects to be watched: how often each is touched, and how many there are, is exact.
 *
 * Usage: WatchSmall count TIMES | make TIMES | read TIMES
 *
 * count: the first counter is incremented TIMES times by two threads, the second one three times,
 * while collections move them. make: objects and arrays of several classes, by three threads, TIMES
 * times each. read: one Float, read TIMES times.
 */
public final class WatchSmall {
	static final VarHandle VALUE;
	static volatile Object sink;
	static volatile Object garbage;

	static class Counter implements Cloneable {
		int value;
		final Counter inner;

		Counter() { this(null); }
		Counter(Counter inner) { this.inner = inner; }

		@Override
		public Counter clone() {
			try {
				return (Counter) super.clone();
			} catch (CloneNotSupportedException e) {
				throw new AssertionError(e);
			}
		}
	}

	/* Its constructor runs Counter's. */
	static final class Special extends Counter {
		int more;
	}

	static final class Fails {
		int value;

		Fails(boolean fail) {
			if (fail)
				throw new IllegalStateException();
		}
	}

	/* At least 64 bytes: both kinds of hook see it. */
	static final class Large {
		long a, b, c, d, e, f, g, value;
	}

	static {
		try {
			VALUE = MethodHandles.lookup().findVarHandle(Counter.class, "value", int.class);
		} catch (ReflectiveOperationException e) {
			throw new ExceptionInInitializerError(e);
		}
	}

	static void increment(Counter c, long times) {
		for (long i = 0; i < times; i++)
			VALUE.setOpaque(c, (int) i);
	}

	static Object build(int i) {
		return new StringBuilder().append(i).append("-x").toString();
	}

	static Counter reflected(Constructor<Counter> constructor) throws Exception {
		return constructor.newInstance();
	}

	/* 4 objects of Counter, 1 or 2 of Fails that are whole, 1 of Large, of String and of Double. */
	static void makeObjects(Constructor<Counter> constructor, int i) throws Exception {
		sink = new Counter(new Counter());
		Counter made = reflected(constructor);
		sink = made;
		sink = made.clone();
		sink = new Special();
		sink = new Special().clone();
		sink = new Large();
		sink = build(i);
		sink = (double) i;
		try {
			sink = new Fails(i % 2 == 0);
			sink = new Fails(false);
		} catch (IllegalStateException e) {
			sink = new Fails(false);
		}
	}

	/* 10 of Counter[], 1 of Counter[][], 4 of short[]. */
	static void makeArrays(int i) {
		int none = i & 0, few = i & 1;
		Counter[] a = new Counter[2];
		sink = a;
		sink = new Counter[none];
		sink = new Counter[few + 1];
		sink = a.clone();
		sink = ((Object[]) a).clone();
		sink = Arrays.copyOf(a, few + 3);
		sink = Arrays.copyOf(new Object[few + 1], few + 1, Counter[].class);
		sink = Array.newInstance(Counter.class, few + 2);
		sink = new Counter[2][few + 2];
		sink = new Special[few + 1];
		short[] s = new short[few + 1];
		sink = s;
		sink = new short[3];
		sink = s.clone();
		sink = Array.newInstance(short.class, few);
		sink = new char[few + 2];
	}

	static void make(int times) throws Exception {
		Constructor<Counter> constructor = Counter.class.getDeclaredConstructor();
		Thread[] threads = new Thread[3];
		CountDownLatch ready = new CountDownLatch(threads.length);

		for (int t = 0; t < threads.length; t++) {
			threads[t] = new Thread(() -> {
				ready.countDown();
				try {
					ready.await();
					for (int i = 0; i < times; i++) {
						makeObjects(constructor, i);
						makeArrays(i);
					}
				} catch (Exception e) {
					throw new AssertionError(e);
				}
			});
			threads[t].start();
		}
		for (Thread t : threads)
			t.join();
	}

	static void count(long times) throws InterruptedException {
		Counter first = new Counter(), second = new Counter();
		Thread[] threads = new Thread[2];

		increment(second, 1);
		for (int t = 0; t < threads.length; t++) {
			threads[t] = new Thread(() -> {
				increment(first, times / 2);
				increment(second, 1);
			}, "counter-" + t);
			threads[t].start();
		}
		for (int i = 0; i < 12 || threads[0].isAlive() || threads[1].isAlive(); i++) {
			byte[][] bytes = new byte[256][];
			for (int j = 0; j < bytes.length; j++)
				bytes[j] = new byte[1 << 14];
			garbage = bytes;
			if (i == 4)
				System.gc();
			Thread.sleep(20);
		}
		for (Thread t : threads)
			t.join();
		sink = second;
		if (first.value + second.value == -1)
			System.out.println();
	}

	static int read(Float f, int times) {
		int sum = 0;

		for (int i = 0; i < times; i++)
			sum += f.intValue();
		return sum;
	}

	public static void main(String[] args) throws Exception {
		int times = Integer.parseInt(args[1]);

		if (args[0].equals("count"))
			count(times);
		else if (args[0].equals("make"))
			make(times);
		else
			sink = read((float) times, times);
		System.out.println("{}");
	}
}
