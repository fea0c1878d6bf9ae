package known;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * Benchmarks whose operations allocate what is known: `arrays` arrays of 2,000 bytes, but in the first
 * iteration, of the warm-up, ten times as many; and 10 small objects.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class KnownArrays {
	@Param("3")
	public int arrays;

	public final byte[][] kept = new byte[100][];
	public final Object[] small = new Object[10];

	private int iterations;
	private int now;

	@Setup(Level.Iteration)
	public void next() {
		now = iterations++ == 0 ? 10 * arrays : arrays;
	}

	@Benchmark
	public int make() {
		int sum = 0;
		for (int i = 0; i < now; i++) {
			byte[] a = new byte[2000]; // allocation: array
			a[i] = 1;
			kept[i] = a;
			sum += a[1999 - i];
		}
		return sum;
	}

	/** The same as make(), in a thread that then ends. */
	@Benchmark
	public void makeInThread() throws InterruptedException {
		Thread thread = new Thread(this::make);
		thread.start();
		thread.join();
	}

	@Benchmark
	public Object[] makeSmall() {
		for (int i = 0; i < small.length; i++) {
			small[i] = new long[1];
		}
		return small;
	}
}
