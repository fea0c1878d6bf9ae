// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.*;

@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class TriangleAreaExpert {
	private double ax = 0.5;
	private double ay = 1.25;
	private double bx = 7.5;
	private double by = 3.75;
	private double cx = 2.5;
	private double cy = 9;

	@Benchmark
	public double area() {
		return TriangleArea.area(ax, ay, bx, by, cx, cy);
	}
}
