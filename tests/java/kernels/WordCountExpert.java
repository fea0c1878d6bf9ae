// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.*;

@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class WordCountExpert {
	private final String text = WordCount.text();

	@Benchmark
	public Map<String, Integer> count() {
		return WordCount.count(text);
	}
}
