// SPDX-License-Identifier: Apache-2.0
package locusjmh;

import java.util.Collection;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.Aggregator;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ResultRole;
import org.openjdk.jmh.util.ListStatistics;

/**
 * The samples of a fork, with a text about them. JMH's own result with a text has no number, and its
 * table of results a row of NaN for it.
 */
final class Samples extends Result<Samples> {
	private static final long serialVersionUID = 1;
	private static final String LABEL = "locus";

	private final String text;

	Samples(double samples, String text) {
		this(new ListStatistics(new double[] { samples }), text);
	}

	private Samples(ListStatistics samples, String text) {
		super(ResultRole.SECONDARY, LABEL, samples, "samples", AggregationPolicy.AVG);
		this.text = text;
	}

	@Override
	protected Aggregator<Samples> getThreadAggregator() {
		return Samples::joined;
	}

	@Override
	protected Aggregator<Samples> getIterationAggregator() {
		return Samples::joined;
	}

	private static Samples joined(Collection<Samples> all) {
		double[] samples = new double[all.size()];
		StringBuilder text = new StringBuilder();
		int i = 0;
		for (Samples one : all) {
			samples[i++] = one.getScore();
			text.append(one.text);
		}
		return new Samples(new ListStatistics(samples), text.toString());
	}

	@Override
	public String extendedInfo() {
		return text;
	}
}
