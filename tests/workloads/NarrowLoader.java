import java.io.IOException;
import java.io.InputStream;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;

/**
 * Runs a plug-in by a class loader with a list of names outside which it finds nothing, as sandboxes have it. Prints
 * what the plug-in computed, what the loader was asked for that it does not list, and how often it was asked at all.
 *
 * Usage: NarrowLoader HOW ROUNDS
 * HOW: lists (a list of names), nested (the loader needs a class of its own to answer), wide (asks its parent for all)
 */
public class NarrowLoader {
	/** The plug-in: arrays, objects, a stream and tasks. */
	public static class Plugin implements Callable<Long> {
		static final class Row {
			final int[] cells;
			long sum;

			Row(int n) {
				cells = new int[n];
			}
		}

		static Row allocate(int n) {
			return new Row(n);
		}

		public static long run(int rounds) throws Exception {
			long sum = 0;
			for (int i = 0; i < rounds; i++) {
				Row row = allocate(4096);
				row.cells[i & 4095] = i;
				row.sum = row.cells[i & 4095] + row.cells.length;
				sum += row.sum;
			}
			ExecutorService pool = Executors.newFixedThreadPool(2);
			sum += pool.submit((Callable<Long>) new Plugin()).get();
			pool.shutdown();
			return sum + IntStream.range(0, 1000).map(x -> x * 2).sum() + new long[2][3000].length;
		}

		@Override
		public Long call() {
			return 7L;
		}
	}

	static class Loader extends ClassLoader {
		private static final Set<String> KNOWN = Set.of("java.lang.Object", "java.lang.String", "java.lang.Long",
				"java.lang.Integer", "java.lang.Exception", "java.lang.Throwable");
		private final boolean wide, nested;
		private int answers;

		Loader(boolean wide, boolean nested) {
			super(NarrowLoader.class.getClassLoader());
			this.wide = wide;
			this.nested = nested;
		}

		private Class<?> define(String name) throws ClassNotFoundException {
			try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
				byte[] bytes = in.readAllBytes();
				return defineClass(name, bytes, 0, bytes.length);
			} catch (IOException e) {
				throw new ClassNotFoundException(name, e);
			}
		}

		@Override
		protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			synchronized (getClassLoadingLock(name)) {
				Class<?> c = findLoadedClass(name);
				if (c != null)
					return c;
				if (name.startsWith("NarrowLoader$"))
					return define(name);
				if (nested && answers++ == 0)
					define("NarrowLoader$Answer");
				if (wide || KNOWN.contains(name) || name.startsWith("java.util.") || name.startsWith("java.lang.invoke."))
					return super.loadClass(name, resolve);
				throw new ClassNotFoundException(name);
			}
		}
	}

	/** The class that the nested loader defines when it is asked for one. */
	public static class Answer {
		static Object[] made = new Object[3000];
	}

	/** The same class from the program's own loader: its allocations are counted whatever others do. */
	static int[] ownAllocate() {
		return new int[4096];
	}

	static int[] kept;

	public static void main(String[] args) throws Exception {
		int rounds = Integer.parseInt(args[1]);
		Loader loader = new Loader(args[0].equals("wide"), args[0].equals("nested"));
		Class<?> plugin = Class.forName("NarrowLoader$Plugin", true, loader);
		Object sum = plugin.getMethod("run", int.class).invoke(null, rounds);
		for (int i = 0; i < rounds; i++)
			kept = ownAllocate();
		System.out.println("plug-in of " + plugin.getClassLoader().getClass().getName() + ": " + sum);
	}
}
