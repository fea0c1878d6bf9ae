// SPDX-License-Identifier: Apache-2.0
package locusbench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Tells what a profile's samples of some code touch: which parts of objects, and how much memory. A part is a field, or all of an
 * array of some type: where in an array, or whether at its length, depends on how the code was compiled.
 */
final class Accesses {
	private static final String ARRAY = "[]";

	/** Bytes in cache lines, and the 95% interval; `high` is infinite where it has no upper end. */
	static final class Footprint {
		final long samples;
		final double bytes;
		final double low;
		final double high;

		Footprint(long samples, double bytes, double low, double high) {
			this.samples = samples;
			this.bytes = bytes;
			this.low = low;
			this.high = high;
		}
	}

	final String engine;
	/** Samples by part. */
	final Map<String, Double> parts = new TreeMap<>();
	/** How many observations a sample is: a tick of the kernel's that counts as several samples is one. */
	private final double weight;
	/** Null: the profile does not tell. */
	final Footprint footprint;

	/** From JSON as `locus report` writes it; objects of classes that are not `kept` are left out. */
	Accesses(JsonNode report, Predicate<String> kept) {
		JsonNode how = report.path("engine");
		engine = how.path("name").asText();
		weight = Math.min(1, how.path("interval_ns").asDouble(1) / Math.max(1, how.path("tick_ns").asDouble(1)));
		for (String list : List.of("sites", "classes")) {
			for (JsonNode site : report.path(list)) {
				if (kept.test(site.path("class").asText())) {
					add(site);
				}
			}
		}
		JsonNode lines = report.path("footprint");
		footprint = lines.isMissingNode() ? null
				: new Footprint(lines.path("drawn").asLong(), lines.path("bytes").asDouble(), lines.path("low").asDouble(),
						lines.path("high").asDouble(Double.POSITIVE_INFINITY));
	}

	private void add(JsonNode site) {
		String of = site.path("class").asText();
		if (of.endsWith(ARRAY)) {
			add(of + " elements", site.path("samples").asDouble());
			return;
		}
		for (JsonNode field : site.path("fields")) {
			String name = field.path("name").asText();
			add(name.startsWith("(") ? "the header of " + of : of + "." + name, field.path("samples").asDouble());
		}
	}

	private void add(String part, double samples) {
		if (samples > 0) {
			parts.merge(part, samples, Double::sum);
		}
	}

	/** Samples of all parts. */
	double samples() {
		return parts.values().stream().mapToDouble(Double::doubleValue).sum();
	}

	double observations() {
		return samples() * weight;
	}

	double share(String part) {
		return parts.getOrDefault(part, 0.0) / Math.max(1, samples());
	}
}
