/**
 * Draws the Mandelbrot set on a square, a bit for each point: does it escape within fifty steps? Like in "Are We Fast
 * Yet?", the new imaginary part is computed of the new real part, which draws another figure than Mandelbrot's, and the
 * bytes of all rows are joined by exclusive or: the published values are 191 of a side of 500 and 50 of 750. Argument:
 * how often both are drawn.
 */
public final class Mandelbrot {
	private static final int STEPS = 50;

	private static boolean escapes(double cr, double ci) {
		double zr = 0, zi = 0, rr = 0, ii = 0;
		for (int step = 0; step < STEPS; step++) {
			zr = rr - ii + cr;
			zi = 2 * zr * zi + ci;
			rr = zr * zr;
			ii = zi * zi;
			if (rr + ii > 4)
				return true;
		}
		return false;
	}

	private static int draw(int side) {
		int sum = 0;
		for (int y = 0; y < side; y++) {
			double ci = 2.0 * y / side - 1;
			for (int x = 0; x < side; x += 8) {
				int bits = 0;
				for (int k = x; k < x + 8; k++)
					bits = bits << 1 | (k < side && escapes(2.0 * k / side - 1.5, ci) ? 1 : 0);
				sum ^= bits;
			}
		}
		return sum;
	}

	public static void main(String[] args) {
		long sum = 0;
		for (int i = Integer.parseInt(args[0]); i > 0; i--) {
			int of500 = draw(500), of750 = draw(750);
			Result.check(of500 == 191 && of750 == 50, of500 + " and " + of750);
			sum += of500 + of750;
		}
		Result.is(sum);
	}
}
