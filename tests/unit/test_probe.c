/* uses: src/span/frames/probe.c src/span/frames/stack.c src/base/slab.c -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_probe.c - executes streams whose cycles are known, timed and only counted, and compares what
 * slots and the stream around them have, and what the probe finds a begin and an end to cost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/thread.h"
#include "src/span/frames/stack.h"
#include "src/span/span.h"

enum { INNER = 25, OUTER = 50, COUNTED = 30, LEAF = 2 };

static const struct lc_span_costs costs = { .inner = INNER,
	                                    .anonymous = OUTER,
	                                    .counted = COUNTED };
static const _Atomic uint64_t moved = 1; /* so that each reading of the clock asks here */
static struct lc_span_pauses pauses;
static struct lc_span_thread s;
static uint64_t now;

uint64_t lc_cycles_read_slowly(struct lc_cycle_clock *c, uint64_t *tsc)
{
	*tsc = now;
	return now;
}

static int set_up(void **state)
{
	now = 1000;
	if (lc_span_stack_init(&s, &costs, &pauses))
		return -1;
	s.clock.head = &moved;
	s.clock.check = UINT64_MAX;
	lc_probe_enable(true);
	lc_probe_init(&s);
	return 0;
}

static int tear_down(void **state)
{
	lc_span_stack_destroy(&s);
	return 0;
}

static struct lc_span_slot *slot(uint32_t path)
{
	return lc_span_slot_find(&s,
	                         &(struct lc_span_key){ .kind = LC_SPAN_ANONYMOUS, .path = path });
}

static uint64_t get(const _Atomic uint64_t *counter)
{
	return atomic_load(counter);
}

static struct lc_span_frame *begin(uint32_t path)
{
	struct lc_span_frame *f = lc_span_push(&s, LC_SPAN_ANONYMOUS, slot(path));

	assert_non_null(f);
	f->stack_pointer = 5000;
	lc_span_start(&s, f, now, now);
	return f;
}

static struct lc_span_ended end(void)
{
	struct lc_span_ended e = { 0 };
	struct lc_span_frame *f = lc_span_pop(&s, now, now, &e);

	lc_span_slot_add(f->slot, f, &e);
	if (--s.probe.left == 0)
		lc_probe_turn(&s);
	return e;
}

static bool counted(uint32_t path)
{
	const struct lc_stream_context stream = { .id = 77, .path = path, .level = 1 };

	return s.probe.counting && lc_probe_begin(&s, slot(path), &stream, 4000, 9);
}

/* One execution of a leaf, as stream.c has it: it takes `work`, and what recording it takes. */
static void execute(uint64_t work, uint64_t inner, uint64_t outer, uint64_t count)
{
	if (counted(LEAF)) {
		now += work + count;
		lc_probe_end(&s);
		return;
	}
	begin(LEAF);
	now += work + inner;
	end();
	now += outer;
}

static uint64_t in_histogram(const struct lc_span_slot *x)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < LC_SPAN_BUCKETS; i++)
		sum += atomic_load(&x->counts.histogram[i]);
	return sum;
}

static void what_is_counted_has_the_cycles_of_the_last_one_timed(void **state)
{
	const struct lc_span_counts *leaf = &slot(LEAF)->counts;
	struct lc_span_ended outer;

	lc_probe_force(&s, true);
	begin(1);
	for (unsigned i = 0; i < 4; i++)
		execute(100, INNER, OUTER, COUNTED);
	assert_int_equal(get(&leaf->executions), 4);
	assert_int_equal(in_histogram(slot(LEAF)), 4);
	now += 500;
	lc_probe_force(&s, false);
	assert_int_equal(get(&leaf->cycles), 4 * (100 + INNER));
	assert_int_equal(atomic_load(&leaf->compensated), 4 * 100);
	assert_int_equal(get(&leaf->wall_tsc), 4 * (100 + INNER));
	now += INNER;
	outer = end();
	assert_int_equal(outer.compensated, 500);
	assert_int_equal(get(&slot(1)->counts.nested[0]), 4);
	assert_int_equal(get(&slot(1)->counts.inside), 4 * 100);
	assert_int_equal(get(&slot(1)->counts.inside_streams), 4);
}

/* Line 1 with line 3 with a leaf: the costs of the inner two, and of the leaf in line 3. */
static void another_cost_counts_for_what_is_inside_as_well(void **state)
{
	begin(1);
	begin(3);
	begin(LEAF);
	now += 1000;
	end();
	end();
	lc_probe_apply(&s, INNER + OUTER + 30); /* while line 1 is open */
	end();
	assert_int_equal(get(&slot(1)->counts.inside), 1000 - 2 * s.inner_cost - s.outer_cost[0]);
	lc_probe_apply(&s, INNER + OUTER);
	assert_int_equal(get(&slot(1)->counts.inside), 1000 - 2 * INNER - OUTER);
	assert_int_equal(get(&slot(3)->counts.inside), 1000 - INNER);
}

