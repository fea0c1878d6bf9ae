/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/attribution.c - runs the attribution thread, which turns the logs into blocks.
 *
 * This file is longer than 600 lines, since all of it shares the thread's state.
 *
 * Invariant: a thread's record is freed only while no sealed epoch is queued, so no queued epoch
 * points to a freed record.
 */
#include "src/attribute/attribution.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/attribute/budget.h"
#include "src/attribute/cache_lines.h"
#include "src/attribute/common_counts.h"
#include "src/attribute/concurrent.h"
#include "src/attribute/contents.h"
#include "src/attribute/copies.h"
#include "src/attribute/ending.h"
#include "src/attribute/heap_size.h"
#include "src/attribute/hot_classes.h"
#include "src/attribute/legend.h"
#include "src/attribute/lines.h"
#include "src/attribute/live_series.h"
#include "src/attribute/preexisting.h"
#include "src/attribute/resolve.h"
#include "src/attribute/rest.h"
#include "src/attribute/sealed.h"
#include "src/attribute/still_there.h"
#include "src/base/limit.h"
#include "src/base/options.h"
#include "src/base/say.h"
#include "src/base/time.h"
#include "src/base/vector.h"
#include "src/core/counters.h"
#include "src/core/epoch.h"
#include "src/core/own_cost.h"
#include "src/core/own_thread.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/core/stand_back.h"
#include "src/core/thread.h"
#include "src/core/wake.h"
#include "src/gc/moves.h"
#include "src/gc/small.h"
#include "src/heap/alloc_log.h"
#include "src/heap/audit.h"
#include "src/heap/context.h"
#include "src/heap/estimate.h"
#include "src/heap/hook.h"
#include "src/heap/loaded_code.h"
#include "src/heap/map.h"
#include "src/heap/totals.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/field.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/layout/ranges.h"
#include "src/jvm/os/peek.h"
#include "src/jvm/os/thread_cpu.h"
#include "src/numa/numa.h"
#include "src/offheap/blocks.h"
#include "src/offheap/rss.h"
#include "src/profile/profile_writer.h"
#include "src/profile/tally.h"
#include "src/sample/engine.h"
#include "src/sample/native_code.h"
#include "src/sample/sample_log.h"
#include "src/span/clock/cycle_clock.h"
#include "src/span/clock/timeline.h"
#include "src/span/span.h"
#include "src/stack/walker.h"

#define MS UINT64_C(1000000)

enum {
	MANIFEST_MS = 5000, /* while blocks are written */
	MANIFEST_IDLE_MS = 60000,
	BUDGET_MS = 1000,
	TRACE_BLOCKS_MAX = 64, /* of a thread at once */
	OPEN_EPOCH_MS = 250,   /* the open epoch is resolved at most this often */
	RECORD_LAG_MS = 20,    /* an object is touched before its allocation is recorded */
	HEADERS_PER_PASS = 1 << 20,
};

static struct {
	struct lc_attribution_config config;
	struct lc_map *map;
	pthread_t thread;
	_Atomic bool running, stopping;
	_Atomic uint64_t flushes_asked, flushes_done; /* the number of the last one */
	JNIEnv *jni;

	/* The attribution thread's own. */
	struct lc_vector runs, orphans;
	uint32_t open_epoch;
	uint64_t block_begin_ns, manifest_ns, open_ns, budget_ns;
	struct lc_rest rest;
	bool appended; /* a block was written since the last manifest */
	struct lc_attribution_stats stats;
} work = {
	.runs = { .element_bytes = sizeof(struct lc_nursery_run) },
	.orphans = { .element_bytes = sizeof(struct lc_alloc) },
};

/* Allocations */

/*
 * Count the objects whose caller was assumed, since the hook did not walk the stack for them. Their
 * share of the line's sites is an estimate. `count` was read before `looked`.
 */
