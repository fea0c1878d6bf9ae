// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.*;

@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ListWalkExpert {
	private final ListWalk.Node head = ListWalk.list();

	@Benchmark
	public long walk() {
		return ListWalk.walk(head);
	}
}
