// SPDX-License-Identifier: Apache-2.0
package kernels;

/** Straight code without a loop or a call, whose only use is its result. */
public final class TriangleArea {
	private TriangleArea() {
	}

	private static double distance(double x, double y) {
		return Math.sqrt(x * x + y * y);
	}

	/** @bench-this */
	static double area(double ax, double ay, double bx, double by, double cx, double cy) {
		double a = distance(bx - cx, by - cy);
		double b = distance(ax - cx, ay - cy);
		double c = distance(ax - bx, ay - by);
		double half = (a + b + c) / 2;
		return Math.sqrt(half * (half - a) * (half - b) * (half - c));
	}

	public static void main(String[] words) {
		double all = 0;
		for (int turn = 0; turn < 100_000; turn++) {
			all += area(0.5, 1.25, 7.5, 3.75, 2.5, 9);
		}
		System.out.println(all);
	}
}
