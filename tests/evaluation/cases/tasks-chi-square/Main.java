/* Main - tests by chi-square which features depend on a label (Hipparchus), on two threads. Arguments: features, observations. */

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.hipparchus.stat.inference.ChiSquareTest;

public class Main {
	private static final int LABELS = 2, VALUES = 3;

	private final int features, observations;
	private final byte[] values; // of the first feature, then of the second ..

	Main(int features, int observations) {
		SplittableRandom random = new SplittableRandom(17);
		this.features = features;
		this.observations = observations;
		this.values = new byte[features * observations];
		for (int i = 0; i < values.length; i++)
			values[i] = (byte) random.nextInt(VALUES);
	}

	/** How probable it is that this feature does not depend on the label. */
	private double test(int feature) {
		long[][] counts = new long[LABELS][VALUES];
		for (int i = 0; i < observations; i++)
			counts[i % LABELS][values[feature * observations + i]]++;
		return new ChiSquareTest().chiSquareTest(counts);
	}

	private int dependent(ExecutorService pool) throws Exception {
		List<Future<Double>> tests = new ArrayList<>();
		for (int i = 0; i < features; i++) {
			int feature = i;
			tests.add(pool.submit(() -> test(feature)));
		}
		int dependent = 0;
		for (Future<Double> test : tests)
			dependent += test.get() < 0.05 ? 1 : 0;
		return dependent;
	}

	public static void main(String[] arguments) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		int dependent = new Main(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1])).dependent(pool);
		pool.shutdown();
		System.out.println("result: " + dependent);
	}
}
