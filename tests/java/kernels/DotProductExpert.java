// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.*;

@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class DotProductExpert {
	private final double[] a = DotProduct.vector(1);
	private final double[] b = DotProduct.vector(2);

	@Benchmark
	public double dot() {
		return DotProduct.dot(a, b);
	}
}
