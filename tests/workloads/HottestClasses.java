import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/*
 * Has many classes that were executed once, and a few that run all the time: HottestClasses COLD HOT. Each class is defined by a
 * loader of its own, hot ones between cold ones, and all allocate. Prints "ready" when the hot ones have run for two seconds, and ends
 * with its input.
 */
public final class HottestClasses {
	static volatile Object sink;

	public static final class Cold implements Callable<Object> {
		@Override
		public Object call() {
			return new int[500];
		}
	}

	public static final class Hot implements Callable<Object> {
		@Override
		public Object call() {
			return new long[500];
		}
	}

	static final class Loader extends ClassLoader {
		Loader() {
			super(HottestClasses.class.getClassLoader());
		}

		Callable<?> make(Class<?> like) throws Exception {
			try (InputStream in = HottestClasses.class.getResourceAsStream(like.getName() + ".class")) {
				byte[] bytes = in.readAllBytes();
				return (Callable<?>)defineClass(like.getName(), bytes, 0, bytes.length).getDeclaredConstructor().newInstance();
			}
		}
	}

	public static void main(String[] args) throws Exception {
		int cold = Integer.parseInt(args[0]), hot = Integer.parseInt(args[1]);
		List<Callable<?>> running = new ArrayList<>(), kept = new ArrayList<>();
		for (int i = 0; i < cold; i++) {
			kept.add(new Loader().make(Cold.class));
			sink = kept.get(i).call();
			if (i % (cold / hot) == 0 && running.size() < hot)
				running.add(new Loader().make(Hot.class));
		}
		Thread worker = new Thread(() -> {
			try {
				while (true)
					for (Callable<?> c : running)
						sink = c.call();
			} catch (Exception e) {
				throw new IllegalStateException(e);
			}
		});
		worker.setDaemon(true);
		worker.start();
		Thread.sleep(2000);
		System.out.println("ready");
		while (System.in.read() >= 0)
			sink = null;
	}
}
