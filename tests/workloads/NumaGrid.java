/*
 * Relaxes the grid of a solver, each band of its rows by a worker on another node.
 *
 * Usage: java [-Dnative=LIBRARY] NumaGrid as-is|fixed [SECONDS]
 *
 * as-is  the master allocates and initialises all rows
 * fixed  each worker allocates and initialises the rows of its band (parallel first touch)
 *
 * Workers do not wait for each other between sweeps (a chaotic relaxation), and read their neighbours'
 * rows at the border of their bands.
 */
public final class NumaGrid extends NumaCase {
	private static final int ROWS = 1024, COLUMNS = 2048;

	private final double[][] grid = new double[ROWS][];

	private NumaGrid(String[] args) { super(args); }

	private static double[] newRow(int r) {
		double[] row = new double[COLUMNS]; // site: row
		for (int c = 0; c < COLUMNS; c++)
			row[c] = r == 0 ? 100 : 0;
		return row;
	}

	private void newRows(int from, int to) {
		for (int r = from; r < to; r++)
			grid[r] = newRow(r);
	}

	private static double relax(double[] above, double[] row, double[] below) {
		double change = 0;
		for (int c = 1; c < COLUMNS - 1; c++)
			change += Math.abs(row[c] - (row[c] = 0.25 * (above[c] + below[c] + row[c - 1] + row[c + 1]))); // access: relax
		return change;
	}

	@Override
	void prepare(int worker) {
		if (fixed)
			newRows(share(ROWS, worker, NODES), share(ROWS, worker + 1, NODES));
	}

	@Override
	double step(int worker) {
		int from = Math.max(1, share(ROWS, worker, NODES)), to = Math.min(ROWS - 1, share(ROWS, worker + 1, NODES));
		double change = 0;
		for (int r = from; r < to; r++)
			change += relax(grid[r - 1], grid[r], grid[r + 1]);
		return change;
	}

	public static void main(String[] args) throws InterruptedException {
		NumaGrid g = new NumaGrid(args);
		if (!g.fixed)
			g.newRows(0, ROWS);
		end(g.run(0, NODES - 1) > 0 ? "relaxed" : "nothing");
	}
}
