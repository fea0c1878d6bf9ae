// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.*;

@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PolynomialExpert {
	private final double[] places = Polynomial.places();
	private final double[] results = new double[places.length];

	@Benchmark
	public double[] evaluate() {
		Polynomial.evaluate(places, results);
		return results;
	}
}
