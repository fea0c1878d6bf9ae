/* SPDX-License-Identifier: Apache-2.0 */
/* attribute/attribution_blocks.c - takes what threads have counted, and writes it into blocks. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "src/attribute/attribution_impl.h"
#include "src/attribute/common_counts.h"
#include "src/attribute/contents.h"
#include "src/attribute/copies.h"
#include "src/attribute/legend.h"
#include "src/attribute/lines.h"
#include "src/attribute/live_holders.h"
#include "src/attribute/live_series.h"
#include "src/base/limit.h"
#include "src/base/options.h"
#include "src/base/say.h"
#include "src/core/thread.h"
#include "src/heap/context.h"
#include "src/heap/hook.h"
#include "src/numa/numa.h"
#include "src/offheap/blocks.h"
#include "src/offheap/rss.h"
#include "src/profile/profile_writer.h"
#include "src/profile/tally.h"
#include "src/sample/engine.h"
#include "src/span/clock/timeline.h"
#include "src/span/span.h"

enum { TRACE_BLOCKS_MAX = 64 }; /* of a thread at once */

/* Allocations */

/*
 * Count the objects whose caller was assumed, since the hook did not walk the stack for them. Their
 * share of the line's sites is an estimate. `count` was read before the other counts. `assumes`:
 * lc_hook_assumes().
 */
static void take_spread(struct lc_thread *t, struct lc_site_counter *c, uint64_t count,
                        bool assumes)
{
	uint64_t looked = atomic_load_explicit(&c->looked, memory_order_relaxed);
	uint64_t spread = atomic_load_explicit(&c->believed, memory_order_relaxed);

	if (assumes && count > looked)
		spread += count - looked;
	if (spread > count)
		spread = count;
	if (spread > c->taken_spread &&
	    !lc_tally_spread(t->tally, c->site, spread - c->taken_spread))
		c->taken_spread = spread;
}

/* Count what was allocated since the last time. */
static void take_allocations(struct lc_thread *t)
{
	const bool assumes = lc_hook_assumes();
	struct lc_site_counter *c;

	if (!lc_tally_made(&t->tally))
		return;
	for (uint32_t i = 0; t->contexts && (c = lc_site_counters_at(&t->contexts->counters, i));
	     i++) {
		uint64_t count = atomic_load_explicit(&c->allocations, memory_order_acquire);
		uint64_t bytes = atomic_load_explicit(&c->bytes, memory_order_relaxed);

		if (count == c->taken_allocations && bytes == c->taken_bytes)
			continue;
		if (lc_tally_allocations(t->tally, c->site, count - c->taken_allocations,
		                         bytes - c->taken_bytes))
			return; /* taken the next time */
		take_spread(t, c, count, assumes);
		lc_numa_allocated(t, c->site, count - c->taken_allocations, bytes - c->taken_bytes);
		c->taken_allocations = count;
		c->taken_bytes = bytes;
	}
}

void lc_attribution_end_numa_windows(void)
{
	for (struct lc_thread *t = lc_threads_walk(); t; t = t->next) {
		if (!lc_numa_window_seen(t))
			continue;
		take_allocations(t);
		lc_numa_window_ends(t);
	}
}

/* Blocks */

/* For lc_blocks_take(). */
static bool take_blocks(void *user, const struct lc_blocks_sum *sum)
{
	const struct lc_thread *t = user;
	const struct lc_block_offheap_before before = { sum->site, sum->before, sum->before_bytes };

	if (sum->before)
		return !lc_tally_offheap_before(t->tally, &before);
	return !lc_tally_offheap(t->tally, &(struct lc_block_offheap){
	                                       .site = sum->site,
	                                       .allocated = sum->allocated,
	                                       .allocated_bytes = sum->allocated_bytes,
	                                       .freed = sum->freed,
	                                       .freed_bytes = sum->freed_bytes,
	                                   });
}

static void take_counters(struct lc_thread *t)
{
	if (!lc_tally_made(&t->tally))
		return;
	for (size_t i = 0; i < lc_engines_count(); i++) {
		uint64_t lost = lc_engines_thread_take_lost(t, i);

		if (lost)
			lc_tally_lost(t->tally, (uint16_t)i, lost);
	}
	take_allocations(t);
	lc_blocks_take(take_blocks, t);
	lc_live_series_take(t);
	lc_live_holders_take(t);
	lc_contents_take(t);
	lc_attribution.stats.copied_bytes += lc_copies_take(t, lc_attribution.map);
	lc_span_take(t);
	(void)lc_span_take_traces(t);
	lc_span_take_pauses(t->tally);
	lc_span_take_looks(t->tally);
}

