import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/*
 * Makes virtual threads all the time, of which each holds an object, as a static field does. Some
 * others wait, park or sleep, and hold an object each that nothing else holds. Needs JDK 21. Prints
 * "ready", and ends at the end of its input.
 */
public final class HeldVirtual {
	static final class Kept {}

	static final class Alone {}

	static final class InLocal {}

	static final int WAITING = 300;
	static final ThreadLocal<InLocal> LOCAL = new ThreadLocal<>();
	static final List<Object> threads = new ArrayList<>();
	static final CountDownLatch begun = new CountDownLatch(WAITING);

	static final Kept kept = new Kept();
	static volatile Object seen;

	private static void make(MethodHandle unstarted, Object builder) {
		try {
			for (;;)
				seen = unstarted.invoke(builder, (Runnable)() -> seen = kept);
		} catch (Throwable e) {
			e.printStackTrace();
		}
	}

	private static void hold(int way) {
		final Alone held = new Alone();

		LOCAL.set(new InLocal());
		begun.countDown();
		try {
			while (held != seen)
				switch (way) {
				case 0:
					LockSupport.park();
					break;
				case 1:
					Thread.sleep(3_600_000);
					break;
				default:
					synchronized (held) {
						held.wait();
					}
				}
		} catch (InterruptedException e) {
			seen = held;
		}
	}

	public static void main(String[] args) throws Throwable {
		final Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
		final Class<?> type = Class.forName("java.lang.Thread$Builder");
		final MethodHandle unstarted = MethodHandles.lookup().findVirtual(
		    type, "unstarted", MethodType.methodType(Thread.class, Runnable.class));

		for (int i = 0; i < WAITING; i++) {
			final int way = i % 100 == 0 ? 2 : i % 2; // JDK 21 blocks a carrier for each that waits

			threads.add(Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable)() -> hold(way)));
		}
		begun.await();
		for (int i = 0; i < 4; i++) {
			final Thread maker = new Thread(() -> make(unstarted, builder));

			maker.setDaemon(true);
			maker.start();
		}
		System.out.println("ready");
		System.out.flush();
		while (System.in.read() >= 0) {}
	}
}