static void take_spread(struct lc_thread *t, struct lc_site_counter *c, uint64_t count)
{
	uint64_t looked = atomic_load_explicit(&c->looked, memory_order_relaxed);
	uint64_t spread = count > looked ? count - looked : 0;

	if (spread > c->taken_spread &&
	    !lc_tally_spread(t->tally, c->site, spread - c->taken_spread))
		c->taken_spread = spread;
}

/* Count what was allocated since the last time. */
static void take_allocations(struct lc_thread *t)
{
	const bool spread =
	    !work.config.options->min_size_bytes && work.config.options->paths != LC_PATHS_EXACT;
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
		if (spread)
			take_spread(t, c, count);
		lc_numa_allocated(t, c->site, count - c->taken_allocations, bytes - c->taken_bytes);
		c->taken_allocations = count;
		c->taken_bytes = bytes;
	}
}

/* On NUMA machines: allocations in a window of time are shared out to the nodes of its samples. */
static void end_numa_windows(void)
{
	for (struct lc_thread *t = lc_threads_walk(); t; t = t->next) {
		if (!lc_numa_window_seen(t))
			continue;
		take_allocations(t);
		lc_numa_window_ends(t);
	}
}

/* Epochs */

static void note_records_lost(void)
{
	(void)lc_limit_note(
	    "records_lost",
	    "there was no memory for all new objects: some are counted but not tracked");
}

static void add_runs(struct lc_alloc_log *log, uint64_t from, uint64_t to)
{
	struct lc_nursery_run run;

	while (from < to && (run.len = lc_alloc_log_run(log, from, to, &run.records)) > 0) {
		if (lc_vector_push(&work.runs, &run)) {
			note_records_lost();
			return;
		}
		from += run.len;
		work.stats.records += run.len;
	}
}

static void add_orphans(void)
{
	struct lc_nursery_run run = { work.orphans.data, work.orphans.len };

	if (run.len && lc_vector_push(&work.runs, &run))
		note_records_lost();
}

/* Does the object in the map still have its header? Unknown while a collection may move objects. */
static enum lc_map_header check_header(void *unused, const struct lc_object *object)
{
	uint32_t still = work.open_epoch * 2;
	enum lc_map_header answer;

	if (lc_epoch_gc_sequence() != still)
		return LC_MAP_HEADER_LATER;
	answer = lc_still_there(object);
	return lc_epoch_gc_sequence() == still ? answer : LC_MAP_HEADER_LATER;
}

static void forget_survivors(void)
{
	struct lc_object object;
	uint64_t at = 0;

	while (lc_map_next(work.map, &at, &object))
		lc_map_forget(work.map, object.addr);
	work.stats.epochs_incomplete++;
}

