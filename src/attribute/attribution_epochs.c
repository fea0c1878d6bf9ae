/* SPDX-License-Identifier: Apache-2.0 */
/* attribute/attribution_epochs.c - brings the map and the waiting samples over each collection. */
#include <errno.h>
#include <stdatomic.h>

#include "src/attribute/attribution_impl.h"
#include "src/attribute/concurrent.h"
#include "src/attribute/heap_size.h"
#include "src/attribute/lines.h"
#include "src/attribute/live_objects.h"
#include "src/attribute/live_series.h"
#include "src/attribute/preexisting.h"
#include "src/attribute/resolve.h"
#include "src/attribute/sealed.h"
#include "src/attribute/still_there.h"
#include "src/base/limit.h"
#include "src/base/options.h"
#include "src/base/time.h"
#include "src/base/vector.h"
#include "src/core/epoch.h"
#include "src/core/record.h"
#include "src/core/thread.h"
#include "src/gc/moves.h"
#include "src/heap/alloc_log.h"
#include "src/heap/audit.h"
#include "src/heap/estimate.h"
#include "src/heap/map.h"
#include "src/jvm/layout/collector.h"
#include "src/jvm/layout/ranges.h"
#include "src/numa/numa.h"

enum { HEADERS_PER_PASS = 1 << 20 };

static struct lc_vector runs = { .element_bytes = sizeof(struct lc_nursery_run) };
/* Records of the open epoch, of threads that are freed. */
static struct lc_vector orphans = { .element_bytes = sizeof(struct lc_alloc) };

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
		if (lc_vector_push(&runs, &run)) {
			note_records_lost();
			return;
		}
		from += run.len;
		lc_attribution.stats.records += run.len;
	}
}

static void add_orphans(void)
{
	struct lc_nursery_run run = { orphans.data, orphans.len };

	if (run.len && lc_vector_push(&runs, &run))
		note_records_lost();
}

/* Does the object in the map still have its header? Unknown while a collection may move objects. */
static enum lc_map_header check_header(void *unused, const struct lc_object *object)
{
	uint32_t still = lc_attribution.open_epoch * 2;
	enum lc_map_header answer;

	if (lc_epoch_gc_sequence() != still)
		return LC_MAP_HEADER_LATER;
	answer = lc_still_there(object);
	return lc_epoch_gc_sequence() == still ? answer : LC_MAP_HEADER_LATER;
}

static void check_headers(void)
{
	lc_attribution.stats.map_in_doubt =
	    lc_map_check(lc_attribution.map, check_header, NULL, HEADERS_PER_PASS);
}

static void forget_survivors(void)
{
	struct lc_object object;
	uint64_t at = 0;

	while (lc_map_next(lc_attribution.map, &at, &object))
		lc_map_forget(lc_attribution.map, object.addr);
	lc_attribution.stats.epochs_incomplete++;
}

/* The records of an epoch that a collection has ended. */
static void add_sealed_runs(const struct lc_epoch *e)
{
	runs.len = 0;
	add_orphans();
	for (size_t i = 0; i < e->marks_len; i++)
		add_runs(e->marks[i].thread->allocs, e->marks[i].thread->sealed,
		         e->marks[i].position);
	for (size_t i = 0; i < e->marks_len; i++)
		e->marks[i].thread->looked = e->marks[i].position;
}

static void close_epoch(struct lc_epoch *e)
{
	struct lc_nursery nursery = { .epoch_tag = (uint16_t)e->number };
	struct lc_map_close close = { .nursery = &nursery,
		                      .areas = e->areas,
		                      .areas_len = e->areas_len,
		                      .heap_low = lc_ranges_heap().low,
		                      .in_pieces = lc_collector() == LC_GC_PARALLEL };
	struct lc_map *const map = lc_attribution.map;
	const uint32_t old_closes = lc_map_old_closes(map);
	int err;

	if (e->forget)
		forget_survivors();
	add_sealed_runs(e);
	nursery.runs = runs.data;
	nursery.len = runs.len;
	lc_resolve_take(lc_attribution.jni, e->number);
	lc_attribution_end_numa_windows();
	lc_resolve_close_epoch(lc_attribution.jni, map, &nursery);
	lc_lines_close_epoch();
	lc_numa_resolve(e->number, lc_time_now_ns());
	close.moves = lc_moves_all(e->moves, &close.moves_len);
	/* The number of lost moves is final only here: see gc/moves.h. */
	close.small_known = e->small_known;
	close.stuck_known = e->stuck_known;
	close.complete = e->complete && !lc_moves_lost(e->moves);
	close.collected = e->collected;
	lc_resolve_carry(lc_attribution.jni, &close);
	lc_attribution.stats.moves += lc_moves_count(e->moves);
	lc_attribution.stats.moves_lost += lc_moves_lost(e->moves);
	err = lc_map_close_epoch(map, &close);
	if (err)
		lc_sealed_note_no_memory();
	lc_preexisting_close(map, e->number, &close);
	if (err || !close.complete)
		lc_attribution.stats.epochs_incomplete++;
	else
		lc_attribution.stats.epochs_collected += e->collected;
	if (lc_attribution.config.options->audit)
		lc_audit_compare(map, e->number);
	for (size_t i = 0; i < e->marks_len; i++) {
		e->marks[i].thread->sealed = e->marks[i].position;
		lc_alloc_log_trim(e->marks[i].thread->allocs, e->marks[i].position);
	}
	orphans.len = 0;
	lc_estimate_close(e->number, e->areas, e->areas_len);
	lc_attribution.open_epoch = e->number + 1;
	check_headers();
	if (lc_map_count(map) > lc_attribution.stats.survivors_peak)
		lc_attribution.stats.survivors_peak = lc_map_count(map);
	if (e->collected)
		lc_live_series_collected(lc_heap_size_of(e->areas, e->areas_len),
		                         e->full || lc_map_old_closes(map) != old_closes);
}

