/*
 * span/calibration.h - finds out what recording a span costs on this machine, in this JVM.
 *
 * The begin and end of a span take time, part of it inside the span (inner cost) and part of it in
 * what surrounds it (outer cost). Loops of empty spans measure both; the result is kept in the
 * user's cache directory, one file for each CPU, JVM, clock and way of recording, until one of them
 * changes.
 */
#ifndef LC_SPAN_CALIBRATION_H
#define LC_SPAN_CALIBRATION_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/profile/profile_writer.h"

struct lc_span_costs; /* span/frames/stack.h */

/* What is measured, in the order of rows everywhere. */
enum lc_cost {
	LC_COST_INNER = 0, /* of streams, measured on anonymous ones */
	LC_COST_ANONYMOUS, /* outer costs */
	LC_COST_PRIMORDIAL,
	LC_COST_SUPPORT, /* with the link of its task to the stream */
	LC_COST_TASK,
	LC_COST_TASK_INNER,
	LC_COST_COUNTED,   /* of a stream that is counted and not timed (span/frames/probe.h) */
	LC_COST_YARDSTICK, /* what lc_probe_yardstick() took meanwhile */
	LC_COSTS
};

/* Beyond it, a mean says little: measured again, then used with a warning. */
#define LC_CALIBRATION_VARIATION_MAX 0.5

enum { LC_CALIBRATION_ATTEMPTS = 3, LC_CALIBRATION_TEXT_MAX = 256 };

struct lc_cost_value {
	bool known;
	double mean;      /* cycles of the clock, outliers removed */
	double variation; /* coefficient of variation over the batches that are left */
	uint32_t batches; /* that are left, of so many pairs as LC_CALIBRATION_PAIRS */
	uint32_t removed;
};

struct lc_calibration {
	struct lc_cost_value costs[LC_COSTS];
	const char *how;                       /* "cached", "measured"; static */
	char warning[LC_CALIBRATION_TEXT_MAX]; /* "": none */
};

struct lc_options;

/*
 * Get the costs with the options of this run: from the file, else by measuring on the calling
 * thread's own spans (lc_span_enter()), which takes some seconds, and then keep them. Sets the
 * manifest's calibration, calibration_warning and costs. Costs that stay unknown are 0. What is
 * measured is counted in the thread's slots as any span is: the caller throws those away.
 * Context: [attach], spans enabled, lc_cycles_init() done, before the attribution thread runs.
 */
void lc_calibration_start(JNIEnv *jni, const struct lc_options *options,
                          struct lc_span_costs *costs, struct lc_manifest_spans *manifest);

/* For the stack; unknown ones are 0. Any context. */
void lc_calibration_costs(const struct lc_calibration *c, struct lc_span_costs *out);

/* Rows for the manifest, of what is known; `out` has LC_COSTS. Returns how many. Any context. */
size_t lc_calibration_rows(const struct lc_calibration *c, struct lc_manifest_cost *out);

#endif
