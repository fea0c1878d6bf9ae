// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.*;

@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class BinarySearchExpert {
	private final BinarySearch search = new BinarySearch();
	private final int[] keys = BinarySearch.keys();

	@Benchmark
	public int findAll() {
		return search.findAll(keys);
	}
}
