import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/*
 * Makes virtual threads all the time, of which each holds an object, as a static field does. Needs
 * JDK 21. Prints "ready", and ends at the end of its input.
 */
public final class HeldVirtual {
	static final class Kept {}

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

	public static void main(String[] args) throws Throwable {
		final Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
		final Class<?> type = Class.forName("java.lang.Thread$Builder");
		final MethodHandle unstarted = MethodHandles.lookup().findVirtual(
		    type, "unstarted", MethodType.methodType(Thread.class, Runnable.class));

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