static void close_epoch(struct lc_epoch *e)
{
	struct lc_nursery nursery = { .epoch_tag = (uint16_t)e->number };
	struct lc_map_close close = { .nursery = &nursery,
		                      .areas = e->areas,
		                      .areas_len = e->areas_len,
		                      .heap_low = lc_ranges_heap().low,
		                      .in_pieces = lc_collector() == LC_GC_PARALLEL };
	const uint32_t old_closes = lc_map_old_closes(work.map);
	int err;

	if (e->forget)
		forget_survivors();
	work.runs.len = 0;
	add_orphans();
	for (size_t i = 0; i < e->marks_len; i++)
		add_runs(e->marks[i].thread->allocs, e->marks[i].thread->sealed,
		         e->marks[i].position);
	nursery.runs = work.runs.data;
	nursery.len = work.runs.len;
	for (size_t i = 0; i < e->marks_len; i++)
		e->marks[i].thread->looked = e->marks[i].position;
	lc_resolve_take(work.jni, e->number);
	end_numa_windows();
	lc_resolve_close_epoch(work.jni, work.map, &nursery);
	lc_lines_close_epoch();
	lc_numa_resolve(e->number, lc_time_now_ns());
	close.moves = lc_moves_all(e->moves, &close.moves_len);
	/* The number of lost moves is final only here: see gc/moves.h. */
	close.small_known = e->small_known;
	close.stuck_known = e->stuck_known;
	close.complete = e->complete && !lc_moves_lost(e->moves);
	close.collected = e->collected;
	lc_resolve_carry(work.jni, &close);
	work.stats.moves += lc_moves_count(e->moves);
	work.stats.moves_lost += lc_moves_lost(e->moves);
	err = lc_map_close_epoch(work.map, &close);
	if (err)
		lc_sealed_note_no_memory();
	lc_preexisting_close(work.map, e->number, &close);
	if (err || !close.complete)
		work.stats.epochs_incomplete++;
	else
		work.stats.epochs_collected += e->collected;
	if (work.config.options->audit)
		lc_audit_compare(work.map, e->number);
	for (size_t i = 0; i < e->marks_len; i++) {
		e->marks[i].thread->sealed = e->marks[i].position;
		lc_alloc_log_trim(e->marks[i].thread->allocs, e->marks[i].position);
	}
	work.orphans.len = 0;
	lc_estimate_close(e->number, e->areas, e->areas_len);
	work.open_epoch = e->number + 1;
	work.stats.map_in_doubt = lc_map_check(work.map, check_header, NULL, HEADERS_PER_PASS);
	if (lc_map_count(work.map) > work.stats.survivors_peak)
		work.stats.survivors_peak = lc_map_count(work.map);
	if (e->collected)
		lc_live_series_collected(lc_heap_size_of(e->areas, e->areas_len),
		                         e->full || lc_map_old_closes(work.map) != old_closes);
}

static void close_sealed_epochs(void)
{
	struct lc_epoch *e;

	while ((e = lc_sealed_take())) {
		close_epoch(e);
		lc_sealed_free(e);
	}
}

/* The records of the open epoch. */
static void add_open_runs(void)
{
	uint64_t records = work.stats.records;

	work.runs.len = 0;
	add_orphans();
	for (struct lc_thread *t = lc_threads_walk(); t; t = t->next) {
		bool ended = atomic_load_explicit(&t->ended, memory_order_acquire); /* first */
		uint64_t position = t->allocs ? lc_alloc_log_position(t->allocs) : 0;

		t->looked = ended ? UINT64_MAX : position;
		if (t->allocs)
			add_runs(t->allocs, t->sealed, position);
	}
	work.stats.records = records; /* counted when their epoch closes */
}

static void resolve_open_epoch(uint64_t until_ns)
{
	struct lc_nursery nursery = { .epoch_tag = (uint16_t)work.open_epoch };

	lc_resolve_take(work.jni, work.open_epoch);
	end_numa_windows();
	if (!lc_resolve_waiting())
		return;
	add_open_runs();
	nursery.runs = work.runs.data;
	nursery.len = work.runs.len;
	lc_resolve_samples(work.jni, work.map, &nursery, until_ns);
}

/* Note what stays. `now`: also what there is at this time; `last`: and what is younger. */
static void note_live(uint64_t now_ns, bool now, bool last)
{
	struct lc_attribution_stats concurrent;

	if (work.config.ordered) {
		lc_concurrent_stats(&concurrent);
		while (lc_live_series_collections() < concurrent.collections) {
			lc_estimate_collected();
			lc_live_series_collected(lc_heap_size_now(work.jni),
			                         lc_heap_size_old_collected());
		}
	}
	if (work.stats.map_in_doubt && !now)
		return; /* some of the map's objects may be dead */
	lc_live_series_look(work.config.ordered ? NULL : work.map, now_ns, now);
	if (!last)
		return;
	work.runs.len = 0;
	if (work.config.follow)
		add_open_runs();
	lc_live_series_young(work.runs.data, work.runs.len, (uint16_t)work.open_epoch, now_ns);
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
	lc_contents_take(t);
	work.stats.copied_bytes += lc_copies_take(t, work.map);
	lc_span_take(t);
	(void)lc_span_take_traces(t);
	lc_span_take_pauses(t->tally);
	lc_span_take_looks(t->tally);
}

