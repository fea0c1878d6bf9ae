/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/attribution_ended.c - frees the records of threads that have ended.
 *
 * Invariant: a thread's record is freed only while no sealed epoch is queued, so no queued epoch
 * points to a freed record.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "src/attribute/attribution_impl.h"
#include "src/attribute/lines.h"
#include "src/attribute/sealed.h"
#include "src/core/thread.h"
#include "src/heap/alloc_log.h"
#include "src/heap/context.h"
#include "src/heap/totals.h"
#include "src/numa/numa.h"
#include "src/profile/tally.h"
#include "src/sample/engine.h"
#include "src/sample/sample_log.h"
#include "src/span/clock/timeline.h"
#include "src/span/span.h"
#include "src/stack/walker.h"

static void free_thread(struct lc_thread *t)
{
	lc_attribution.stats.records_lost += t->allocs ? lc_alloc_log_lost(t->allocs) : 0;
	lc_attribution.stats.walks += t->contexts ? lc_contexts_walks(t->contexts) : 0;
	lc_attribution.stats.looked += t->contexts ? lc_contexts_looked(t->contexts) : 0;
	lc_engines_thread_free(t);
	lc_alloc_log_destroy(t->allocs);
	lc_contexts_destroy(t->contexts);
	lc_walker_destroy(t->walker);
	lc_tally_destroy(t->tally);
	lc_numa_thread_free(t);
	lc_span_forget(t);
	lc_timeline_thread_free(t->timeline);
	free(t);
}

void lc_attribution_reap(uint64_t now_ns)
{
	struct lc_thread *t, *next;

	for (t = lc_threads_walk(); t; t = next) {
		bool free_now;

		next = t->next;
		if (!atomic_load_explicit(&t->ended, memory_order_acquire))
			continue;
		if (t->unresolved || (t->samples && lc_sample_log_peek(t->samples)))
			continue; /* samples of an open epoch, or too young */
		lc_lines_forget(t);
		lc_threads_lock();
		free_now = lc_sealed_none() && !lc_attribution_adopt(t);
		if (free_now) {
			if (t->allocs)
				lc_sealed_adopt(t->allocs);
			lc_threads_unlink(t);
			lc_totals_keep(t);
		}
		lc_threads_unlock();
		if (!free_now)
			continue;
		lc_timeline_thread_last(t->timeline);
		lc_attribution_take_traces(t, now_ns);
		lc_attribution_write_last(t, now_ns);
		lc_span_give_up_traces(t);
		free_thread(t);
	}
}
