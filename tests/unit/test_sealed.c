/* uses: src/core/memory.c src/attribute/sealed.c src/base/limit.c src/base/say.c src/core/epoch.c src/core/thread.c src/heap/alloc_log.c tests/unit/gc_model.c -lpthread -Wl,--wrap=malloc,--wrap=calloc */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sealed.c - checks that epochs come out in order with what their collections left, also where
 * memory fails.
 *
 * The random test compares with a model: a list of the epochs that must come out, and for each
 * thread the record that a pass over small objects must see next.
 *
 * The file is longer than 600 lines: the tests share the model.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/attribute/sealed.h"
#include "src/base/limit.h"
#include "src/core/epoch.h"
#include "src/core/thread.h"
#include "src/core/wake.h"
#include "src/gc/moves.h"
#include "src/heap/alloc_log.h"
#include "tests/unit/counter.h"
#include "tests/unit/gc_model.h"

enum { THREADS_MAX = 8, EPOCHS_MAX = 64, AREAS_MAX = 200, MOVES_MAX = 20 };

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);

static int failing = -1; /* allocations until one fails; -1: none does */
static bool failed;

static bool fails(void)
{
	if (failing < 0 || failing-- > 0)
		return false;
	failed = true;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

static unsigned wakes;

void lc_wake(void)
{
	wakes++;
}

/* -- the model --------------------------------------------------------------------------------- */

/* A thread numbers its records from 1 in size_words, and its own number is their site. */
struct model_thread {
	struct lc_thread *t;
	uint32_t put, swept;
};

struct model_epoch {
	uint32_t number;
	bool complete, forget, collected;
	size_t moves, areas;
	struct lc_thread *thread[THREADS_MAX];
	uint64_t position[THREADS_MAX];
	size_t threads;
};

static struct {
	struct model_thread threads[THREADS_MAX];
	size_t threads_len;
	struct model_epoch queue[EPOCHS_MAX];
	size_t first, len;
	uint32_t unswept; /* epoch whose records were not swept */
	bool unsealed;
	uint64_t collections;
} model;

static struct lc_area areas[AREAS_MAX];
static struct lc_move moves[MOVES_MAX];

static struct model_thread *thread_of(uint32_t site)
{
	for (size_t i = 0; i < model.threads_len; i++)
		if (model.threads[i].t->index == site - 1)
			return &model.threads[i];
	return NULL;
}

static uint32_t look_tag, look_span, looked;

/* Every record is seen once, in its thread's order. */
static void look(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	for (size_t i = 0; i < len; i++) {
		struct model_thread *m = thread_of(records[i].site);

		assert_non_null(m);
		assert_int_equal(records[i].size_words, ++m->swept);
	}
	look_tag = tag;
	look_span = span;
	looked += (uint32_t)len;
}

static struct model_thread *begin_thread(void)
{
	struct model_thread *m = &model.threads[model.threads_len++];

	*m = (struct model_thread){ .t = lc_thread_create(1000, "t", true) };
	assert_non_null(m->t);
	assert_int_equal(lc_alloc_log_create(&m->t->allocs), 0);
	lc_thread_publish(m->t);
	return m;
}

/* A thread leaves as the attribution thread lets it: while no epoch that names it is queued. */
static void end_thread(size_t i)
{
	struct model_thread *m = &model.threads[i];

	assert_true(lc_sealed_none());
	lc_threads_lock();
	lc_threads_unlink(m->t);
	lc_threads_unlock();
	lc_alloc_log_destroy(m->t->allocs);
	free(m->t);
	model.threads[i] = model.threads[--model.threads_len];
}

static void put(struct model_thread *m, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(
		    lc_alloc_log_put(m->t->allocs, (struct lc_alloc){ .size_words = ++m->put,
		                                                      .site = m->t->index + 1 }),
		    0);
}

static void plan(size_t moves_len, size_t areas_len, uint32_t collections, bool traces)
{
	gc_plan = (struct gc_plan){ .moves = moves,
		                    .moves_len = moves_len,
		                    .areas = areas,
		                    .areas_len = areas_len,
		                    .collections = collections,
		                    .small_traces = traces,
		                    .small_moves = traces ? 2 : 0 };
	for (size_t i = 0; i < areas_len; i++)
		areas[i] = (struct lc_area){ .bottom = GC_LOW + i * 4096,
			                     .top = GC_LOW + i * 4096 + 64,
			                     .end = GC_LOW + (i + 1) * 4096 };
}

/* Collect, and expect the epoch where the collection could be sealed. */
static void collect(int fail_at)
{
	const uint32_t number = lc_epoch_now();
	const unsigned wakes_before = wakes;
	struct model_epoch *e = &model.queue[model.first + model.len];
	bool sweep;

	lc_sealed_gc_start();
	assert_true(lc_epoch_gc_sequence_moving(lc_epoch_gc_sequence()));
	looked = 0;
	failed = false;
	failing = fail_at;
	lc_sealed_gc_finish(NULL, 0);
	failing = -1;
	assert_false(lc_epoch_gc_sequence_moving(lc_epoch_gc_sequence()));
	assert_int_equal(lc_epoch_now(), number + 1);
	assert_int_equal(wakes, wakes_before + 1);
	model.collections++;
	if (failed)
		return; /* what came of it is seen when the epochs are taken */
	*e = (struct model_epoch){ .number = number,
		                   .complete = true,
		                   .forget = model.unsealed,
		                   .collected = gc_plan.collections != 0,
		                   .moves = gc_plan.moves_len,
		                   .areas = gc_plan.areas_len };
	sweep = e->forget || gc_plan.collections;
	if (sweep && e->forget)
		model.unswept = number;
	if (sweep && gc_plan.small_traces) {
		e->moves += gc_plan.small_moves;
		if (looked) {
			assert_int_equal(look_tag, (uint16_t)number);
			assert_int_equal(look_span, (uint16_t)(number - model.unswept));
		}
	}
	for (size_t i = 0; i < model.threads_len; i++) {
		struct model_thread *m = &model.threads[i];

		if (sweep && gc_plan.small_traces)
			assert_int_equal(m->swept, m->put);
		if (sweep)
			m->swept = m->put;
	}
	if (!sweep)
		assert_int_equal(looked, 0);
	if (sweep)
		model.unswept = number + 1;
	for (struct lc_thread *t = lc_threads_first(); t; t = t->next) {
		e->thread[e->threads] = t;
		e->position[e->threads++] = lc_alloc_log_position(t->allocs);
	}
	model.len++;
	model.unsealed = false;
}

/* Take one epoch and compare it with the oldest expected. */
static void take(void)
{
	struct lc_epoch *e = lc_sealed_take();
	const struct model_epoch *want = &model.queue[model.first];
	size_t len;

	if (!model.len) {
		assert_null(e);
		assert_true(lc_sealed_none());
		return;
	}
	assert_non_null(e);
	assert_int_equal(e->number, want->number);
	assert_int_equal(e->complete, want->complete);
	assert_int_equal(e->forget, want->forget);
	assert_int_equal(e->collected, want->collected);
	assert_int_equal(lc_moves_count(e->moves), want->moves);
	assert_int_equal(e->areas_len, want->areas);
	for (size_t i = 0; i < e->areas_len; i++)
		assert_int_equal(e->areas[i].bottom, GC_LOW + i * 4096);
	len = e->marks_len;
	assert_int_equal(len, want->threads);
	for (size_t i = 0; i < len; i++) {
		assert_ptr_equal(e->marks[i].thread, want->thread[i]);
		assert_int_equal(e->marks[i].position, want->position[i]);
		lc_alloc_log_trim(e->marks[i].thread->allocs, e->marks[i].position);
	}
	lc_sealed_free(e);
	model.first++;
	model.len--;
	if (!model.len)
		model.first = 0;
}

static const struct lc_sealed_config config = { .min_size_bytes = 32,
	                                        .copies_seen = true,
	                                        .small_class_word = true };

static int start(void **state)
{
	memset(&model, 0, sizeof(model));
	memset(&gc_seen, 0, sizeof(gc_seen));
	gc_seen.look = look;
	failing = -1;
	if (lc_alloc_pool_init(4 << 20))
		return -1;
	lc_sealed_open(&config);
	model.unswept = lc_epoch_now();
	/* The first sweep looks back to epoch 0: begin with a collection that sweeps. */
	begin_thread();
	plan(0, 1, 1, false);
	collect(-1);
	take();
	return 0;
}

static int end(void **state)
{
	while (model.len)
		take();
	take();
	while (model.threads_len)
		end_thread(0);
	lc_sealed_close();
	assert_int_equal(gc_seen.batches, 0);
	lc_alloc_pool_destroy();
	return 0;
}

/* -- the tests --------------------------------------------------------------------------------- */

static void epochs_come_out_in_order_with_all_their_parts(void **state)
{
	srand(7);
	for (unsigned i = 0; i < 20000; i++) {
		unsigned what = (unsigned)rand() % 10;

		if (what < 4) {
			put(&model.threads[(unsigned)rand() % model.threads_len],
			    (unsigned)rand() % 40);
		} else if (what < 6 && model.first + model.len < EPOCHS_MAX) {
			plan((unsigned)rand() % MOVES_MAX, (unsigned)rand() % AREAS_MAX,
			     rand() % 4 > 0, rand() % 3 > 0);
			collect(-1);
		} else if (what < 8) {
			take();
		} else if (what == 8 && model.threads_len < THREADS_MAX) {
			begin_thread();
		} else if (what == 9 && model.threads_len > 1 && lc_sealed_none()) {
			end_thread((unsigned)rand() % model.threads_len);
		}
	}
	assert_true(model.collections > 1000);
}

static void a_collection_without_memory_is_told_by_the_next(void **state)
{
	unsigned unsealed = 0, incomplete = 0;

	for (int fail_at = 0; fail_at < 8; fail_at++) {
		struct lc_epoch *e;
		unsigned forgotten;
		uint32_t number;
		bool sealed;

		put(&model.threads[0], 10);
		plan(3, 5, 1, true);
		number = lc_epoch_now();
		collect(fail_at);
		if (!failed) {
			take();
			continue;
		}
		e = lc_sealed_take();
		sealed = e;
		if (e) {
			assert_int_equal(e->number, number);
			incomplete += !e->complete;
		}
		lc_sealed_free(e);
		unsealed += !sealed;
		/* Whatever was missed, nothing before is believed after it. */
		plan(1, 5, 1, true);
		gc_seen.look = NULL;
		forgotten = gc_seen.forgotten;
		lc_sealed_gc_start();
		lc_sealed_gc_finish(NULL, 0);
		gc_seen.look = look;
		e = lc_sealed_take();
		assert_non_null(e);
		assert_int_equal(e->number, number + 1);
		assert_int_equal(e->forget, !sealed);
		/* The objects that were small then have moved, too. */
		assert_int_equal(gc_seen.forgotten - forgotten, e->forget);
		lc_sealed_free(e);
		model.threads[0].swept = model.threads[0].put;
		model.unswept = lc_epoch_now();
		model.unsealed = false;
		assert_null(lc_sealed_take());
	}
	assert_true(unsealed >= 2);   /* no epoch, no marks */
	assert_true(incomplete >= 1); /* no layout */
}

/* Nobody takes epochs: the thread that does waits for the disk. */
static void the_queue_has_a_bound_and_what_is_dropped_is_forgotten(void **state)
{
	struct lc_limit limits[LC_LIMITS_MAX];
	const unsigned collections = 5000;
	unsigned taken = 0;
	struct lc_epoch *e;
	uint32_t last = 0;

	lc_limits_forget();
	gc_seen.look = NULL;
	for (unsigned i = 0; i < collections; i++) {
		plan(1, 2, 1, true);
		lc_sealed_gc_start();
		lc_sealed_gc_finish(NULL, 0);
	}
	while ((e = lc_sealed_take())) {
		assert_false(e->forget);
		last = e->number;
		taken++;
		lc_sealed_free(e);
	}
	assert_int_equal(taken + counter("gc_epochs_dropped"), collections);
	assert_true(taken >= 1000 && counter("gc_epochs_dropped") > 0);
	assert_int_equal(lc_limits(limits), 1);
	assert_string_equal(limits[0].kind, "epoch_queue");
	/* There is room again: the next one says that what was before it is not known. */
	plan(1, 2, 1, true);
	lc_sealed_gc_start();
	lc_sealed_gc_finish(NULL, 0);
	e = lc_sealed_take();
	assert_non_null(e);
	assert_true(e->forget);
	assert_int_equal(e->number, last + counter("gc_epochs_dropped") + 1);
	lc_sealed_free(e);
	plan(1, 2, 1, true);
	lc_sealed_gc_start();
	lc_sealed_gc_finish(NULL, 0);
	e = lc_sealed_take();
	assert_false(e->forget);
	lc_sealed_free(e);
}

static void records_of_a_pause_that_collects_nothing_are_kept(void **state)
{
	put(&model.threads[0], 700); /* several chunks */
	plan(0, 3, 0, true);
	collect(-1);
	assert_int_equal(gc_seen.swept, 1);
	take(); /* trims what it may */
	put(&model.threads[0], 300);
	plan(0, 3, 1, true);
	collect(-1);
	assert_int_equal(looked, 1000);
	assert_int_equal(gc_seen.swept, 1);
	assert_int_equal(gc_seen.forgotten_new, 0);
}

static void records_of_a_collection_that_leaves_no_trace_are_counted(void **state)
{
	put(&model.threads[0], 700);
	plan(0, 3, 1, false);
	collect(-1);
	assert_int_equal(gc_seen.forgotten_new, 700);
	assert_int_equal(looked, 0);
}

/* Arrays are chosen among the records of the epoch that ends, whose number the pause has. */
static void each_record_can_be_chosen_once_for_a_look_at_its_contents(void **state)
{
	static const struct lc_sealed_config large = { .min_size_bytes = 1024,
		                                       .copies_seen = true };

	for (unsigned i = 0; i < 6; i++) {
		const size_t chosen = gc_seen.contents_chosen;
		const unsigned ended = gc_seen.contents_ended;
		const uint32_t number = lc_epoch_now();

		if (i == 3) /* nothing else reads the records in the pause */
			lc_sealed_open(&large);
		put(&model.threads[0], 700);
		plan(0, 3, 1, i < 3);
		gc_plan.contents = true;
		collect(-1);
		assert_int_equal(gc_seen.contents_chosen - chosen, 700);
		assert_int_equal(gc_seen.contents_ended - ended, 1);
		assert_int_equal(gc_seen.contents.tag, number);
		assert_int_equal(gc_seen.contents.areas_len, 3);
		assert_true(gc_seen.contents.collected);
		assert_false(gc_seen.contents.slid);
		take();
	}
}

/* One VM operation with two collections has slid objects, or may have. */
static void no_array_is_looked_into_where_two_collections_ran(void **state)
{
	const unsigned ended = gc_seen.contents_ended;

	put(&model.threads[0], 10);
	plan(0, 3, 2, true);
	gc_plan.contents = true;
	collect(-1);
	assert_true(gc_seen.contents.slid);
	assert_int_equal(gc_seen.contents_ended, ended);
}

static void records_are_looked_at_in_an_evacuation_that_may_leave_objects(void **state)
{
	struct lc_epoch *e;

	put(&model.threads[0], 700);
	for (unsigned stuck = 0; stuck < 2; stuck++) {
		plan(0, 3, 1, true);
		gc_plan.stuck = stuck;
		lc_sealed_gc_start();
		assert_non_null(gc_seen.told);
		gc_seen.told(); /* the collector reads a clock */
		gc_seen.told();
		lc_sealed_gc_finish(NULL, 0);
		assert_null(gc_seen.told);
		assert_int_equal(gc_seen.stuck_samples, stuck ? 300 : 0); /* once */
		assert_int_equal(gc_seen.stuck_looks, stuck ? 600 : 0);
		e = lc_sealed_take();
		assert_int_equal(e->stuck_known, stuck);
		lc_sealed_free(e);
		put(&model.threads[0], 300);
	}
	gc_plan.stuck = false;
}

static void records_are_looked_at_before_memory_of_the_heap_is_given_back(void **state)
{
	put(&model.threads[0], 300);
	plan(0, 3, 1, true);
	lc_sealed_gc_start();
	assert_non_null(gc_seen.told_map);
	gc_seen.told_map(GC_LOW - 8192, GC_LOW); /* elsewhere */
	gc_seen.told_map(GC_HIGH, GC_HIGH + 8192);
	assert_int_equal(gc_seen.given, 0);
	gc_seen.told_map(GC_LOW, GC_LOW + 4096);
	assert_int_equal(gc_seen.given, 1);
	assert_int_equal(gc_seen.given_looks, 300);
	lc_sealed_gc_finish(NULL, 0);
	assert_null(gc_seen.told_map);
	lc_sealed_free(lc_sealed_take());
}

static void count_records(const struct lc_alloc *records, size_t len, uint16_t tag, uint16_t span)
{
	looked += (uint32_t)len;
}

static void records_of_a_thread_that_ended_are_looked_at_once(void **state)
{
	const struct lc_alloc large = { .size_words = 9, .site = 1 };

	begin_thread();
	for (unsigned i = 0; i < 700; i++)
		assert_int_equal(lc_alloc_log_put(model.threads[1].t->allocs,
		                                  (struct lc_alloc){ .size_words = 8, .site = 1 }),
		                 0);
	assert_int_equal(lc_alloc_log_put(model.threads[1].t->allocs, large), 0);
	gc_seen.look = count_records;
	plan(0, 3, 0, true); /* remark collects nothing */
	collect(-1);
	take();
	lc_threads_lock();
	lc_sealed_adopt(model.threads[1].t->allocs);
	lc_threads_unlock();
	end_thread(1);
	for (uint32_t collections = 0; collections < 3; collections++) {
		plan(0, 3, collections, true);
		lc_sealed_gc_start();
		looked = 0;
		lc_sealed_gc_finish(NULL, 0);
		assert_int_equal(looked, collections == 1 ? 700 : 0);
		lc_sealed_free(lc_sealed_take());
	}
}

static void moves_of_watched_objects_are_added(void **state)
{
	struct lc_move *watched = __real_calloc(2, sizeof(*watched));
	struct lc_epoch *e;

	plan(4, 2, 1, false);
	lc_sealed_gc_start();
	lc_sealed_gc_finish(watched, 2);
	e = lc_sealed_take();
	assert_non_null(e);
	assert_int_equal(lc_moves_count(e->moves), 6);
	assert_int_equal(gc_batch_added(e->moves), 2);
	lc_sealed_free(e);
}

static void a_collection_that_closing_interrupts_seals_nothing_but_ends(void **state)
{
	uint32_t number = lc_epoch_now();
	unsigned wakes_before;

	plan(4, 2, 1, false);
	lc_sealed_gc_start();
	lc_sealed_close();
	lc_sealed_gc_finish(NULL, 0);
	assert_false(lc_epoch_gc_sequence_moving(lc_epoch_gc_sequence()));
	assert_int_equal(lc_epoch_now(), number + 1);
	assert_null(lc_sealed_take());
	lc_sealed_gc_start(); /* closed: a thread that is in a hook must know all the same */
	assert_true(lc_epoch_gc_sequence_moving(lc_epoch_gc_sequence()));
	wakes_before = wakes;
	lc_sealed_gc_finish(NULL, 0);
	assert_false(lc_epoch_gc_sequence_moving(lc_epoch_gc_sequence()));
	assert_int_equal(wakes, wakes_before + 1); /* who stands back waits for it */
	assert_int_equal(lc_epoch_now(), number + 2);
	assert_null(lc_sealed_take());
}

static void collections_are_counted(void **state)
{
	const uint64_t before = lc_sealed_collections(), us_before = counter("gc_callback_us");

	plan(1, 1, 1, false);
	collect(-1);
	collect(-1);
	assert_int_equal(lc_sealed_collections() - before, 2);
	for (unsigned i = 0; i < 10000 && counter("gc_callback_us") == us_before; i++)
		collect(-1);
	assert_true(counter("gc_callback_us") > us_before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(epochs_come_out_in_order_with_all_their_parts,
		                                start, end),
		cmocka_unit_test_setup_teardown(a_collection_without_memory_is_told_by_the_next,
		                                start, end),
		cmocka_unit_test_setup_teardown(
		    the_queue_has_a_bound_and_what_is_dropped_is_forgotten, start, end),
		cmocka_unit_test_setup_teardown(records_of_a_pause_that_collects_nothing_are_kept,
		                                start, end),
		cmocka_unit_test_setup_teardown(
		    records_of_a_collection_that_leaves_no_trace_are_counted, start, end),
		cmocka_unit_test_setup_teardown(
		    each_record_can_be_chosen_once_for_a_look_at_its_contents, start, end),
		cmocka_unit_test_setup_teardown(no_array_is_looked_into_where_two_collections_ran,
		                                start, end),
		cmocka_unit_test_setup_teardown(
		    records_are_looked_at_in_an_evacuation_that_may_leave_objects, start, end),
		cmocka_unit_test_setup_teardown(
		    records_are_looked_at_before_memory_of_the_heap_is_given_back, start, end),
		cmocka_unit_test_setup_teardown(records_of_a_thread_that_ended_are_looked_at_once,
		                                start, end),
		cmocka_unit_test_setup_teardown(moves_of_watched_objects_are_added, start, end),
		cmocka_unit_test_setup_teardown(
		    a_collection_that_closing_interrupts_seals_nothing_but_ends, start, end),
		cmocka_unit_test_setup_teardown(collections_are_counted, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
