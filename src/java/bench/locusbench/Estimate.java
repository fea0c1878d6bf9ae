// SPDX-License-Identifier: Apache-2.0
package locusbench;

/** A mean of independent samples with its 95% interval, which is Student's. */
final class Estimate {
	final double mean;
	final double low;
	final double high;
	private final double freedom;
	/** The variance of the mean. */
	private final double variance;

	Estimate(double... samples) {
		double sum = 0;
		for (double sample : samples) {
			sum += sample;
		}
		mean = sum / samples.length;
		double squares = 0;
		for (double sample : samples) {
			squares += (sample - mean) * (sample - mean);
		}
		freedom = samples.length - 1;
		variance = samples.length > 1 ? squares / freedom / samples.length : Double.POSITIVE_INFINITY;
		double half = samples.length > 1 ? Student.t95(freedom) * Math.sqrt(variance) : Double.POSITIVE_INFINITY;
		low = mean - half;
		high = mean + half;
	}

	private Estimate(double mean, double low, double high) {
		this.mean = mean;
		this.low = low;
		this.high = high;
		freedom = 0;
		variance = 0;
	}

	/** Half the interval, as a part of the mean. */
	double error() {
		return mean == 0 && high == 0 ? 0 : (high - mean) / mean;
	}

	/** This over another, with Fieller's interval, whose degrees of freedom are Welch's. */
	Estimate over(Estimate other) {
		double ratio = mean / other.mean;
		double all = variance + ratio * ratio * other.variance;
		if (all == 0) {
			return new Estimate(ratio, ratio, ratio);
		}
		double ofOther = ratio * ratio * other.variance;
		double welch = all * all / (variance * variance / freedom + ofOther * ofOther / other.freedom);
		double t = Student.t95(welch);
		double a = mean * mean - t * t * variance;
		double b = other.mean * other.mean - t * t * other.variance;
		double product = mean * other.mean;
		double root = product * product - a * b;
		if (!(b > 0) || !(root >= 0)) {
			return new Estimate(ratio, 0, Double.POSITIVE_INFINITY); // the other one may be 0
		}
		return new Estimate(ratio, (product - Math.sqrt(root)) / b, (product + Math.sqrt(root)) / b);
	}
}
