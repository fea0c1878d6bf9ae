// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/**
 * The names that a benchmark and its regression test use of JMH and JUnit, without what these do: a trial compiles and runs both
 * before Maven fetches the libraries, or without it.
 */
public final class Stubs {
	private Stubs() {
	}

	public static void assertTrue(boolean holds, String message) {
		if (!holds) {
			throw new AssertionError(message);
		}
	}

	public static final class Blackhole {
		public Blackhole(String ignored) {
		}

		public void consume(Object ignored) {
		}

		public void consume(long ignored) {
		}

		public void consume(double ignored) {
		}

		public void consume(boolean ignored) {
		}
	}

	public enum Level { Trial, Iteration, Invocation }

	public enum Scope { Benchmark, Group, Thread }

	public enum Mode { AverageTime }

	public @interface Benchmark {
	}

	public @interface BenchmarkMode {
		Mode[] value();
	}

	public @interface CompilerControl {
		Mode value();

		enum Mode { DONT_INLINE }
	}

	public @interface OutputTimeUnit {
		java.util.concurrent.TimeUnit value();
	}

	public @interface Param {
		String[] value();
	}

	public @interface ParameterizedTest {
	}

	public @interface Setup {
		Level value();
	}

	public @interface State {
		Scope value();
	}

	@Retention(RetentionPolicy.RUNTIME)
	public @interface ValueSource {
		int[] ints();
	}
}
