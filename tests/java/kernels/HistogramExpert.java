// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.*;

@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class HistogramExpert {
	private final Histogram histogram = new Histogram();
	private final byte[] data = Histogram.data();

	@Benchmark
	public Histogram add() {
		histogram.add(data);
		return histogram;
	}
}
