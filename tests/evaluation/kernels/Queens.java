/**
 * Places eight queens on a board by trying and going back, as in the Stanford benchmarks: columns that are taken and
 * both kinds of diagonals are arrays of booleans. It counts all ways there are, which are 92. Argument: how often.
 */
public final class Queens {
	private static final int SIZE = 8, SOLUTIONS = 92;

	private final boolean[] columns = new boolean[SIZE];
	private final boolean[] rising = new boolean[2 * SIZE - 1];
	private final boolean[] falling = new boolean[2 * SIZE - 1];
	private final int[] rows = new int[SIZE];
	private int found;

	private boolean free(int row, int column) {
		return !columns[column] && !rising[row + column] && !falling[row - column + SIZE - 1];
	}

	private void set(int row, int column, boolean taken) {
		columns[column] = taken;
		rising[row + column] = taken;
		falling[row - column + SIZE - 1] = taken;
	}

	private void place(int row) {
		if (row == SIZE) {
			found++;
			return;
		}
		for (int column = 0; column < SIZE; column++) {
			if (free(row, column)) {
				set(row, column, true);
				rows[row] = column;
				place(row + 1);
				set(row, column, false);
			}
		}
	}

	/** The ways to place the queens. */
	private static int solve() {
		Queens board = new Queens();
		board.place(0);
		return board.found;
	}

	public static void main(String[] args) {
		long sum = 0;
		for (int i = Integer.parseInt(args[0]); i > 0; i--) {
			int found = solve();
			Result.check(found == SOLUTIONS, found + " ways");
			sum += found;
		}
		Result.is(sum);
	}
}
