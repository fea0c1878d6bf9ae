/* Main - normalises the columns of a matrix again and again: EJML sums each column. Arguments: rows and columns, rounds. */

import java.util.Random;
import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.CommonOps_DDRM;
import org.ejml.dense.row.RandomMatrices_DDRM;

public class Main {
	public static void main(String[] arguments) {
		int size = Integer.parseInt(arguments[0]), rounds = Integer.parseInt(arguments[1]);
		DMatrixRMaj matrix = RandomMatrices_DDRM.rectangle(size, size, new Random(1));
		DMatrixRMaj sums = new DMatrixRMaj(1, size);
		double total = 0;
		for (int round = 0; round < rounds; round++) {
			matrix.set(round % size, round % size, round);
			CommonOps_DDRM.sumCols(matrix, sums);
			total += sums.get(round % size);
		}
		System.out.println("result: " + total);
	}
}
