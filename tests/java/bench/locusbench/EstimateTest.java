// SPDX-License-Identifier: Apache-2.0
package locusbench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** Intervals are those of the tables of Student's distribution, and hold the truth as often as they say. */
class EstimateTest {
	@Test
	void quantilesAreThoseOfTheTables() {
		double[][] known = {{1, 12.7062}, {2, 4.30265}, {3, 3.18245}, {4, 2.77645}, {10, 2.22814}, {30, 2.04227}, {1000, 1.96234}};
		for (double[] pair : known) {
			assertEquals(pair[1], Student.t95(pair[0]), 0.0005, "at " + pair[0]);
		}
	}

	@Test
	void anIntervalIsStudents() {
		Estimate estimate = new Estimate(10, 11, 12);
		assertEquals(11, estimate.mean);
		assertEquals(11 - 4.30265 / Math.sqrt(3), estimate.low, 0.001);
		assertEquals(11 + 4.30265 / Math.sqrt(3), estimate.high, 0.001);
		assertEquals(4.30265 / Math.sqrt(3) / 11, estimate.error(), 0.0001);
	}

	@Test
	void oneSampleHasNoInterval() {
		assertTrue(Double.isInfinite(new Estimate(5).error()));
		assertTrue(Double.isInfinite(new Estimate(5).over(new Estimate(4)).high));
	}

	@Test
	void equalSamplesHaveAnIntervalOfNoWidth() {
		Estimate ratio = new Estimate(6, 6, 6).over(new Estimate(3, 3, 3));
		assertEquals(2, ratio.low);
		assertEquals(2, ratio.high);
	}

	@Test
	void aRatioByWhatMayBeZeroIsNotBounded() {
		assertTrue(Double.isInfinite(new Estimate(10, 11, 12).over(new Estimate(-5, 1, 5)).high));
	}

	@Test
	void nineteenOfTwentyIntervalsOfARatioHoldIt() {
		Random random = new Random(1);
		int held = 0;
		for (int i = 0; i < 2000; i++) {
			double[] a = new double[5];
			double[] b = new double[4];
			for (int j = 0; j < 5; j++) {
				a[j] = 30 + 2 * random.nextGaussian();
			}
			for (int j = 0; j < 4; j++) {
				b[j] = 10 + random.nextGaussian();
			}
			Estimate ratio = new Estimate(a).over(new Estimate(b));
			held += ratio.low <= 3 && 3 <= ratio.high ? 1 : 0;
		}
		assertTrue(held > 2000 * 0.93 && held < 2000 * 0.975, held + " of 2000");
	}
}
