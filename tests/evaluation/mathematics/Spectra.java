import java.util.Random;
import org.apache.commons.math3.complex.Complex;
import org.apache.commons.math3.transform.DftNormalization;
import org.apache.commons.math3.transform.FastFourierTransformer;
import org.apache.commons.math3.transform.TransformType;

/**
 * Convolves signals by fast Fourier transforms (Commons Math), and compares some values with sums that are computed as
 * the definition says. The result is the sum of all, rounded. Arguments: the signals' length, a power of two, and
 * signals.
 */
public final class Spectra {
	private static final int TAPS = 8;

	private final FastFourierTransformer transformer = new FastFourierTransformer(DftNormalization.STANDARD);

	private static double[] signal(int length, Random random) {
		double[] signal = new double[length];
		for (int i = 0; i < length; i++)
			signal[i] = random.nextInt(1000) / 8.0;
		return signal;
	}

	private double[] convolve(double[] signal, double[] filter) {
		Complex[] a = transformer.transform(signal, TransformType.FORWARD);
		Complex[] b = transformer.transform(filter, TransformType.FORWARD);
		for (int i = 0; i < a.length; i++)
			a[i] = a[i].multiply(b[i]);
		double[] out = new double[a.length];
		Complex[] back = transformer.transform(a, TransformType.INVERSE);
		for (int i = 0; i < out.length; i++)
			out[i] = back[i].getReal();
		return out;
	}

	private static double byDefinition(double[] signal, double[] filter, int at) {
		double sum = 0;
		for (int k = 0; k < TAPS; k++)
			sum += filter[k] * signal[Math.floorMod(at - k, signal.length)];
		return sum;
	}

	private double run(int length, int seed) {
		Random random = new Random(seed);
		double[] signal = signal(length, random), filter = new double[length];
		System.arraycopy(signal(TAPS, random), 0, filter, 0, TAPS);
		double[] out = convolve(signal, filter);
		double sum = 0;
		for (double value : out)
			sum += value;
		for (int at = 0; at < length; at += length / 16) {
			double exact = byDefinition(signal, filter, at);
			double near = 1e-6 * Math.abs(exact) + 1e-6;
			Result.check(Math.abs(out[at] - exact) < near, out[at] + " at " + at + ", not " + exact);
		}
		return sum;
	}

	public static void main(String[] args) {
		double sum = 0;
		for (int i = Integer.parseInt(args[1]); i > 0; i--)
			sum += new Spectra().run(Integer.parseInt(args[0]), i);
		Result.is(Math.round(sum));
	}
}
