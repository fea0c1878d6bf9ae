// SPDX-License-Identifier: Apache-2.0
/**
 * Code as Java 1.1 knew it: compiled for old class files, its finally blocks are subroutines (jsr
 * and ret).
 */
public class OldCode implements Runnable {
	private final int[][] grid;
	private Object last;
	private long sum;

	/** Calls the other constructor with an object that is made meanwhile. */
	public OldCode(int n) {
		this(new int[n][n + 1], n > 3 ? new StringBuffer("more") : new StringBuffer(n));
	}

	OldCode(int[][] grid, StringBuffer text) {
		this.grid = (int[][]) grid.clone();
		this.last = new String[] { text.toString(), "a" + text + grid.length };
	}

	private static Object choose(int which, long wide, Object other) {
		switch (which) {
		case 0:
			return new Integer((int) wide);
		case 1:
			return new Long(wide + (other == null ? 1L : 2L));
		case 1000:
			return new Object[] { other, new byte[3], new char[which][2][] };
		default:
			return new StringBuffer().append(which).append(wide).append(other).toString();
		}
	}

	/** One subroutine inside another one. */
	public int nested(int n) {
		int done = 0;
		try {
			try {
				done += new int[n].length;
				if (done > 5)
					return done;
				last = new Object();
			} finally {
				sum += done;
				last = new long[] { sum, new Long(done).longValue() };
			}
		} catch (NegativeArraySizeException e) {
			last = new Error(e.getMessage() + (n < -1 ? new Object() : choose(n, 3L, e)));
		} finally {
			synchronized (this) {
				done++;
			}
		}
		return done;
	}

	public void run() {
		for (int i = -2; i < 9; i++) {
			last = choose(i < 0 ? 1000 : i, sum, last);
			sum += nested(i);
		}
		Runnable inner = new Runnable() {
			public void run() {
				last = new double[grid.length];
			}
		};
		new Thread(inner).start();
	}
}
