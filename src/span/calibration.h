/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/calibration.h - measures the cost of recording a span on this machine, in this JVM.
 *
 * The begin and end of a span take time, partly inside the span (inner cost), partly outside (outer
 * cost). Loops of empty spans measure both. Hooks that begin no span, as at the creation of a task,
 * have loops of their own. The results are kept in the user's cache directory, one
 * file for each CPU, JVM, clock and way of recording.
 */
#ifndef LC_SPAN_CALIBRATION_H
#define LC_SPAN_CALIBRATION_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/profile/profile_writer.h"

struct lc_span_costs; /* span/frames/stack.h */

/* The measured costs, in the order of rows everywhere. */
enum lc_cost {
	LC_COST_INNER = 0, /* inner cost of streams, measured on anonymous ones */
	LC_COST_ANONYMOUS, /* outer costs */
	LC_COST_PRIMORDIAL,
	LC_COST_SUPPORT, /* including the link of its task to the stream */
	LC_COST_TASK,
	LC_COST_TASK_INNER,
	LC_COST_FLAT,    /* hooks that begin no span, see lc_span_hook: a function made a stream */
	LC_COST_PULLED,  /* a stream was asked for its iterator */
	LC_COST_CREATED, /* a task is created */
	LC_COST_SUBMITTED, /* a task is submitted */
	LC_COST_ENTERED,   /* a method that submits is entered and left */
	LC_COST_COUNTED,   /* a stream that is counted, not timed (span/frames/probe.h) */
	LC_COST_YARDSTICK, /* time of lc_probe_yardstick(), to which all but inner costs are scaled
	                    */
	LC_COSTS
};

/* Above this, a cost is measured again, and finally used with a warning. */
#define LC_CALIBRATION_VARIATION_MAX 0.5

enum { LC_CALIBRATION_ATTEMPTS = 3, LC_CALIBRATION_TEXT_MAX = 256 };

struct lc_cost_value {
	bool known;
	double mean;      /* cycles of the clock, outliers removed */
	double variation; /* coefficient of variation over the remaining batches */
	uint32_t batches; /* remaining batches, of LC_CALIBRATION_PAIRS pairs each */
	uint32_t removed;
};

struct lc_calibration {
	struct lc_cost_value costs[LC_COSTS];
	const char *how;                       /* "cached", "measured"; static */
	char warning[LC_CALIBRATION_TEXT_MAX]; /* "": none */
};

struct lc_options;

/*
 * Get the costs for the options of this run from the file. Without a file, measure them on the
 * calling thread's own spans (lc_span_enter()), which takes some seconds, and write the file. Sets
 * the manifest's calibration, calibration_warning and costs. Unknown costs are 0. The measured
 * spans are counted in the thread's slots: the caller discards the slots. Context: [attach], spans
 * enabled, lc_cycles_init() done, before the attribution thread runs. lc_stages_stop() ends it
 * early; then the costs are unknown.
 */
void lc_calibration_start(JNIEnv *jni, const struct lc_options *options,
                          struct lc_span_costs *costs, struct lc_manifest_spans *manifest);

/* The costs for the stack; unknown ones are 0. Any context. */
void lc_calibration_costs(const struct lc_calibration *c, struct lc_span_costs *out);

/* The known costs for the manifest; `out` has LC_COSTS. Returns their number. Any context. */
size_t lc_calibration_rows(const struct lc_calibration *c, struct lc_manifest_cost *out);

#endif
