/* span/calibrate_start.c - the calibration of a run: between calibrate.c and the spans of this process. */
#include "src/span/calibrate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/base/options.h"
#include "src/span/stack.h"
#include "src/span/trace.h"

static struct {
	struct lc_calibration result;
	struct lc_manifest_cost rows[LC_COSTS];
} kept; /* for the manifest, which points into it; written by lc_calibrate_start() */

static const struct lc_span_slot *slot_at(uint32_t i)
{
	const struct lc_span_thread *s = lc_span_known();

	return s ? lc_span_stack_slot(s, i) : NULL;
}

/* With --trace a span costs a row in the log too, as long as that has room. */
static void drain(void)
{
	struct lc_span_thread *s = lc_span_known();
	struct lc_block_trace row;

	while (s && s->traces && lc_trace_log_take(s->traces, &row))
		;
}

void lc_calibrate_start(JNIEnv *jni, const struct lc_options *options, struct lc_span_costs *costs,
                        struct lc_manifest_spans *manifest)
{
	char variant[64];
	struct lc_calibrate_config config = {
		.streams = lc_span_streams(),
		.tasks = lc_span_tasks(),
		.anew = options->calibrate,
		.variant = variant,
		.slot_at = slot_at,
		.drain = drain,
	};
	int err;

	snprintf(variant, sizeof(variant), "%s%s", options->trace ? "trace" : "",
	         options->span_paths ? " paths" : "");
	err = lc_span_enter(jni) ? lc_calibrate(&config, jni, &kept.result) : -ENOMEM;
	if (err) {
		kept.result.how = "none";
		snprintf(kept.result.warning, sizeof(kept.result.warning),
		         "the costs could not be measured: %s", strerror(-err));
	}
	lc_calibration_costs(&kept.result, costs);
	manifest->calibration = kept.result.how;
	manifest->calibration_warning = kept.result.warning[0] ? kept.result.warning : NULL;
	manifest->costs = kept.rows;
	manifest->costs_len = lc_calibration_rows(&kept.result, kept.rows);
}
