// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.*;

@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class InsertionSortExpert {
	private final int[] unsorted = InsertionSort.unsorted();
	private final int[] a = new int[unsorted.length];

	@Benchmark
	public int[] sort() {
		System.arraycopy(unsorted, 0, a, 0, a.length);
		InsertionSort.sort(a);
		return a;
	}
}