/* Returns whether the block is written. */
static bool append(const struct lc_block_input *in)
{
	int err = lc_profile_append(work.config.profile, in);

	work.appended |= !err;
	if (err && err != -EAGAIN && err != work.stats.write_error) {
		work.stats.write_error = err;
		lc_say("cannot write the profile: %s; trying again", strerror(-err));
	}
	return !err;
}

/* Returns whether the thread's tally is empty again. */
static bool write_block(struct lc_thread *t, uint64_t end_ns)
{
	const uint64_t begin_ns =
	    t->start_ns > work.block_begin_ns ? t->start_ns : work.block_begin_ns;
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
	lc_legend_take(work.jni, t);
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

	if (work.stats.write_error)
		(void)lc_limit_keep("blocks_lost", text, strerror(-work.stats.write_error));
	else
		(void)lc_limit_note("blocks_lost", text, strerror(ENOMEM));
}

/* Retry once: the failure may have been temporary. */
static void write_last_block(struct lc_thread *t, uint64_t end_ns)
{
	if (write_block(t, end_ns) && is_counted(t))
		return;
	lc_profile_try_now(work.config.profile);
	if (!write_block(t, end_ns) || !is_counted(t))
		note_blocks_lost();
}

/*
 * The number of traces has no bound, so write as many blocks as they need. The loop has a bound,
 * since the thread may go on to trace.
 */
static void take_traces(struct lc_thread *t, uint64_t now)
{
	for (unsigned i = 0; i < TRACE_BLOCKS_MAX && lc_span_take_traces(t); i++)
		if (!write_block(t, now))
			break;
}

/* The CPU time of the JVM's own threads. */
static void write_jvm_block(uint64_t end_ns)
{
	struct lc_block_input in = { .t_begin_ns = work.block_begin_ns, .t_end_ns = end_ns };

	if (lc_timeline_jvm_block(&in) && append(&in))
		lc_timeline_jvm_clear();
}

static void write_blocks(uint64_t end_ns, bool last)
{
	lc_lines_flush();
	lc_span_mark_running(last);
	for (struct lc_thread *t = lc_threads_walk(); t; t = t->next) {
		if (last)
			write_last_block(t, end_ns);
		else
			(void)write_block(t, end_ns);
	}
	if (last && lc_rss_left() && lc_threads_walk())
		write_last_block(lc_threads_walk(), end_ns);
	write_jvm_block(end_ns);
	lc_common_counts_write(work.block_begin_ns, end_ns, append);
	work.block_begin_ns = end_ns;
}

static void take_all_traces(uint64_t now)
{
	for (struct lc_thread *t = lc_threads_walk(); t; t = t->next)
		take_traces(t, now);
}

/* After the last blocks: count the traces that are left as lost. */
static void give_up_traces(void)
{
	for (struct lc_thread *t = lc_threads_walk(); t; t = t->next)
		lc_span_give_up_traces(t);
}

static void free_thread(struct lc_thread *t)
{
	work.stats.records_lost += t->allocs ? lc_alloc_log_lost(t->allocs) : 0;
	work.stats.walks += t->contexts ? lc_contexts_walks(t->contexts) : 0;
	work.stats.looked += t->contexts ? lc_contexts_looked(t->contexts) : 0;
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

/*
 * Keep the records of a thread whose log is freed next: those of the open epoch, or all that are
 * left if there are no epochs. Returns 0 or -ENOMEM.
 */
static int adopt_records(struct lc_thread *t)
{
	uint64_t to = t->allocs ? lc_alloc_log_position(t->allocs) : 0;
	const struct lc_alloc *run;
	size_t len;

	if (work.config.ordered) {
		lc_concurrent_take(t);
		return 0;
	}
	while (t->sealed < to && (len = lc_alloc_log_run(t->allocs, t->sealed, to, &run)) > 0) {
		for (size_t i = 0; i < len; i++)
			if (lc_vector_push(&work.orphans, &run[i]))
				return -ENOMEM;
		t->sealed += len;
	}
	return 0;
}

/* Free the records of threads that have ended, once nothing refers to them. */
static void reap_threads(uint64_t now)
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
		free_now = lc_sealed_none() && !adopt_records(t);
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
		take_traces(t, now);
		write_last_block(t, now);
		lc_span_give_up_traces(t);
		free_thread(t);
	}
}

