// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.*;

@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RingFilterExpert {
	private final RingFilter filter = new RingFilter();
	private final int[] taps = RingFilter.taps();

	@Benchmark
	public int filter() {
		return filter.filter(taps);
	}
}
