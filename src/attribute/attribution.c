/* SPDX-License-Identifier: Apache-2.0 */
/* attribute/attribution.c - runs the attribution thread, and decides when it looks and writes. */
#include "src/attribute/attribution.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "src/attribute/ask.h"
#include "src/attribute/attribution_impl.h"
#include "src/attribute/budget.h"
#include "src/attribute/cache_lines.h"
#include "src/attribute/concurrent.h"
#include "src/attribute/contents.h"
#include "src/attribute/ending.h"
#include "src/attribute/heap_size.h"
#include "src/attribute/hot_classes.h"
#include "src/attribute/legend.h"
#include "src/attribute/live_series.h"
#include "src/attribute/resolve.h"
#include "src/attribute/rest.h"
#include "src/attribute/sealed.h"
#include "src/base/limit.h"
#include "src/base/options.h"
#include "src/base/say.h"
#include "src/base/time.h"
#include "src/core/counters.h"
#include "src/core/epoch.h"
#include "src/core/own_cost.h"
#include "src/core/own_thread.h"
#include "src/core/stand_back.h"
#include "src/core/thread.h"
#include "src/core/wake.h"
#include "src/heap/alloc_log.h"
#include "src/heap/context.h"
#include "src/heap/estimate.h"
#include "src/heap/loaded_code.h"
#include "src/heap/map.h"
#include "src/jvm/layout/field.h"
#include "src/jvm/layout/layout.h"
#include "src/jvm/os/peek.h"
#include "src/jvm/os/thread_cpu.h"
#include "src/numa/numa.h"
#include "src/offheap/rss.h"
#include "src/sample/native_code.h"
#include "src/span/clock/cycle_clock.h"
#include "src/span/clock/timeline.h"
#include "src/span/span.h"

#define MS UINT64_C(1000000)

enum {
	MANIFEST_MS = 5000, /* while blocks are written */
	MANIFEST_IDLE_MS = 60000,
	BUDGET_MS = 1000,
	OPEN_EPOCH_MS = 250, /* the open epoch is resolved at most this often */
	/* ... since all of its records are read each time, for at most this part of the time, */
	OPEN_EPOCH_PART = 100,
	OPEN_EPOCH_MAX_MS = 5000, /* but at least this often */
	RECORD_LAG_MS = 20,       /* an object is touched before its allocation is recorded */
};

static struct {
	pthread_t thread;
	_Atomic bool running, stopping;
	_Atomic uint64_t flushes_asked, flushes_done; /* the number of the last one */

	/* The attribution thread's own. */
	uint64_t manifest_ns, open_ns, budget_ns;
	uint64_t resolve_ns; /* when the open epoch is to be resolved again */
	struct lc_rest rest;
} work;

struct lc_attribution_state lc_attribution;

static void take_all_traces(uint64_t now)
{
	for (struct lc_thread *t = lc_threads_walk(); t; t = t->next)
		lc_attribution_take_traces(t, now);
}

/* After the last blocks: count the traces that are left as lost. */
static void give_up_traces(void)
{
	for (struct lc_thread *t = lc_threads_walk(); t; t = t->next)
		lc_span_give_up_traces(t);
}

/* Each profile of --loop needs its own copy of names that are written only once. */
static void next_profile(uint64_t now)
{
	const struct lc_profile *before = lc_attribution.config.profile;

	lc_attribution.config.profile = lc_attribution.config.next(now);
	if (lc_attribution.config.profile == before)
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
	return lc_attribution.config.is_over && lc_attribution.config.is_over(lc_time_now_ns());
}

static bool manifest_is_due(uint64_t now_ns)
{
	return now_ns - work.manifest_ns >=
	       (lc_attribution.appended ? MANIFEST_MS : MANIFEST_IDLE_MS) * MS;
}

/* It may take milliseconds, and the last block ends with the recording: so it comes first. */
static void look_at_memory(bool last, bool flush)
{
	lc_rss_look(lc_attribution.jni, lc_time_now_ns(),
	            last    ? LC_RSS_END
	            : flush ? LC_RSS_ASKED
	                    : LC_RSS_LOOK);
}

/* A sample that is not resolved here waits for the end of its epoch. */
static void resolve_open_epoch(uint64_t now, uint64_t until_ns)
{
	const uint64_t begin_ns = lc_own_cost_clock();
	uint64_t wait_ns;

	lc_attribution_resolve_open(until_ns);
	wait_ns = (lc_own_cost_clock() - begin_ns) * OPEN_EPOCH_PART;
	work.resolve_ns =
	    now + (wait_ns < OPEN_EPOCH_MAX_MS * MS ? wait_ns : OPEN_EPOCH_MAX_MS * MS);
}

static void look_at_open_epoch(uint64_t now, bool last, bool asked)
{
	if (last || asked || now - work.open_ns >= OPEN_EPOCH_MS * MS) {
		work.open_ns = now;
		if (!lc_attribution.config.ordered && (last || asked || now >= work.resolve_ns))
			resolve_open_epoch(now, last ? UINT64_MAX : now - RECORD_LAG_MS * MS);
		lc_numa_resolve(lc_attribution.open_epoch, now);
		lc_attribution_reap(now);
	} else if (lc_span_slots_crowded()) {
		lc_attribution_reap(now);
	}
}

