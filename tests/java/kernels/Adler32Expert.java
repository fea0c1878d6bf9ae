// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.*;

@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Adler32Expert {
	private final byte[] data = Adler32.data();

	@Benchmark
	public int checksum() {
		return Adler32.checksum(data);
	}
}
