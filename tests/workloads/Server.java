import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;

/*
 * Works as a server does, at a steady pace: arrays of many sizes, strings, maps, a cache of arrays, threads that come and
 * go, and classes that are loaded and unloaded.
 *
 * Usage: Server SECONDS
 *
 * Prints a line a second, "SECONDS REQUESTS", and "end ALLOCATIONS" at its end: the arrays of serverAllocate() of a
 * kilobyte and more.
 */
public final class Server {
	static final AtomicLong MADE = new AtomicLong(), REQUESTS = new AtomicLong();
	static final Object[] CACHE = new Object[2000];
	public static volatile Object sink;

	static byte[] serverAllocate(int n) {
		if (n > 1000) // with its header, and aligned, a kilobyte: these are counted one by one
			MADE.incrementAndGet();
		return new byte[n];
	}

	/* A class that each loader defines anew. */
	public static final class Handler implements Callable<Integer> {
		@Override
		public Integer call() {
			return ((long[])(sink = new long[300])).length;
		}
	}

	static final class Loader extends ClassLoader {
		final byte[] bytes;

		Loader(byte[] bytes) {
			super(Server.class.getClassLoader());
			this.bytes = bytes;
		}

		Class<?> define() { return defineClass(Handler.class.getName(), bytes, 0, bytes.length); }
	}

	static long request(int number) {
		long random = number * 0x9e3779b97f4a7c15L, sum = 0;
		Map<String, byte[]> parts = new HashMap<>();
		for (int i = 0; i < 40; i++) {
			random = random * 6364136223846793005L + 1442695040888963407L;
			int size = 100 + (int)(random >>> 40) % (i == 0 ? 60_000 : 3000);
			byte[] body = serverAllocate(size);
			for (int k = 0; k < body.length; k += 16)
				sum += ++body[k];
			parts.put("part " + i + " of " + number, body);
			if (i < 4)
				CACHE[(int)(random >>> 33) % CACHE.length] = body;
		}
		StringBuilder text = new StringBuilder();
		for (Map.Entry<String, byte[]> e : parts.entrySet())
			text.append(e.getKey()).append(e.getValue().length).append('\n');
		sink = text.toString();
		return sum + text.length();
	}

	static void serve(int first) {
		for (int i = 0; i < 20; i++) {
			sink = request(first + i);
			REQUESTS.incrementAndGet();
		}
	}

	public static void main(String[] args) throws Exception {
		long begin = System.nanoTime(), said = 0;
		long end = begin + Long.parseLong(args[0]) * 1_000_000_000L;
		byte[] bytes;
		try (InputStream in = Server.class.getResourceAsStream("Server$Handler.class")) {
			bytes = in.readAllBytes();
		}
		for (int round = 0; System.nanoTime() < end; round++) {
			List<Thread> threads = new ArrayList<>();
			for (int t = 0; t < 4; t++) {
				int first = (round * 4 + t) * 20 % 100_000;
				threads.add(new Thread(() -> serve(first), "worker " + t));
			}
			for (Thread t : threads)
				t.start();
			if (round % 5 == 0)
				sink = ((Callable<?>)new Loader(bytes).define().getDeclaredConstructor().newInstance()).call();
			for (Thread t : threads)
				t.join();
			Thread.sleep(20);
			long now = (System.nanoTime() - begin) / 1_000_000_000L;
			if (now > said) {
				System.out.println(now + " " + REQUESTS.get());
				System.out.flush();
				said = now;
			}
		}
		System.out.println("end " + MADE.get());
	}
}