void lc_attribution_close_epochs(void)
{
	struct lc_epoch *e;

	while ((e = lc_sealed_take())) {
		close_epoch(e);
		lc_sealed_free(e);
	}
}

void lc_attribution_check_headers(void)
{
	if (lc_attribution.stats.map_in_doubt)
		lc_attribution.stats.map_in_doubt =
		    lc_map_check(lc_attribution.map, check_header, NULL, HEADERS_PER_PASS);
}

/* The records of the open epoch. */
static void add_open_runs(void)
{
	uint64_t records = lc_attribution.stats.records;

	runs.len = 0;
	add_orphans();
	for (struct lc_thread *t = lc_threads_walk(); t; t = t->next) {
		bool ended = atomic_load_explicit(&t->ended, memory_order_acquire); /* first */
		uint64_t position = t->allocs ? lc_alloc_log_position(t->allocs) : 0;

		t->looked = ended ? UINT64_MAX : position;
		if (t->allocs)
			add_runs(t->allocs, t->sealed, position);
	}
	lc_attribution.stats.records = records; /* counted when their epoch closes */
}

void lc_attribution_resolve_open(uint64_t until_ns)
{
	struct lc_nursery nursery = { .epoch_tag = (uint16_t)lc_attribution.open_epoch };

	lc_resolve_take(lc_attribution.jni, lc_attribution.open_epoch);
	lc_attribution_end_numa_windows();
	if (!lc_resolve_waiting())
		return;
	add_open_runs();
	nursery.runs = runs.data;
	nursery.len = runs.len;
	lc_resolve_samples(lc_attribution.jni, lc_attribution.map, &nursery, until_ns);
}

void lc_attribution_note_live(uint64_t now_ns, bool now, bool last)
{
	struct lc_attribution_stats concurrent;

	if (lc_attribution.config.ordered) {
		lc_concurrent_stats(&concurrent);
		while (lc_live_series_collections() < concurrent.collections) {
			lc_estimate_collected();
			lc_live_series_collected(lc_heap_size_now(lc_attribution.jni),
			                         lc_heap_size_old_collected());
		}
	}
	if (lc_attribution.stats.map_in_doubt && !now)
		return; /* some of the map's objects may be dead */
	lc_live_series_look(lc_attribution.config.ordered ? NULL : lc_attribution.map, now_ns, now);
	if (!last)
		return;
	runs.len = 0;
	if (lc_attribution.config.follow)
		add_open_runs();
	lc_live_series_young(runs.data, runs.len, (uint16_t)lc_attribution.open_epoch, now_ns);
}

uint32_t lc_attribution_live_objects(struct lc_live_objects *o)
{
	const bool follow = lc_attribution.config.follow;

	lc_attribution_close_epochs();
	lc_live_objects_find(o, follow ? lc_attribution.map : NULL);
	return follow ? lc_attribution.open_epoch * 2 : 0;
}

int lc_attribution_adopt(struct lc_thread *t)
{
	uint64_t to = t->allocs ? lc_alloc_log_position(t->allocs) : 0;
	const struct lc_alloc *run;
	size_t len;

	if (lc_attribution.config.ordered) {
		lc_concurrent_take(t);
		return 0;
	}
	while (t->sealed < to && (len = lc_alloc_log_run(t->allocs, t->sealed, to, &run)) > 0) {
		for (size_t i = 0; i < len; i++)
			if (lc_vector_push(&orphans, &run[i]))
				return -ENOMEM;
		t->sealed += len;
	}
	return 0;
}
