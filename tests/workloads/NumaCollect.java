/*
 * Fills in results on the main thread, and collects them by workers on all nodes.
 *
 * Usage: java [-Dnative=LIBRARY] NumaCollect as-is|fixed [SECONDS]
 *
 * as-is  one array, allocated and filled by main: all of it is on main's node
 * fixed  each worker allocates and fills the part that it will collect (parallel first touch)
 */
public final class NumaCollect extends NumaCase {
	private static final int RESULTS = 2 << 20;

	private final double[][] parts = new double[NODES][];
	private double[] results;

	private NumaCollect(String[] args) { super(args); }

	static double[] newResults(int n) { return new double[n]; } // site: as-is
	static double[] newPart(int n) { return new double[n]; } // site: fixed

	private static void compute(double[] out, int first) {
		for (int i = 0; i < out.length; i++)
			out[i] = Math.abs((first + i) * 1e-3 - 700);
	}

	private static double collect(double[] in, int from, int to) {
		double sum = 0;
		for (int i = from; i < to; i++)
			sum += in[i]; // access: collect
		return sum;
	}

	@Override
	void prepare(int worker) {
		if (fixed) {
			int from = share(RESULTS, worker, NODES);
			parts[worker] = newPart(share(RESULTS, worker + 1, NODES) - from);
			compute(parts[worker], from);
		}
	}

	@Override
	double step(int worker) {
		if (fixed)
			return collect(parts[worker], 0, parts[worker].length);
		return collect(results, share(RESULTS, worker, NODES), share(RESULTS, worker + 1, NODES));
	}

	public static void main(String[] args) throws InterruptedException {
		NumaCollect c = new NumaCollect(args);
		if (!c.fixed) {
			c.results = newResults(RESULTS);
			compute(c.results, 0);
		}
		end(c.run(0, NODES - 1) > 0 ? "collected" : "nothing");
	}
}