/* `over`: the next profile begins. */
static void look(bool last, bool over)
{
	const uint64_t asked = atomic_load_explicit(&work.flushes_asked, memory_order_acquire);
	const bool asks = lc_ask_waits();
	uint64_t now;
	bool marked, flush;

	if (!last)
		lc_stand_back();
	lc_attribution.stats.looks++;
	flush =
	    asked != atomic_load_explicit(&work.flushes_done, memory_order_relaxed) || over || asks;
	look_at_memory(last, flush);
	now = lc_time_now_ns();
	marked = lc_attribution.config.marked && lc_attribution.config.marked(now);
	lc_attribution_close_epochs();
	/* No epoch is ever sealed if objects are not followed, so samples wait for none. */
	if (!lc_attribution.config.follow && !lc_attribution.config.ordered)
		lc_attribution.open_epoch = lc_epoch_now();
	lc_thread_cpu_look(last);
	lc_native_code_refresh();
	lc_timeline_tick(now, last);
	if (lc_attribution.config.options->trace && lc_span_what())
		take_all_traces(now);
	lc_estimate_flush(lc_attribution.jni);
	if (lc_attribution.config.ordered)
		lc_concurrent_pass(lc_attribution.jni, last);
	else
		lc_resolve_take(lc_attribution.jni, lc_attribution.open_epoch);
	lc_attribution_end_numa_windows();
	lc_attribution_check_headers();
	lc_attribution_note_live(now, last || flush, last);
	if (asks)
		lc_ask_answer(lc_attribution.jni);
	if (last || over)
		lc_live_series_end();
	look_at_open_epoch(now, last, flush || marked);
	if (last || flush || marked ||
	    now - lc_attribution.block_begin_ns >= LC_REST_BLOCK_MS * MS) {
		lc_cycles_refine();
		lc_attribution_write_blocks(now, last);
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
		lc_attribution.config.divided();
	if (last || flush || manifest_is_due(now)) {
		work.manifest_ns = now;
		lc_attribution.appended = false;
		if (over)
			next_profile(now);
		else
			lc_attribution.config.write_manifest(last);
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
	lc_attribution.stats.wakes++;
	over = is_over();
	/* Look up the names of sampled methods before the tick. The tick may start a safepoint, and
	 * the JVM gives no names until the last thread has stopped. */
	looked = lc_rest_wakes(&work.rest, rest_at(), asked || over);
	if (looked)
		look(false, over);
	if (lc_attribution.config.tick)
		lc_attribution.config.tick(lc_attribution.jni, looked);
}

static void *run(void *unused)
{
	JavaVMAttachArgs args = { JNI_VERSION_1_8, (char *)(uintptr_t) "Locus", NULL };
	JavaVM *vm = lc_attribution.config.vm;

	lc_thread_set_ours();
	(void)lc_peek_begin(NULL); /* as long as the thread runs */
	if ((*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&lc_attribution.jni, &args)) {
		lc_say("the JVM could not attach Locus's thread: no profile is written");
		lc_ending_done();
		return NULL;
	}
	lc_heap_size_begin(lc_attribution.jni);
	lc_live_series_begin(lc_time_now_ns());
	lc_budget_start(lc_attribution.config.options->budget_ppm);
	lc_attribution.config.write_manifest(false); /* for a program that is killed early */
	lc_rest_begin(&work.rest, rest_at());
	while (!atomic_load_explicit(&work.stopping, memory_order_acquire))
		sleep_and_look();
	look(true, false);
	lc_loaded_code_rest(lc_attribution.jni);
	(*vm)->DetachCurrentThread(vm);
	lc_thread_ours_ends();
	lc_ending_done();
	return NULL;
}

int lc_attribution_start(const struct lc_attribution_config *config)
{
	int err;

	lc_attribution.config = *config;
	lc_attribution.block_begin_ns = work.manifest_ns = work.open_ns = work.budget_ns =
	    lc_time_now_ns();
	lc_rss_begin();
	err = lc_wake_init();
	if (!err)
		err = lc_map_create(&lc_attribution.map);
	if (err)
		return err;
	err = lc_own_thread_start(&work.thread, "locus", run, NULL);
	if (err)
		return err;
	if (config->ordered) {
		lc_resolve_ordered_init(config->options->min_size_bytes);
		lc_concurrent_init(lc_attribution.map, config->options->audit);
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
	counted = lc_attribution.stats;
	lc_threads_lock();
	for (struct lc_thread *t = lc_threads_first(); t; t = t->next) {
		counted.records_lost += t->allocs ? lc_alloc_log_lost(t->allocs) : 0;
		counted.walks += t->contexts ? lc_contexts_walks(t->contexts) : 0;
		counted.looked += t->contexts ? lc_contexts_looked(t->contexts) : 0;
	}
	lc_threads_unlock();
	counted.collections = lc_sealed_collections();
	if (lc_attribution.config.ordered)
		lc_concurrent_stats(&counted);
	counted.survivors = lc_map_count(lc_attribution.map);
	counted.map_bytes = lc_map_bytes(lc_attribution.map);
	counted.copied_lost = lc_map_copied_lost(lc_attribution.map);
	counted.dropped = lc_map_dropped(lc_attribution.map);
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
	return lc_attribution.stats.write_error;
}
