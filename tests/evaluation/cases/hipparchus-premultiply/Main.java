/* Main - ranks states by how often a random walk visits them (Hipparchus). Arguments: states, steps. */

import java.util.SplittableRandom;
import org.hipparchus.linear.Array2DRowRealMatrix;

public class Main {
	private static double[][] walk(int states, SplittableRandom random) {
		double[][] chances = new double[states][];
		for (int from = 0; from < states; from++) {
			double[] row = new double[states];
			double sum = 0;
			for (int to = 0; to < states; to++)
				sum += row[to] = random.nextDouble();
			for (int to = 0; to < states; to++)
				row[to] /= sum;
			chances[from] = row;
		}
		return chances;
	}

	public static void main(String[] arguments) {
		int states = Integer.parseInt(arguments[0]);
		Array2DRowRealMatrix chances = new Array2DRowRealMatrix(walk(states, new SplittableRandom(9)), false);
		double[] visits = new double[states];
		visits[0] = 1;
		for (int step = Integer.parseInt(arguments[1]); step > 0; step--)
			visits = chances.preMultiply(visits);
		System.out.println("result: " + visits[states / 2]);
	}
}
