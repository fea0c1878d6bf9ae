/* Main - computes covariances with Commons Math. Arguments: observations, variables. */

import java.util.SplittableRandom;
import org.apache.commons.math3.linear.Array2DRowRealMatrix;
import org.apache.commons.math3.stat.correlation.Covariance;

public class Main {
	public static void main(String[] arguments) {
		int observations = Integer.parseInt(arguments[0]), variables = Integer.parseInt(arguments[1]);
		SplittableRandom random = new SplittableRandom(1);
		double[][] values = new double[observations][variables];
		for (double[] row : values)
			for (int variable = 0; variable < variables; variable++)
				row[variable] = random.nextDouble();
		Covariance covariance = new Covariance(new Array2DRowRealMatrix(values, false));
		System.out.println("result: " + covariance.getCovarianceMatrix().getFrobeniusNorm());
	}
}
