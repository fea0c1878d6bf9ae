// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.*;

@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ModularPowerExpert {
	private ModularPower power = ModularPower.make();
	private long base = ModularPower.BASE;
	private long exponent = ModularPower.EXPONENT;

	@Benchmark
	public long power() {
		return power.power(base, exponent);
	}
}