/* Each profile of --loop needs its own copy of names that are written only once. */
static void next_profile(uint64_t now)
{
	const struct lc_profile *before = work.config.profile;

	work.config.profile = work.config.next(now);
	if (work.config.profile == before)
		return;
	lc_live_series_again(now);
	lc_legend_again();
	lc_field_tell_again();
	lc_cache_lines_again();
	lc_rss_again();
}

static struct lc_rest_at rest_at(void)
{
	const uint64_t process_ns = lc_own_cost_process(), own_ns = lc_own_cost_clock();

	return (struct lc_rest_at){ lc_time_now_ns(),
		                    process_ns > own_ns ? process_ns - own_ns : 0 };
}

static bool is_over(void)
{
	return work.config.is_over && work.config.is_over(lc_time_now_ns());
}

static bool manifest_is_due(uint64_t now_ns)
{
	return now_ns - work.manifest_ns >= (work.appended ? MANIFEST_MS : MANIFEST_IDLE_MS) * MS;
}

/* It may take milliseconds, and the last block ends with the recording: so it comes first. */
static void look_at_memory(bool last, bool flush)
{
	lc_rss_look(work.jni, lc_time_now_ns(),
	            last    ? LC_RSS_END
	            : flush ? LC_RSS_ASKED
	                    : LC_RSS_LOOK);
}

static void look_at_open_epoch(uint64_t now, bool last, bool asked)
{
	if (last || asked || now - work.open_ns >= OPEN_EPOCH_MS * MS) {
		work.open_ns = now;
		if (!work.config.ordered)
			resolve_open_epoch(last ? UINT64_MAX : now - RECORD_LAG_MS * MS);
		lc_numa_resolve(work.open_epoch, now);
		reap_threads(now);
	} else if (lc_span_slots_crowded()) {
		reap_threads(now);
	}
}

/* `over`: the next profile begins. */
static void look(bool last, bool over)
{
	const uint64_t asked = atomic_load_explicit(&work.flushes_asked, memory_order_acquire);
	uint64_t now;
	bool marked, flush;

	if (!last)
		lc_stand_back();
	work.stats.looks++;
	flush = asked != atomic_load_explicit(&work.flushes_done, memory_order_relaxed) || over;
	look_at_memory(last, flush);
	now = lc_time_now_ns();
	marked = work.config.marked && work.config.marked(now);
	close_sealed_epochs();
	/* No epoch is ever sealed if objects are not followed, so samples wait for none. */
	if (!work.config.follow && !work.config.ordered)
		work.open_epoch = lc_epoch_now();
	lc_thread_cpu_look(last);
	lc_native_code_refresh();
	lc_timeline_tick(now, last);
	if (work.config.options->trace && lc_span_what())
		take_all_traces(now);
	lc_estimate_flush(work.jni);
	if (work.config.ordered)
		lc_concurrent_pass(work.jni, last);
	else
		lc_resolve_take(work.jni, work.open_epoch);
	end_numa_windows();
	work.stats.map_in_doubt =
	    work.stats.map_in_doubt && lc_map_check(work.map, check_header, NULL, HEADERS_PER_PASS);
	note_live(now, last || flush, last);
	if (last || over)
		lc_live_series_end();
	look_at_open_epoch(now, last, flush || marked);
	if (last || flush || marked || now - work.block_begin_ns >= LC_REST_BLOCK_MS * MS) {
		lc_cycles_refine();
		write_blocks(now, last);
		lc_rest_writes(&work.rest, rest_at());
		if (last)
			give_up_traces();
		lc_alloc_pool_tidy(now);
	}
	lc_hot_classes_look(now);
	if (now - work.budget_ns >= BUDGET_MS * MS) {
		work.budget_ns = now;
		lc_budget_tick(now);
	}
	if (marked)
		work.config.divided();
	if (last || flush || manifest_is_due(now)) {
		work.manifest_ns = now;
		work.appended = false;
		if (over)
			next_profile(now);
		else
			work.config.write_manifest(last);
	}
	atomic_store_explicit(&work.flushes_done, asked, memory_order_release);
}

