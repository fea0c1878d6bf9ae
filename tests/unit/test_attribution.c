/* uses: tests/unit/no_attach.c src/core/memory.c src/core/stand_back.c src/sample/native_code.c src/jvm/os/peek.c src/attribute/attribution.c src/attribute/ask.c src/attribute/attribution_blocks.c src/attribute/live_holders.c src/attribute/attribution_ended.c src/attribute/attribution_epochs.c src/heap/totals.c src/heap/common_counters.c src/attribute/common_counts.c src/attribute/legend.c src/core/own_thread.c src/attribute/copies.c src/attribute/sealed.c src/attribute/ending.c src/core/stages.c src/base/limit.c src/attribute/resolve.c src/attribute/rest.c src/attribute/bucket.c src/core/epoch.c src/core/thread.c src/core/wake.c src/base/options.c src/base/nearest.c src/base/say.c src/base/slab.c src/heap/alloc_log.c src/heap/site_counters.c src/heap/map.c src/heap/map_store.c src/heap/map_close.c src/heap/map_resolve.c src/sample/sample_log.c src/profile/tally.c src/format/section.c tests/unit/gc_model.c tests/unit/attribution_model.c src/core/own_cost.c src/attribute/concurrent.c src/attribute/event_order.c src/attribute/resolve_order.c src/attribute/still_there.c src/heap/map_order.c src/gc/move_log.c src/offheap/blocks.c src/offheap/granules.c src/attribute/live_series.c src/heap/estimate_sums.c -lJudy -lpthread -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_attribution.c - every sample ends in one bucket, and every count is written once.
 *
 * A program of random threads, allocations, accesses and collections runs beside the attribution
 * thread. The model knows at each access which object lies there, so it knows the bucket and the
 * site; at the end the blocks that were written must hold just these numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "src/attribute/attribution.h"
#include "src/attribute/sealed.h"
#include "src/base/options.h"
#include "src/base/time.h"
#include "src/core/epoch.h"
#include "src/core/thread.h"
#include "src/core/wake.h"
#include "src/heap/alloc_log.h"
#include "src/heap/context.h"
#include "src/heap/totals.h"
#include "src/sample/sample_log.h"
#include "tests/unit/attribution_model.h"
#include "tests/unit/counter.h"
#include "tests/unit/gc_model.h"

#define MIB (UINT64_C(1) << 20)
#define HALF_BYTES (4 * MIB)
#define OLD_A GC_LOW
#define OLD_B (GC_LOW + HALF_BYTES)
#define EDEN (GC_LOW + 2 * HALF_BYTES)
#define EDEN_BYTES (4 * MIB)

enum { LIVE_MAX = 8192, RUNNING_MAX = 6, ROUNDS = 30, ACTIONS = 1000, LOG_BYTES = 64 << 10 };

struct object {
	uint64_t addr, bytes;
	uint32_t site; /* 0: not tracked */
};

static struct object live[LIVE_MAX];
static size_t live_len;
static struct lc_thread *running[RUNNING_MAX];
static size_t running_len;
static uint64_t eden_top, old_low, old_top;
static struct lc_move moves[LIVE_MAX];
static uint64_t collections, moved, records;
static bool do_not_die;

static struct attribution_totals expected;

static uint32_t below(uint32_t limit)
{
	return (uint32_t)rand() % limit;
}

/* -- the program ------------------------------------------------------------------------------- */

static void begin_thread(void)
{
	struct lc_thread *t = lc_thread_create(100, "worker", true);

	assert_non_null(t);
	assert_in_range(t->index, 0, ATTRIBUTION_THREADS - 1);
	assert_int_equal(lc_alloc_log_create(&t->allocs), 0);
	assert_int_equal(lc_sample_log_create(LOG_BYTES, &t->samples), 0);
	t->contexts = calloc(1, sizeof(*t->contexts));
	assert_non_null(t->contexts);
	lc_thread_publish(t);
	running[running_len++] = t;
}

static void end_thread(size_t i)
{
	struct lc_thread *t = running[i];

	running[i] = running[--running_len];
	attribution_ended(t->index);
	atomic_store_explicit(&t->ended, true, memory_order_release);
}

static void allocate(struct lc_thread *t)
{
	const uint64_t words = 32 + below(200);
	struct object o = { .addr = eden_top, .bytes = words * 8 };
	struct lc_site_counter *c;

	if (live_len == LIVE_MAX || eden_top + o.bytes > EDEN + EDEN_BYTES)
		return;
	eden_top += o.bytes;
	if (below(4)) {
		o.site = 1 + below(ATTRIBUTION_SITES - 1);
		c = lc_site_counters_of(&t->contexts->counters, o.site);
		assert_non_null(c);
		atomic_fetch_add(&c->allocations, 1);
		atomic_fetch_add(&c->bytes, o.bytes);
		expected.allocations[t->index][o.site]++;
		expected.bytes[t->index][o.site] += o.bytes;
		records++;
		assert_int_equal(
		    lc_alloc_log_put(
		        t->allocs,
		        (struct lc_alloc){ .tagged_addr = o.addr | (uint64_t)lc_epoch_now()
		                                                       << LC_ADDR_BITS,
		                           .size_words = (uint32_t)words,
		                           .site = o.site }),
		    0);
	}
	live[live_len++] = o;
}

