// SPDX-License-Identifier: Apache-2.0
package locusjmh;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;
import org.openjdk.jmh.runner.IterationType;

/**
 * Profiles the forks of JMH with Locus.
 *
 * JMH makes one in its own JVM, which starts forks under the agent and reads their profiles, and one
 * in each fork, which asks the agent for its counts before and after each measured iteration, and marks
 * in the profile where the first one begins and the last one ends.
 *
 * The agent is an option of a fork's JVM: what `locus run` adds are lines for a person at a terminal.
 */
public class LocusProfiler implements ExternalProfiler, InternalProfiler {
	/** Marks in the profile; the report takes the first of each. */
	static final String BEGIN_MARK = "locus-jmh measured iterations begin";
	static final String END_MARK = "locus-jmh measured iterations end";

	private static final int NAME_MAX = 200;
	private static final int UNIQUE_MAX = 10000;

	private final Settings settings;

	/* In JMH's own JVM, where an object is made for each benchmark with its parameters. */
	private Installation locus;
	/** The profile of the fork that runs or is being started. */
	private Path profile;
	/** Why the forks are not profiled, in one line; null: they are. */
	private String obstacle;
	private int forks;

	/* In a fork. */
	private Counts before;
	private int measured;
	private boolean isMarked;
	private boolean hasWarned;

	/** `options` stands behind `locus:` on JMH's command line; a ProfilerException says what is wrong with it. */
	public LocusProfiler(String options) throws ProfilerException {
		settings = new Settings(options);
	}

	@Override
	public String getDescription() {
		return "Locus: allocations and bytes of an operation, and the objects that it waits for";
	}

	@Override
	public boolean allowPrintOut() {
		return true;
	}

	@Override
	public boolean allowPrintErr() {
		return true;
	}

	/* ---- in JMH's own JVM ---- */

	/** The first call for a fork. */
	@Override
	public Collection<String> addJVMInvokeOptions(BenchmarkParams params) {
		forks++;
		prepare(params);
		return Collections.emptyList();
	}

	/** The second call for a fork. */
	@Override
	public Collection<String> addJVMOptions(BenchmarkParams params) {
		if (obstacle != null) {
			return Collections.emptyList();
		}
		/* The directory comes last, so that it is the one that is read. */
		return Collections.singletonList("-agentpath:" + locus.agent + "=" + exact() + "min-size=" + settings.minSize
				+ (settings.options.isEmpty() ? "" : "," + settings.options) + ",output=" + escaped(profile));
	}

	@Override
	public void beforeTrial(BenchmarkParams params) {
		/* All is done by the options. */
	}

	@Override
	public Collection<? extends Result> afterTrial(BenchmarkResult result, long pid, File out, File err) {
		return Collections.singletonList(samples(result, out, err));
	}

	private void prepare(BenchmarkParams params) {
		obstacle = null;
		try {
			locus = Installation.find(settings);
			locus.tryIn(params.getJvm());
			profile = unused(Paths.get(settings.directory).toAbsolutePath().normalize(), directoryName(params));
		} catch (Installation.Missing e) {
			obstacle = e.getMessage();
		} catch (IOException | RuntimeException e) {
			obstacle = "'" + settings.directory + "': no profile can be written there: " + e;
		}
	}

	/** A profile of an earlier run stays: the name of this one gets a number. The directory is the agent's to make. */
	private static Path unused(Path directory, String name) throws IOException {
		Files.createDirectories(directory);
		if (!Files.isWritable(directory)) {
			throw new IOException("not writable");
		}
		for (int i = 1; i < UNIQUE_MAX; i++) {
			Path path = directory.resolve(i == 1 ? name : name + "-" + i);
			if (!Files.exists(path)) {
				return path;
			}
		}
		throw new IOException("too many profiles of one name");
	}

	/** Counts of two runs of a benchmark are compared, so no large array is to be estimated. */
	private String exact() {
		return settings.options.contains("no-hooks") ? "" : "exact,";
	}

	/** The path as a value in the agent's options. */
	private static String escaped(Path path) {
		return path.toString().replace("\\", "\\\\").replace(",", "\\,").replace("%", "%%");
	}

	private String forkName(BenchmarkParams params) {
		int warmup = params.getWarmupForks();
		return forks <= warmup ? "warmup-fork-" + forks : "fork-" + (forks - warmup);
	}

	private String label(BenchmarkParams params) {
		return forkName(params).replace('-', ' ') + ": ";
	}

	/** Benchmark, mode, parameters and fork, in characters that no shell and no option treats in its own way. */
	private String directoryName(BenchmarkParams params) {
		StringBuilder name = new StringBuilder(params.getBenchmark()).append('-').append(params.getMode().shortLabel());
		for (String key : params.getParamsKeys()) {
			name.append('-').append(key).append('=').append(params.getParam(key));
		}
		String plain = name.toString().replaceAll("[^A-Za-z0-9._=-]", "_");
		if (plain.length() > NAME_MAX) {
			plain = plain.substring(0, NAME_MAX) + "-" + Integer.toHexString(name.toString().hashCode());
		}
		return plain + "-" + forkName(params);
	}

