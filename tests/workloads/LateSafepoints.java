import java.util.function.Supplier;

/*
 * LateSafepoints SECONDS: loops over objects of twelve classes, one class after the other, which never look whether a
 * collection waits for them (with -XX:-UseCountedLoopSafepoints), beside a thread that asks for one collection after the
 * other: whoever calls the JVM waits most of the time. Prints the iterations that it did.
 */
public final class LateSafepoints {
	static final int MANY = 1 << 14, ROUNDS = 4000;
	static volatile long sink;

	static class Base { long value = 1, other; }
	static final class C0 extends Base { }
	static final class C1 extends Base { }
	static final class C2 extends Base { }
	static final class C3 extends Base { }
	static final class C4 extends Base { }
	static final class C5 extends Base { }
	static final class C6 extends Base { }
	static final class C7 extends Base { }
	static final class C8 extends Base { }
	static final class C9 extends Base { }
	static final class C10 extends Base { }
	static final class C11 extends Base { }

	static final Supplier<?>[] CLASSES = { C0::new, C1::new, C2::new, C3::new, C4::new, C5::new, C6::new, C7::new, C8::new,
		C9::new, C10::new, C11::new };

	static long loop(Base[] a) {
		long sum = 0;
		for (int round = 0; round < ROUNDS; round++)
			for (int i = 0; i < a.length; i++)
				sum += a[i].value ^ round;
		return sum;
	}

	public static void main(String[] args) {
		Thread collector = new Thread(() -> {
			for (;;)
				System.gc();
		});
		collector.setDaemon(true);
		collector.start();
		long each = (long) (Double.parseDouble(args[0]) / CLASSES.length * 1e9), rounds = 0;
		for (Supplier<?> one : CLASSES) {
			Base[] a = new Base[MANY];
			for (int i = 0; i < MANY; i++)
				a[i] = (Base) one.get();
			for (long begin = System.nanoTime(); System.nanoTime() - begin < each; rounds++)
				sink += loop(a);
		}
		System.out.println(rounds);
	}
}
