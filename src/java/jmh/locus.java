// SPDX-License-Identifier: Apache-2.0
import locusjmh.LocusProfiler;
import org.openjdk.jmh.profile.ProfilerException;

/**
 * The name of the profiler: JMH finds a profiler that is not its own by the name of its class, so
 * `-prof locus` needs a class of that name in no package.
 */
public final class locus extends LocusProfiler {
	/** Made by the ServiceLoader, by which JMH learns that there is such a profiler. */
	public locus() throws ProfilerException {
		super("");
	}

	/** Made by JMH, in its own JVM and in each fork, with what stands behind `locus:`. */
	public locus(String options) throws ProfilerException {
		super(options);
	}
}
