/* SPDX-License-Identifier: Apache-2.0 */
/* attribute/attribution_counters.c - names the counters of the attribution thread. */
#include "src/attribute/attribution.h"

#include "src/attribute/sealed.h"
#include "src/core/counters.h"
#include "src/gc/small.h"
#include "src/heap/alloc_log.h"
#include "src/heap/hook.h"

static const struct lc_counter_row counter_rows[] = {
	LC_COUNTER(struct lc_attribution_stats, collections, "gc_collections"),
	LC_COUNTER(struct lc_attribution_stats, moves, "gc_moves"),
	LC_COUNTER(struct lc_attribution_stats, moves_lost, "gc_moves_lost"),
	LC_COUNTER(struct lc_attribution_stats, epochs_incomplete, "gc_incomplete"),
	LC_COUNTER(struct lc_attribution_stats, epochs_collected, "gc_collected"),
	LC_COUNTER(struct lc_attribution_stats, copied_bytes, "gc_copied_bytes"),
	LC_COUNTER(struct lc_attribution_stats, copied_lost, "gc_copied_lost"),
	LC_COUNTER_US(struct lc_attribution_stats, seal_ns, "gc_callback_us"),
	LC_COUNTER(struct lc_attribution_stats, survivors, "map_survivors"),
	LC_COUNTER(struct lc_attribution_stats, survivors_peak, "map_survivors_peak"),
	LC_COUNTER(struct lc_attribution_stats, map_bytes, "map_bytes"),
	LC_COUNTER(struct lc_attribution_stats, map_in_doubt, "map_in_doubt"),
	LC_COUNTER(struct lc_attribution_stats, records, "alloc_records"),
	LC_COUNTER(struct lc_attribution_stats, records_lost, "alloc_records_lost"),
	LC_COUNTER(struct lc_attribution_stats, wakes, "own_thread_wakes"),
	LC_COUNTER(struct lc_attribution_stats, looks, "own_thread_looks"),
};

void lc_attribution_counters(struct lc_counters *out)
{
	struct lc_attribution_stats s = { 0 };

	lc_attribution_stats(&s);
	LC_COUNTERS_ADD(out, counter_rows, &s);
	lc_counters_put(out, "gc_epochs_dropped", lc_sealed_dropped());
	lc_counters_put(out, "alloc_log_bytes", lc_alloc_pool_used_bytes());
	lc_hook_counters(out);
	lc_small_counters(out);
	lc_counters_put(out, "alloc_walks", s.walks);
	lc_counters_put(out, "alloc_walked_frames", s.looked);
}