	private Samples samples(BenchmarkResult result, File out, File err) {
		String label = label(result.getParams());
		if (obstacle != null) {
			return new Samples(0, label + "not profiled: " + obstacle + "\n");
		}
		if (!Files.isRegularFile(profile.resolve("manifest.json"))) {
			return new Samples(0, label + "not profiled: " + agentSaid(out, err) + "\n");
		}
		try {
			int iterations = countedIterations(result);
			Report report = Report.of(locus, profile, iterations > 0);
			return new Samples(report.samples(), label + "profile " + profile + "\n" + counted(result, iterations) + report.text(settings.top));
		} catch (Report.Failed | RuntimeException e) {
			return new Samples(0, label + "profile " + profile + ", of which there is no report: " + e.getMessage() + "\n");
		}
	}

	/** The agent's last line on the fork's stderr. */
	private static String agentSaid(File out, File err) {
		String said = "the agent wrote no profile, and no reason";
		for (File file : Arrays.asList(out, err)) {
			try {
				for (String line : new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8).split("\n")) {
					said = line.startsWith("locus: ") ? line.substring("locus: ".length()) : said;
				}
			} catch (IOException e) {
				continue; /* then the other file may tell */
			}
		}
		return said;
	}

	private static boolean isCounted(IterationResult iteration) {
		for (String name : iteration.getSecondaryResults().keySet()) {
			if (name.startsWith(COUNT_NAME)) {
				return true;
			}
		}
		return false;
	}

	private static int countedIterations(BenchmarkResult result) {
		int iterations = 0;
		for (IterationResult iteration : result.getIterationResults()) {
			iterations += isCounted(iteration) ? 1 : 0;
		}
		return iterations;
	}

	private static String counted(BenchmarkResult result, int iterations) {
		long operations = 0;
		for (IterationResult iteration : result.getIterationResults()) {
			operations += isCounted(iteration) ? iteration.getMetadata().getAllOps() : 0;
		}
		return iterations == 0 ? "  the agent did not count the measured iterations: its recording had ended, or it is of another version of Locus\n"
				: String.format(Locale.ROOT, "  allocations counted in %d measured iteration%s of %,d operations, by all threads of the JVM\n",
						iterations, iterations == 1 ? "" : "s", operations);
	}

	/* ---- in a fork ---- */

	private static final String COUNT_NAME = "locus.alloc.count";
	private static final String BYTES_NAME = "locus.alloc.bytes";

	@Override
	public void beforeIteration(BenchmarkParams params, IterationParams iteration) {
		before = null;
		if (iteration.getType() != IterationType.MEASUREMENT) {
			return;
		}
		if (measured++ == 0) {
			isMarked = Counts.markHere(BEGIN_MARK);
		}
		before = isMarked ? Counts.take() : null;
	}

	@Override
	public Collection<? extends Result> afterIteration(BenchmarkParams params, IterationParams iteration,
			IterationResult result) {
		if (iteration.getType() != IterationType.MEASUREMENT) {
			return Collections.emptyList();
		}
		Counts after = Counts.take();
		if (measured == params.getMeasurement().getCount()) {
			Counts.markHere(END_MARK);
		}
		long operations = result.getMetadata().getAllOps();
		if (before == null || after == null || operations <= 0) {
			return withoutFork(params);
		}
		List<Result<?>> results = new ArrayList<>();
		String suffix = after.leastBytes == 0 ? "" : ".min" + size(after.leastBytes);
		results.add(new ScalarResult(COUNT_NAME + suffix, (double) (after.objects - before.objects) / operations,
				"#/op", AggregationPolicy.AVG));
		results.add(new ScalarResult(BYTES_NAME + suffix, (double) (after.bytes - before.bytes) / operations,
				"B/op", AggregationPolicy.AVG));
		if (after.missed > before.missed) {
			results.add(new ScalarResult("locus.alloc.uncounted", after.missed - before.missed, "counts",
					AggregationPolicy.SUM));
		}
		return results;
	}

	/** If there is no fork, JMH's own JVM says why it is not profiled. */
	private Collection<? extends Result> withoutFork(BenchmarkParams params) {
		if (params.getForks() > 0 || hasWarned || before != null) {
			return Collections.emptyList();
		}
		hasWarned = true;
		return Collections.singletonList(new Samples(0, "not profiled: Locus starts forks under its agent, and there is none (-f 0)\n"));
	}

	private static String size(long bytes) {
		return bytes % (1 << 20) == 0 ? (bytes >> 20) + "m" : bytes % (1 << 10) == 0 ? (bytes >> 10) + "k" : "" + bytes;
	}
}
