// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.*;

@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class OpenTableExpert {
	private final OpenTable table = new OpenTable();
	private final int[] some = OpenTable.some();

	@Benchmark
	public int addAll() {
		table.clear();
		table.addAll(some);
		return table.size();
	}
}
