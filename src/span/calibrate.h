/*
 * span/calibrate.h - what recording a span costs on this machine, in this JVM.
 *
 * The begin and end of a span take time, part of it inside the span (inner cost) and part of it in what
 * surrounds it (outer cost). Loops of empty spans measure both; the result is kept in the user's cache
 * directory, one file for each CPU, JVM, clock and way of recording, until one of them changes.
 */
#ifndef LC_SPAN_CALIBRATE_H
#define LC_SPAN_CALIBRATE_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/profile/writer.h"
#include "src/span/span.h"

/* What is measured, in the order of rows everywhere. */
enum lc_cost {
	LC_COST_INNER = 0, /* of streams, measured on anonymous ones */
	LC_COST_ANONYMOUS, /* outer costs */
	LC_COST_PRIMORDIAL,
	LC_COST_SUPPORT, /* with the link of its task to the stream */
	LC_COST_TASK,
	LC_COST_TASK_INNER,
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

struct lc_calibrate_config {
	bool streams, tasks; /* what is recorded, and thus measured */
	bool anew;           /* measure even where it is known */
	const char *variant; /* options that change what a span costs; part of the name. "" */
	/* The calling thread's slots, from 0; NULL behind the last. */
	const struct lc_span_slot *(*slot_at)(uint32_t i);
	void (*drain)(
	    void); /* called between batches: what was recorded beside the slots; or NULL */
};

/*
 * Get the costs: from the file, else by measuring (some seconds), and then keep them. LocusSpan is
 * defined and records on the calling thread, lc_clock_init() is done. What is measured is counted in the calling
 * thread's slots as any span is: the caller throws those away. Returns 0; -ENOMEM, or -EIO where the
 * loops could not be run or their spans were not counted (then *out has no known costs).
 * Context: [attach].
 */
int lc_calibrate(const struct lc_calibrate_config *config, JNIEnv *jni, struct lc_calibration *out);

/*
 * Do so with the options of this run, on the calling thread's own spans (lc_span_enter()), and say in the
 * manifest's part what came of it: calibration, calibration_warning and costs. Unknown costs are 0. The
 * caller throws those spans away. Context: [attach], spans enabled, before the attribution thread runs.
 */
void lc_calibrate_start(JNIEnv *jni, const struct lc_options *options, struct lc_span_costs *costs,
                        struct lc_manifest_spans *manifest);

/* For the stack; unknown ones are 0. Any context. */
void lc_calibration_costs(const struct lc_calibration *c, struct lc_span_costs *out);

/* Rows for the manifest, of what is known; `out` has LC_COSTS. Returns how many. Any context. */
size_t lc_calibration_rows(const struct lc_calibration *c, struct lc_manifest_cost *out);

#endif