/* The bucket by the sample's kind. */
static struct lc_sample access_of(enum lc_bucket *bucket, uint32_t *site)
{
	struct lc_sample s = { .where = LC_WHERE_COMPILED, .how = LC_HOW_DIRECT };
	const uint32_t kind = below(10);

	*site = 0;
	if (kind < 7 && live_len) {
		const struct object *o = &live[below((uint32_t)live_len)];

		s.addr = o->addr + below((uint32_t)o->bytes);
		*site = o->site;
		*bucket = o->site ? LC_BUCKET_OBJECT : LC_BUCKET_HEAP_UNKNOWN;
	} else if (kind == 7) {
		s.addr = 0x1000 + below(1000);
		*bucket = LC_BUCKET_NATIVE;
	} else if (kind == 8) {
		s.where = LC_WHERE_INTERPRETER;
		s.how = LC_HOW_NOT_JAVA;
		*bucket = LC_BUCKET_JVM;
	} else {
		s.how = LC_HOW_NO_OPERAND;
		*bucket = LC_BUCKET_NO_ADDRESS;
	}
	return s;
}

static void put_sample(struct lc_thread *t, struct lc_sample s, enum lc_bucket bucket,
                       uint32_t site)
{
	s.time_ns = lc_time_now_ns();
	s.epoch = lc_epoch_now();
	s.overrun = below(3);
	if (lc_sample_log_put(t->samples, &s, NULL)) {
		attribution_lost(t->index, 1 + s.overrun);
		bucket = LC_BUCKET_LOST;
		site = 0;
	}
	expected.samples[t->index][bucket][site] += 1 + s.overrun;
}

static void sample(struct lc_thread *t)
{
	enum lc_bucket bucket;
	uint32_t site;
	struct lc_sample s = access_of(&bucket, &site);

	put_sample(t, s, bucket, site);
	if (lc_sample_log_half_full(t->samples))
		lc_wake();
}

/*
 * -- the collector: young objects go to a half of the old generation, a full half to the other --
 */

static void move_object(struct object *o)
{
	moves[gc_plan.moves_len++] =
	    (struct lc_move){ .src = o->addr, .dst = old_top, .size_bytes = o->bytes };
	o->addr = old_top;
	old_top += o->bytes;
}

static void collect(bool lossy)
{
	uint64_t young_bytes = eden_top - EDEN;
	const bool full = old_top + young_bytes > old_low + HALF_BYTES;
	struct lc_area areas[3];
	size_t kept = 0;

	lc_sealed_gc_start();
	gc_plan = (struct gc_plan){ .moves = moves, .collections = 1, .lost = lossy };
	if (full)
		old_top = old_low = old_low == OLD_A ? OLD_B : OLD_A;
	for (size_t i = 0; i < live_len; i++) {
		struct object *o = &live[i];
		const bool young = o->addr >= EDEN;

		if (below(10) < (young ? 6 : 1) ||
		    (young && old_top + o->bytes > old_low + HALF_BYTES))
			continue; /* dead */
		if (lossy && !young && !full)
			continue; /* what stayed is in doubt: not looked at any more */
		if (young || full)
			move_object(o);
		if (lossy)
			o->site = 0;
		live[kept++] = *o;
	}
	live_len = kept;
	eden_top = EDEN;
	areas[0] = (struct lc_area){ OLD_A, OLD_A, OLD_B, LC_AREA_FREE, 0 };
	areas[1] = (struct lc_area){ OLD_B, OLD_B, EDEN, LC_AREA_FREE, 0 };
	areas[2] = (struct lc_area){ EDEN, EDEN, EDEN + EDEN_BYTES, LC_AREA_EDEN, 0 };
	areas[old_low == OLD_B].kind = LC_AREA_OLD;
	areas[old_low == OLD_B].top = old_top;
	gc_plan.areas = areas;
	gc_plan.areas_len = 3;
	moved += gc_plan.moves_len;
	collections++;
	lc_sealed_gc_finish(NULL, 0);
}

static void act(void)
{
	struct lc_thread *t = running[below((uint32_t)running_len)];
	const uint32_t what = below(1000);

	if (what < 400)
		allocate(t);
	else if (what < 985)
		sample(t);
	else if (what < 990)
		collect(false);
	else if (what < 991)
		collect(true);
	else if (what < 996 && running_len < RUNNING_MAX)
		begin_thread();
	else if (running_len > 1)
		end_thread(below((uint32_t)running_len));
}

/*
 * A thread allocates and ends, and its record is freed; then another thread touches the object: in
 * the same epoch, and after the collection that ends it.
 */