static void sleep_and_look(void)
{
	const uint64_t now = lc_time_now_ns();
	bool asked, over, looked;

	/* With timelines, at the end of each of their stretches. */
	if (lc_timeline_on()) {
		(void)lc_wake_wait(lc_timeline_next_ns(now) - now);
		asked = true;
	} else {
		asked = lc_wake_wait(work.rest.sleep_ns);
	}
	work.stats.wakes++;
	over = is_over();
	/* Look up the names of sampled methods before the tick. The tick may start a safepoint, and
	 * the JVM gives no names until the last thread has stopped. */
	looked = lc_rest_wakes(&work.rest, rest_at(), asked || over);
	if (looked)
		look(false, over);
	if (work.config.tick)
		work.config.tick(work.jni, looked);
}

static void *run(void *unused)
{
	JavaVMAttachArgs args = { JNI_VERSION_1_8, (char *)(uintptr_t) "Locus", NULL };
	JavaVM *vm = work.config.vm;

	lc_thread_set_ours();
	(void)lc_peek_begin(NULL); /* as long as the thread runs */
	if ((*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&work.jni, &args)) {
		lc_say("the JVM could not attach Locus's thread: no profile is written");
		lc_ending_done();
		return NULL;
	}
	lc_heap_size_begin(work.jni);
	lc_live_series_begin(lc_time_now_ns());
	lc_budget_start(work.config.options->budget_ppm);
	work.config.write_manifest(false); /* for a program that is killed early */
	lc_rest_begin(&work.rest, rest_at());
	while (!atomic_load_explicit(&work.stopping, memory_order_acquire))
		sleep_and_look();
	look(true, false);
	lc_loaded_code_rest(work.jni);
	(*vm)->DetachCurrentThread(vm);
	lc_thread_ours_ends();
	lc_ending_done();
	return NULL;
}

int lc_attribution_start(const struct lc_attribution_config *config)
{
	int err;

	work.config = *config;
	work.block_begin_ns = work.manifest_ns = work.open_ns = work.budget_ns = lc_time_now_ns();
	lc_rss_begin();
	err = lc_wake_init();
	if (!err)
		err = lc_map_create(&work.map);
	if (err)
		return err;
	err = lc_own_thread_start(&work.thread, "locus", run, NULL);
	if (err)
		return err;
	if (config->ordered) {
		lc_resolve_ordered_init(config->options->min_size_bytes);
		lc_concurrent_init(work.map, config->options->audit);
	}
	/* Without the tables no array is looked into. */
	if (config->follow && config->copies_seen && !config->ordered)
		(void)lc_contents_open();
	if (config->follow)
		lc_sealed_open(&(struct lc_sealed_config){
		    .min_size_bytes = config->options->min_size_bytes,
		    .copies_seen = config->copies_seen,
		    .audit = config->options->audit,
		    .small_class_word = !lc_layout()->class_in_mark,
		});
	atomic_store_explicit(&work.running, true, memory_order_release);
	return 0;
}

