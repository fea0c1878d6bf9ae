/*
 * Holds what NumaCollect, NumaBitSet and NumaGrid share: a mode, a running time, and one worker on each
 * node. Without -Dnative=LIBRARY nothing is pinned, and the kernel decides where threads run.
 * -Dstatus=N: the exit status.
 *
 * Plain classes, no lambdas: these take the JVM a second to set up in an emulated machine.
 */
abstract class NumaCase {
	private static final boolean PINS = System.getProperty("native") != null;
	static final int NODES = NumaPlacement.nodes();
	/* At least: however slow the machine is, what it takes to prepare is then little beside. */
	private static final int STEPS = 20;

	final boolean fixed;
	private final double seconds;

	NumaCase(String[] args) {
		if (args.length < 1 || !(args[0].equals("as-is") || args[0].equals("fixed")))
			throw new IllegalArgumentException("as-is or fixed [SECONDS]");
		fixed = args[0].equals("fixed");
		seconds = args.length > 1 ? Double.parseDouble(args[1]) : 2;
		if (PINS)
			System.load(System.getProperty("native"));
		pin(0);
	}

	private static void pin(int node) {
		if (PINS)
			NumaPlacement.pin(node);
	}

	/* A worker's first step, which it then repeats. */
	abstract void prepare(int worker);
	abstract double step(int worker);

	/* Workers `first` to `last`, each on the node of its number: all prepare, then all step. */
	final double run(int first, int last) throws InterruptedException {
		final double[] results = new double[last + 1];
		final Thread[] threads = new Thread[last + 1];
		final java.util.concurrent.CyclicBarrier prepared =
			new java.util.concurrent.CyclicBarrier(last - first + 1);
		double sum = 0;
		for (int w = first; w <= last; w++) {
			final int worker = w;
			threads[w] = new Thread("worker-" + w) {
				@Override
				public void run() {
					pin(worker);
					prepare(worker);
					try {
						prepared.await();
					} catch (InterruptedException | java.util.concurrent.BrokenBarrierException e) {
						throw new IllegalStateException(e);
					}
					long end = System.nanoTime() + (long) (seconds * 1e9);
					for (int i = 0; i < STEPS || System.nanoTime() < end; i++)
						results[worker] += step(worker);
				}
			};
			threads[w].setUncaughtExceptionHandler(new Thread.UncaughtExceptionHandler() {
				@Override
				public void uncaughtException(Thread thread, Throwable failure) {
					failure.printStackTrace();
					Runtime.getRuntime().halt(3); // the others would wait for it
				}
			});
			threads[w].start();
		}
		for (int w = first; w <= last; w++) {
			threads[w].join();
			sum += results[w];
		}
		return sum;
	}

	static void end(String result) {
		System.out.println(result);
		System.exit(Integer.getInteger("status", 0));
	}

	/* The first of `all` that is worker w's, where all workers take the like; and of worker w + 1 the first. */
	static int share(int all, int w, int workers) { return (int) ((long) all * w / workers); }
}
