/* Main - computes how two rankings agree (Kendall's tau) with Hipparchus. Arguments: values, rounds. */

import java.util.SplittableRandom;
import org.hipparchus.stat.correlation.KendallsCorrelation;

public class Main {
	public static void main(String[] arguments) {
		int values = Integer.parseInt(arguments[0]);
		SplittableRandom random = new SplittableRandom(5);
		double[] x = random.doubles(values).toArray(), y = new double[values];
		double total = 0;
		for (int round = Integer.parseInt(arguments[1]); round > 0; round--) {
			for (int i = 0; i < values; i++)
				y[i] = x[i] + random.nextDouble();
			total += new KendallsCorrelation().correlation(x, y);
		}
		System.out.println("result: " + total);
	}
}