static void outer_costs_follow_the_speed_of_the_cpu(void **state)
{
	begin(1);
	begin(LEAF);
	now += 100;
	end();
	lc_span_costs_at(&s, 2);
	begin(LEAF);
	now += 100;
	assert_int_equal(end().compensated, 100 - INNER);
	now += 500;
	/* The first leaf ended before the CPU became slow. */
	assert_int_equal(end().compensated, 500 - INNER - OUTER - 2 * OUTER);
	assert_int_equal(s.counted_cost, 2 * COUNTED);
}

static void streams_with_spans_inside_are_timed(void **state)
{
	begin(1);
	now += 100;
	begin(LEAF);
	now += 100;
	end();
	end();
	lc_probe_force(&s, true);
	assert_false(counted(1));
	assert_true(counted(LEAF));
	lc_probe_end(&s);
}

static void streams_not_timed_before_or_long_are_timed(void **state)
{
	lc_probe_force(&s, true);
	assert_false(counted(LEAF));
	begin(LEAF);
	now += LC_PROBE_CYCLES_MAX + 1;
	end();
	assert_false(counted(LEAF));
	begin(LEAF);
	now += LC_PROBE_CYCLES_MAX;
	end();
	assert_true(counted(LEAF));
	lc_probe_end(&s);
}

static void the_first_span_inside_makes_a_frame_of_what_was_counted(void **state)
{
	const struct lc_span_frame *f;
	struct lc_thread t = { .index = 0 };

	atomic_store(&t.spans, &s);
	execute(100, INNER, OUTER, COUNTED);
	lc_probe_force(&s, true);
	assert_true(counted(LEAF));
	assert_int_equal(lc_span_current(&t), slot(LEAF)->number + 1);
	assert_true(lc_span_empty(&s));
	now += 40;
	lc_probe_reveal(&s);
	f = s.top;
	assert_ptr_equal(f->slot, slot(LEAF));
	assert_int_equal(f->number, 77);
	assert_int_equal(f->stream.id, 77);
	assert_int_equal(f->stream.path, LEAF);
	assert_int_equal(f->stream.level, 1);
	assert_int_equal(f->stack_pointer, 4000);
	now += 60;
	assert_int_equal(end().cycles, 60);
	assert_int_equal(get(&slot(LEAF)->counts.executions), 2);
	assert_true(lc_span_empty(&s));
	assert_false(counted(LEAF));
}

static void what_a_begin_and_an_end_cost_here_is_found(void **state)
{
	const struct lc_span_counts *leaf = &slot(LEAF)->counts;
	struct lc_span_ended outer;
	uint64_t n;
	int64_t work;

	begin(1);
	/* Twice of what the calibration says. Counting costs what it says. */
	for (n = 0; n < 400000; n++)
		execute(100, 2 * INNER, 2 * OUTER, COUNTED);
	lc_probe_stop(&s);
	/* A window begins with what follows on the last end of the one before. */
	assert_in_range(s.inner_cost + s.outer_cost[0], 2 * (INNER + OUTER) - 3,
	                2 * (INNER + OUTER));
	assert_int_equal(get(&leaf->executions), n);
	assert_int_equal(in_histogram(slot(LEAF)), n);
	/* Also of those that were counted before that was known. */
	work = atomic_load(&leaf->compensated);
	assert_in_range(work, n * 100, n * 102);
	now += 2 * INNER;
	outer = end();
	assert_in_range(outer.compensated + (int64_t)n, 0, 4 * n);
}

static void rounds_that_scatter_are_not_believed(void **state)
{
	uint64_t random = 1;

	for (unsigned i = 0; i < 400000; i++) {
		if (i % 16 == 0)
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		execute(100 + (random >> 33) % 6000, INNER, 3 * OUTER, COUNTED);
	}
	assert_true(s.probe.rounds_len >= LC_PROBE_ROUNDS_MIN);
	assert_int_equal(s.inner_cost, INNER);
	assert_int_equal(s.outer_cost[0], OUTER);
}

static void a_disturbed_round_is_none(void **state)
{
	for (unsigned i = 0; i < 400000; i++) {
		execute(100, INNER, 2 * OUTER, COUNTED);
		s.clock.switches += s.probe.stage == LC_PROBE_AFTER;
	}
	assert_int_equal(s.probe.rounds_len, 0);
	assert_int_equal(s.outer_cost[0], OUTER);
}

static void nothing_is_left_out_where_threads_may_not_probe(void **state)
{
	lc_probe_enable(false);
	for (unsigned i = 0; i < 100000; i++) {
		execute(100, INNER, 2 * OUTER, COUNTED);
		assert_false(s.probe.counting);
	}
	assert_int_equal(s.outer_cost[0], OUTER);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_counted_has_the_cycles_of_the_last_one_timed),
		TEST(another_cost_counts_for_what_is_inside_as_well),
		TEST(outer_costs_follow_the_speed_of_the_cpu),
		TEST(streams_with_spans_inside_are_timed),
		TEST(streams_not_timed_before_or_long_are_timed),
		TEST(the_first_span_inside_makes_a_frame_of_what_was_counted),
		TEST(rounds_that_scatter_are_not_believed),
		TEST(a_disturbed_round_is_none),
		TEST(nothing_is_left_out_where_threads_may_not_probe),
		/* Last: threads that come later begin with what it finds. */
		TEST(what_a_begin_and_an_end_cost_here_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
