import java.io.InputStream;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.concurrent.Callable;
import java.util.function.IntFunction;

/*
 * Does what has many stacks, deep ones or new ones, and allocates in their frames.
 *
 * Usage: WalkStorms MODE TIMES (see main)
 *
 * Prints one line of JSON: of each method that allocates, how many arrays it has made. An array whose hook found no room on the
 * stack is not among them.
 */
public final class WalkStorms {
	static final int EXCEPTION_FRAMES = 20, LAMBDA_FRAMES = 300, TREE_FRAMES = 2000;
	static volatile Object sink;
	static long overflowed, thrown, called, walked, loaded, started;

	static int overflow(int depth) {
		int[] a = new int[300];
		overflowed++;
		return overflow(depth + 1) + a.length;
	}

	static void overflows(int times) {
		for (int i = 0; i < times; i++)
			try {
				overflow(0);
			} catch (StackOverflowError e) {
				sink = null;
			}
	}

	static int raise(int frames) {
		byte[] a = new byte[1100];
		thrown++;
		if (frames == 1)
			throw new IllegalStateException();
		return raise(frames - 1) + a.length;
	}

	static void exceptions(int times) {
		for (int i = 0; i < times; i++)
			try {
				raise(EXCEPTION_FRAMES);
			} catch (IllegalStateException e) {
				sink = e;
			}
	}

	/* Each frame calls a lambda, which calls a proxy, whose handler calls the frame. */
	static final IntFunction<?> proxy = (IntFunction<?>)Proxy.newProxyInstance(WalkStorms.class.getClassLoader(),
	        new Class<?>[] {IntFunction.class}, new InvocationHandler() {
		        @Override
		        public Object invoke(Object p, java.lang.reflect.Method m, Object[] args) {
			        return lambdas((Integer)args[0]);
		        }
	        });

	static Object lambdas(int frames) {
		byte[] a = new byte[1200];
		called++;
		if (frames == 0)
			return a;
		Callable<Object> next = frames % 2 == 0 ? () -> lambdas(frames - 1) : () -> proxy.apply(frames - 1);
		try {
			return next.call() == a ? null : a;
		} catch (Exception e) {
			throw new IllegalStateException(e);
		}
	}

	/* Each of 2,000 frames is of one of eight methods, which the round and the frame choose: no two stacks are alike. */
	abstract static class Node {
		abstract Object go(long seed, int left);

		static Object next(long seed, int left) {
			if (left == 0)
				return sink;
			seed = seed * 6364136223846793005L + 1442695040888963407L;
			return NODES[(int)(seed >>> 61)].go(seed, left - 1);
		}
	}

	static byte[] leaf(int left) {
		if (left % 100 != 0)
			return null;
		walked++;
		return new byte[1300];
	}

	static final class A extends Node { @Override Object go(long s, int n) { Object o = leaf(n); return o == next(s, n) ? null : o; } }
	static final class B extends Node { @Override Object go(long s, int n) { Object o = leaf(n); return o == next(s, n) ? null : o; } }
	static final class C extends Node { @Override Object go(long s, int n) { Object o = leaf(n); return o == next(s, n) ? null : o; } }
	static final class D extends Node { @Override Object go(long s, int n) { Object o = leaf(n); return o == next(s, n) ? null : o; } }
	static final class E extends Node { @Override Object go(long s, int n) { Object o = leaf(n); return o == next(s, n) ? null : o; } }
	static final class F extends Node { @Override Object go(long s, int n) { Object o = leaf(n); return o == next(s, n) ? null : o; } }
	static final class G extends Node { @Override Object go(long s, int n) { Object o = leaf(n); return o == next(s, n) ? null : o; } }
	static final class H extends Node { @Override Object go(long s, int n) { Object o = leaf(n); return o == next(s, n) ? null : o; } }

	static final Node[] NODES = {new A(), new B(), new C(), new D(), new E(), new F(), new G(), new H()};

	/* A class that a loader of its own defines. */
	public static final class Victim implements Callable<Object> {
		@Override
		public Object call() {
			return new int[500];
		}
	}

	static final class Loader extends ClassLoader {
		final byte[] bytes;

		Loader(byte[] bytes) {
			super(WalkStorms.class.getClassLoader());
			this.bytes = bytes;
		}

		@Override
		protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			if (!name.equals(Victim.class.getName()))
				return super.loadClass(name, resolve);
			Class<?> c = findLoadedClass(name);
			return c != null ? c : defineClass(name, bytes, 0, bytes.length);
		}
	}

	static void classes(int times) throws Exception {
		byte[] bytes;
		try (InputStream in = WalkStorms.class.getResourceAsStream("WalkStorms$Victim.class")) {
			bytes = in.readAllBytes();
		}
		for (int i = 0; i < times; i++) {
			sink = ((Callable<?>)new Loader(bytes).loadClass(Victim.class.getName()).getDeclaredConstructor().newInstance()).call();
			loaded++;
		}
	}

	static byte[] inThread() {
		return new byte[1400];
	}

	/* A loader and a thread at a time, with the work of a request between. */
	static void loaders(int times) throws Exception {
		for (int i = 0; i < times; i++) {
			classes(1);
			Thread t = new Thread(() -> {
				sink = inThread();
				long h = 0;
				for (int k = 0; k < 12_000_000; k++)
					h = h * 31 + (k ^ h >>> 7);
				if (h == 1)
					sink = null;
			});
			t.start();
			t.join();
			started++;
		}
	}

	static void run(String mode, int times) throws Exception {
		switch (mode) {
		case "overflow":
			overflows(times);
			break;
		case "exceptions":
			exceptions(times);
			break;
		case "lambdas":
			for (int i = 0; i < times; i++)
				sink = lambdas(LAMBDA_FRAMES);
			break;
		case "trees":
			for (int i = 0; i < times; i++)
				sink = Node.next(i, TREE_FRAMES);
			break;
		case "classes":
			classes(times);
			break;
		case "loaders":
			loaders(times);
			break;
		default:
			throw new IllegalArgumentException(mode);
		}
	}

	/* MODE is that of run(), behind "virtual-" in a virtual thread. */
	public static void main(String[] args) throws Exception {
		int times = Integer.parseInt(args[1]);
		if (args[0].startsWith("virtual-")) {
			Runnable body = () -> {
				try {
					run(args[0].substring("virtual-".length()), times);
				} catch (Exception e) {
					throw new IllegalStateException(e);
				}
			};
			((Thread)Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body)).join();
		} else {
			run(args[0], times);
		}
		System.out.printf("{\"overflow\":%d,\"raise\":%d,\"lambdas\":%d,\"leaf\":%d,\"call\":%d,\"inThread\":%d}%n",
		        overflowed, thrown, called, walked, loaded, started);
	}
}