bool lc_attribution_flush(uint64_t wait_ns)
{
	const uint64_t end = lc_time_now_ns() + wait_ns;
	const uint64_t mine =
	    atomic_fetch_add_explicit(&work.flushes_asked, 1, memory_order_acq_rel) + 1;

	lc_wake();
	while (atomic_load_explicit(&work.flushes_done, memory_order_acquire) < mine) {
		if (lc_time_now_ns() > end)
			return false;
		nanosleep(&(struct timespec){ .tv_nsec = MS }, NULL);
	}
	return true;
}

bool lc_attribution_stop(bool program_goes_on)
{
	clockid_t writer;

	if (!atomic_exchange(&work.running, false))
		return true;
	lc_sealed_close();
	if (program_goes_on && !pthread_getcpuclockid(work.thread, &writer))
		lc_own_cost_end_process(writer);
	atomic_store_explicit(&work.stopping, true, memory_order_release);
	lc_wake();
	if (lc_ending_wait(work.thread))
		return true;
	lc_limit_reached("disk_blocked",
	                 "the disk has not answered for %u s: the rest of the profile is lost, the "
	                 "program continues",
	                 LC_ENDING_MS / 1000);
	return false;
}

static struct lc_attribution_stats counted; /* what the rows point to */

static bool read_counters(const struct lc_options *options)
{
	counted = work.stats;
	lc_threads_lock();
	for (struct lc_thread *t = lc_threads_first(); t; t = t->next) {
		counted.records_lost += t->allocs ? lc_alloc_log_lost(t->allocs) : 0;
		counted.walks += t->contexts ? lc_contexts_walks(t->contexts) : 0;
		counted.looked += t->contexts ? lc_contexts_looked(t->contexts) : 0;
	}
	lc_threads_unlock();
	counted.collections = lc_sealed_collections();
	if (work.config.ordered)
		lc_concurrent_stats(&counted);
	counted.survivors = lc_map_count(work.map);
	counted.map_bytes = lc_map_bytes(work.map);
	counted.copied_lost = lc_map_copied_lost(work.map);
	counted.dropped = lc_map_dropped(work.map);
	return true;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("gc_collections", &counted.collections),
	LC_COUNTER("gc_moves", &counted.moves),
	LC_COUNTER("gc_moves_lost", &counted.moves_lost, .limit = "moves_lost",
	           .text = "a collection copied more objects than there was room for: the objects "
	                   "that it moved are lost",
	           .use = LC_MEMORY_COPIES, .refusable = true),
	LC_COUNTER("gc_incomplete", &counted.epochs_incomplete),
	LC_COUNTER("gc_collected", &counted.epochs_collected),
	LC_COUNTER("gc_copied_bytes", &counted.copied_bytes),
	LC_COUNTER("gc_copied_lost", &counted.copied_lost, .limit = "copies_lost",
	           .text = "there was no memory to count some copies of collections"),
	LC_COUNTER("map_dropped", &counted.dropped),
	LC_COUNTER("map_survivors", &counted.survivors),
	LC_COUNTER("map_survivors_peak", &counted.survivors_peak),
	LC_COUNTER("map_bytes", &counted.map_bytes),
	LC_COUNTER("map_in_doubt", &counted.map_in_doubt),
	LC_COUNTER("alloc_records", &counted.records),
	LC_COUNTER("alloc_records_lost", &counted.records_lost, .limit = "records_lost",
	           .text = "the program allocates faster than Locus can record: some objects are "
	                   "counted but not tracked",
	           .use = LC_MEMORY_RECORDS, .refusable = true),
	LC_COUNTER("own_thread_wakes", &counted.wakes),
	LC_COUNTER("own_thread_looks", &counted.looks),
	LC_COUNTER("alloc_walks", &counted.walks),
	LC_COUNTER("alloc_walked_frames", &counted.looked),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = read_counters);

int lc_attribution_write_error(void)
{
	return work.stats.write_error;
}
