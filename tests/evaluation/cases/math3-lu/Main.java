/* Main - solves systems of equations by the LU decomposition of Commons Math. Arguments: unknowns, systems. */

import java.util.SplittableRandom;
import org.apache.commons.math3.linear.Array2DRowRealMatrix;
import org.apache.commons.math3.linear.ArrayRealVector;
import org.apache.commons.math3.linear.LUDecomposition;
import org.apache.commons.math3.linear.RealMatrix;

public class Main {
	public static void main(String[] arguments) {
		int size = Integer.parseInt(arguments[0]), systems = Integer.parseInt(arguments[1]);
		SplittableRandom random = new SplittableRandom(1);
		double[][] values = new double[size][size];
		for (double[] row : values)
			for (int column = 0; column < size; column++)
				row[column] = random.nextDouble();
		RealMatrix matrix = new Array2DRowRealMatrix(values, false);
		double total = 0;
		for (int system = 0; system < systems; system++) {
			matrix.setEntry(system, system, size);
			total += new LUDecomposition(matrix).getSolver().solve(new ArrayRealVector(size, 1)).getL1Norm();
		}
		System.out.println("result: " + total);
	}
}
