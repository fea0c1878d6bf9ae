// SPDX-License-Identifier: Apache-2.0
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/*
 * Lets code come and go under the sampler: hidden classes that are compiled and unloaded,
 * receivers that change so that code is thrown away, threads that live for a moment, collections.
 * Usage: java -agentpath:libsample_agent.so SampleSoak SECONDS THREADS
 */
public final class SampleSoak {
	interface Shape {
		long area(int[] a, int n);
	}

	public static final class Worker implements Shape {
		public long area(int[] a, int n) {
			long s = 0;
			int x = n;
			for (int i = 0; i < n; i++) {
				x = x * 1664525 + 1013904223;
				s += a[(x >>> 4) & (a.length - 1)];
			}
			return s;
		}
	}

	static final AtomicBoolean done = new AtomicBoolean();
	static final AtomicLong classes = new AtomicLong(), threads = new AtomicLong();
	static final int[] data = new int[1 << 22];
	static volatile long sink;

	static long use(Shape s, int n) {
		return s.area(data, n) + s.hashCode();
	}

	static void unloadLoop(byte[] bytes) {
		try {
			while (!done.get()) {
				Shape s = (Shape) MethodHandles.lookup().defineHiddenClass(bytes, true)
						.lookupClass().getDeclaredConstructor().newInstance();
				for (int i = 0; i < 600; i++)
					sink += use(s, 200 + i);
				classes.incrementAndGet();
			}
		} catch (ReflectiveOperationException e) {
			throw new IllegalStateException(e);
		}
	}

	static void deoptLoop() {
		Shape[] shapes = { (a, n) -> a[n & 7], (a, n) -> a.length - n, new Worker(),
				(a, n) -> n < 190 ? 1 : a[n] };
		for (int k = 0; !done.get(); k++)
			for (int i = 0; i < 3000; i++)
				sink += use(shapes[(k & 64) == 0 ? k & 1 : i & 3], 100);
	}

	public static void main(String[] args) throws Exception {
		long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
		long wanted = Long.parseLong(args[1]);
		byte[] bytes;
		try (InputStream in = SampleSoak.class.getResourceAsStream("SampleSoak$Worker.class")) {
			bytes = in.readAllBytes();
		}
		Thread unload = new Thread(() -> unloadLoop(bytes)), deopt = new Thread(SampleSoak::deoptLoop);
		unload.start();
		deopt.start();
		long pause = Math.max(0, (end - System.nanoTime()) / Math.max(1, wanted) * 16);
		while (System.nanoTime() < end || threads.get() < wanted) {
			long until = System.nanoTime() + pause;
			Thread[] batch = new Thread[16];
			for (int i = 0; i < batch.length; i++)
				(batch[i] = new Thread(() -> sink += use(new Worker(), 20000))).start();
			for (Thread t : batch)
				t.join();
			if (threads.addAndGet(batch.length) % 800 == 0)
				System.gc();
			long left = (until - System.nanoTime()) / 1_000_000;
			if (left > 0)
				Thread.sleep(left);
		}
		done.set(true);
		unload.join();
		deopt.join();
		System.out.println("classes " + classes + ", threads " + threads);
	}
}