/* Returns whether the block is written. */
static bool append(const struct lc_block_input *in)
{
	int err = lc_profile_append(lc_attribution.config.profile, in);

	lc_attribution.appended |= !err;
	if (err && err != -EAGAIN && err != lc_attribution.stats.write_error) {
		lc_attribution.stats.write_error = err;
		lc_say("cannot write the profile: %s; trying again", strerror(-err));
	}
	return !err;
}

/* Returns whether the thread's tally is empty again. */
static bool write_block(struct lc_thread *t, uint64_t end_ns)
{
	const uint64_t begin_ns = t->start_ns > lc_attribution.block_begin_ns
	                              ? t->start_ns
	                              : lc_attribution.block_begin_ns;
	struct lc_block_input in = {
		.tid = (uint32_t)t->tid,
		.index = t->index,
		.name = t->name,
		.t_begin_ns = begin_ns,
		/* A thread may have started since end_ns was read. */
		.t_end_ns = end_ns > begin_ns ? end_ns : begin_ns,
	};
	bool any;

	take_counters(t);
	lc_legend_take(lc_attribution.jni, t);
	if (!t->tally)
		return false;
	any = lc_tally_block(t->tally, &in);
	any |= lc_timeline_block(t->timeline, &in);
	any |= lc_rss_block(&in, any);
	if (any && !append(&in))
		return false;
	lc_tally_clear(t->tally);
	lc_rss_clear(&in);
	lc_timeline_clear(t->timeline);
	return true;
}

/* Is all that the thread has allocated in its blocks? */
static bool is_counted(const struct lc_thread *t)
{
	const struct lc_site_counter *c;

	for (uint32_t i = 0; t->contexts && (c = lc_site_counters_at(&t->contexts->counters, i));
	     i++)
		if (atomic_load_explicit(&c->allocations, memory_order_relaxed) !=
		    c->taken_allocations)
			return false;
	return true;
}

/* The write error was already reported; do not print a second line. */
static void note_blocks_lost(void)
{
	static const char text[] =
	    "some blocks could not be written (%s): their counts are missing";

	if (lc_attribution.stats.write_error)
		(void)lc_limit_keep("blocks_lost", text,
		                    strerror(-lc_attribution.stats.write_error));
	else
		(void)lc_limit_note("blocks_lost", text, strerror(ENOMEM));
}

/* Retry once: the failure may have been temporary. */
void lc_attribution_write_last(struct lc_thread *t, uint64_t end_ns)
{
	if (write_block(t, end_ns) && is_counted(t))
		return;
	lc_profile_try_now(lc_attribution.config.profile);
	if (!write_block(t, end_ns) || !is_counted(t))
		note_blocks_lost();
}

void lc_attribution_take_traces(struct lc_thread *t, uint64_t now_ns)
{
	for (unsigned i = 0; i < TRACE_BLOCKS_MAX && lc_span_take_traces(t); i++)
		if (!write_block(t, now_ns))
			break;
}

/* The CPU time of the JVM's own threads. */
static void write_jvm_block(uint64_t end_ns)
{
	struct lc_block_input in = { .t_begin_ns = lc_attribution.block_begin_ns,
		                     .t_end_ns = end_ns };

	if (lc_timeline_jvm_block(&in) && append(&in))
		lc_timeline_jvm_clear();
}

void lc_attribution_write_blocks(uint64_t end_ns, bool last)
{
	lc_lines_flush();
	lc_span_mark_running(last);
	for (struct lc_thread *t = lc_threads_walk(); t; t = t->next) {
		if (last)
			lc_attribution_write_last(t, end_ns);
		else
			(void)write_block(t, end_ns);
	}
	if (last && lc_rss_left() && lc_threads_walk())
		lc_attribution_write_last(lc_threads_walk(), end_ns);
	write_jvm_block(end_ns);
	lc_common_counts_write(lc_attribution.block_begin_ns, end_ns, append);
	lc_attribution.block_begin_ns = end_ns;
}