static void touch_what_an_ended_thread_left(void)
{
	const struct timespec moment = { .tv_nsec = 20 * 1000000L };
	struct lc_sample s = { .where = LC_WHERE_COMPILED, .how = LC_HOW_DIRECT };
	struct object *o;
	uint32_t index;

	if (running_len == RUNNING_MAX)
		end_thread(1);
	collect(false);
	begin_thread();
	index = running[running_len - 1]->index;
	do
		allocate(running[running_len - 1]);
	while (!live[live_len - 1].site);
	o = &live[live_len - 1];
	end_thread(running_len - 1);
	for (unsigned i = 0; i < 3000 && !attribution_freed(index); i++) {
		lc_wake(); /* the program uses no CPU time, so the thread would rest for seconds */
		nanosleep(&moment, NULL);
	}
	assert_true(attribution_freed(index));
	s.addr = o->addr + 8;
	put_sample(running[0], s, LC_BUCKET_OBJECT, o->site);
	live[0] = *o; /* the others die, so that this one moves alone */
	live_len = 1;
	do_not_die = true;
	collect(false);
	do_not_die = false;
	s.addr = live[0].addr + 16;
	put_sample(running[0], s, LC_BUCKET_OBJECT, live[0].site);
}

/* -- the tests --------------------------------------------------------------------------------- */

static void assert_totals_equal(const struct attribution_totals *got)
{
	for (size_t t = 0; t < ATTRIBUTION_THREADS; t++) {
		for (size_t b = 0; b < LC_BUCKET_COUNT; b++)
			for (size_t s = 0; s < ATTRIBUTION_SITES; s++)
				if (got->samples[t][b][s] != expected.samples[t][b][s])
					fail_msg("thread %zu, bucket %zu, site %zu: %lu, not %lu",
					         t, b, s, (unsigned long)got->samples[t][b][s],
					         (unsigned long)expected.samples[t][b][s]);
		for (size_t s = 0; s < ATTRIBUTION_SITES; s++) {
			assert_int_equal(got->allocations[t][s], expected.allocations[t][s]);
			assert_int_equal(got->bytes[t][s], expected.bytes[t][s]);
		}
	}
}

/* At any time, whatever has been written and whoever has ended. */
static void assert_all_is_in_the_totals(void)
{
	struct lc_totals now, sum = { 0 };

	for (size_t t = 0; t < ATTRIBUTION_THREADS; t++) {
		for (size_t s = 0; s < ATTRIBUTION_SITES; s++) {
			sum.objects += expected.allocations[t][s];
			sum.bytes += expected.bytes[t][s];
		}
	}
	lc_totals_take(&now);
	assert_int_equal(now.objects, sum.objects);
	assert_int_equal(now.bytes, sum.bytes);
}

static void everything_ends_in_one_bucket_and_is_written_once(void **state)
{
	const struct timespec pause = { .tv_nsec = 80 * 1000000L };
	struct lc_options options;
	struct lc_attribution_config config = {
		.vm = attribution_vm(),
		.options = &options,
		.follow = true,
		.copies_seen = true,
		.write_manifest = attribution_manifest,
	};

	srand(11);
	lc_options_init(&options);
	options.min_size_bytes = 256;
	eden_top = EDEN;
	old_low = old_top = OLD_A;
	assert_int_equal(lc_alloc_pool_init(64 << 20), 0);
	begin_thread();
	attribution_append_fails(true);
	assert_int_equal(lc_attribution_start(&config), 0);
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < ACTIONS; i++)
			act();
		assert_all_is_in_the_totals();
		nanosleep(&pause, NULL);
		assert_all_is_in_the_totals();
		if (round % 10 == 5)
			touch_what_an_ended_thread_left();
	}
	/* More than the log has room for, and nobody is woken. */
	for (unsigned i = 0; i < 4 * LOG_BYTES / sizeof(struct lc_sample); i++)
		put_sample(running[0], (struct lc_sample){ .how = LC_HOW_NO_OPERAND },
		           LC_BUCKET_NO_ADDRESS, 0);
	assert_true(expected.samples[running[0]->index][LC_BUCKET_LOST][0] > 0);
	attribution_append_fails(false);
	lc_attribution_stop(false);
	assert_totals_equal(attribution_written());
	for (uint32_t site = 1; site < ATTRIBUTION_SITES; site++)
		assert_int_equal(attribution_written()->names[site], site % 2);
	assert_int_equal(counter("gc_collections"), collections);
	assert_int_equal(counter("gc_moves"), moved);
	assert_int_equal(counter("gc_moves_lost"), counter("gc_incomplete"));
	assert_true(counter("gc_incomplete") > 0);
	assert_int_equal(counter("alloc_records_lost"), 0);
	assert_in_range(counter("alloc_records"), 1, records);
	assert_int_equal(gc_seen.batches, 0);
	assert_int_equal(attribution_epochs_closed(), collections); /* each once, in order */
	/* At the start and at the end. */
	assert_in_range(attribution_manifests(), 2, 12);
	assert_int_equal(attribution_final_manifests(), 1);
	/* The TSC's rate is refined with each second's blocks: of the 2.4 seconds one at least, and
	 * the end. */
	assert_in_range(attribution_refinements(), 2, 60);
	assert_true(collections > 50 && moved > 1000 && lc_threads_registered() > 20);
	/* All but those that still run are freed. */
	assert_int_equal(attribution_threads_freed(), lc_threads_registered() - running_len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_ends_in_one_bucket_and_is_written_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
