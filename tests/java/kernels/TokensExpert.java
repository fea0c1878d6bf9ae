// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.*;

@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class TokensExpert {
	private final String text = WordCount.text();

	@Benchmark
	public List<String> split() {
		return Tokens.split(text);
	}
}
