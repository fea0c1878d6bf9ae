import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Random;

/*
 * Provokes collections of every kind over arrays of mixed sizes; each array knows its own content.
 *
 * Usage: GcAudit COLLECTIONS LIVE_MEGABYTES
 *
 * Two threads replace entries of a table of live arrays at random and drop most of what they
 * allocate; now and then an array is humongous for G1, a whole generation dies, or System.gc()
 * is called. Ends when so many collections have run. Prints one line of JSON.
 */
public final class GcAudit {
	static volatile boolean stop;
	static volatile Object sink;

	static long collections() {
		long n = 0;
		for (GarbageCollectorMXBean b : ManagementFactory.getGarbageCollectorMXBeans())
			n += Math.max(0, b.getCollectionCount());
		return n;
	}

	static Object makeBytes(int n) { return new byte[n]; }
	static Object makeLongs(int n) { return new long[n]; }
	static Object makeObjects(int n) { return new Object[n]; }
	static Object makeHumongous(int n) { return new int[n]; }

	static int bytesOf(Object o) {
		if (o instanceof byte[])
			return ((byte[]) o).length;
		if (o instanceof long[])
			return 8 * ((long[]) o).length;
		if (o instanceof Object[])
			return 4 * ((Object[]) o).length;
		return 4 * ((int[]) o).length;
	}

	static final class Churner extends Thread {
		final Random random;
		final Object[] live = new Object[6000];
		final long liveMax;
		long made, liveBytes;

		Churner(int seed, long liveMax) {
			super("churner-" + seed);
			this.random = new Random(seed);
			this.liveMax = liveMax;
		}

		Object make() {
			int k = random.nextInt(1000);
			made++;
			if (k < 500)
				return makeBytes(1008 + random.nextInt(3000));
			if (k < 800)
				return makeLongs(126 + random.nextInt(900));
			if (k < 998)
				return makeObjects(252 + random.nextInt(1500));
			return makeHumongous(140_000 + random.nextInt(300_000));
		}

		void keep(int slot, Object o) {
			if (live[slot] != null)
				liveBytes -= bytesOf(live[slot]);
			live[slot] = o;
			liveBytes += bytesOf(o);
			while (liveBytes > liveMax) {
				int victim = random.nextInt(live.length);
				if (live[victim] != null) {
					liveBytes -= bytesOf(live[victim]);
					live[victim] = null;
				}
			}
		}

		@Override
		public void run() {
			while (!stop) {
				for (int i = 0; i < 2000; i++) {
					Object o = make();
					if (random.nextInt(3) == 0)
						keep(random.nextInt(live.length), o);
					else
						sink = o;
				}
				if (random.nextInt(40) == 0)
					for (int i = 0; i < live.length; i += 2)
						if (live[i] != null) {
							liveBytes -= bytesOf(live[i]);
							live[i] = null;
						}
			}
		}
	}

	public static void main(String[] args) throws Exception {
		long goal = Long.parseLong(args[0]);
		long live = Long.parseLong(args[1]) << 20;
		Churner[] churners = {new Churner(1, live / 2), new Churner(2, live / 2)};
		for (Churner c : churners)
			c.start();
		for (int i = 1; collections() < goal; i++) {
			Thread.sleep(5);
			if (i % 6 == 0)
				System.gc();
		}
		stop = true;
		long made = 0;
		for (Churner c : churners) {
			c.join();
			made += c.made;
		}
		System.out.println("{\"gcs\":" + collections() + ",\"made\":" + made + "}");
	}
}
