/* uses: src/sample/timer_account.c src/core/jitter.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_timer_account.c - checks that samples agree with the CPU time of threads, whatever those
 * threads' lives and the kernel's ticks have to do with each other.
 *
 * A model of one CPU stands in for the kernel: its ticks come at multiples of the tick, and find
 * the thread that runs then.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/sample/timer_account.h"

#define US UINT64_C(1000)
#define MS (1000 * US)
#define S (1000 * MS)

enum { BEGIN_NS = 90000 /* of CPU time, before the thread is sampled */, PARTS = 10 };

static struct {
	uint64_t wall_ns;
	uint64_t tick_ns;
	uint64_t random;
	uint32_t kind;      /* of the threads that start now */
	uint64_t period_ns; /* of the program; 0: none that is looked at */
	uint64_t at[PARTS]; /* samples in each part of the period */
} model;

struct worker {
	struct lc_timer_account account;
	uint64_t cpu_ns;
	uint64_t samples;
	int64_t switches;
};

static uint64_t random_below(uint64_t limit)
{
	model.random = model.random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (model.random >> 33) % limit;
}

static int setup(void **state)
{
	lc_timer_account_init();
	model.tick_ns = lc_timer_account_tick_ns();
	model.random = 12345;
	model.period_ns = 0;
	model.kind++; /* what the threads of other tests have left is not for these */
	return 0;
}

static struct worker begin(uint64_t interval_ns)
{
	return (struct worker){
		.account = { .begin_ns = BEGIN_NS,
		             .interval_ns = interval_ns,
		             .credit_ns = random_below(interval_ns),
		             .kind = model.kind },
		.cpu_ns = BEGIN_NS,
	};
}

/* The same with points between ticks. */
static struct worker begin_with_points(uint64_t interval_ns)
{
	struct worker w = begin(interval_ns);

	lc_jitter_begin(&w.account.jitter, model.random);
	return w;
}

/* Samples are taken at this moment of the model. */
static void sampled(struct worker *w, uint32_t samples)
{
	w->samples += samples;
	if (model.period_ns)
		model.at[model.wall_ns % model.period_ns * PARTS / model.period_ns] += samples;
}

static void run(struct worker *w, uint64_t ns)
{
	const uint64_t end_ns = model.wall_ns + ns;
	uint64_t to_tick, to_point, step;
	bool tick = true;

	for (;;) {
		to_tick = model.tick_ns - model.wall_ns % model.tick_ns;
		to_point = lc_timer_account_to_point(&w->account, w->cpu_ns, tick);
		step = to_point && to_point < to_tick ? to_point : to_tick;
		if (model.wall_ns + step > end_ns)
			break;
		model.wall_ns += step;
		w->cpu_ns += step;
		tick = step == to_tick;
		if (tick)
			sampled(w, lc_timer_account_tick_at(&w->account, w->cpu_ns, w->switches));
		else
			sampled(w, lc_timer_account_points(&w->account, w->cpu_ns));
	}
	w->cpu_ns += end_ns - model.wall_ns;
	model.wall_ns = end_ns;
}

static void rest(struct worker *w, uint64_t ns)
{
	model.wall_ns += ns;
	w->switches++;
}

/* Sampled over used CPU time, in thousandths. */
static uint64_t thousandths(uint64_t samples, uint64_t interval_ns, uint64_t used_ns)
{
	return used_ns ? (samples * interval_ns * 1000 + used_ns / 2) / used_ns : 0;
}

static void end(struct worker *w, uint64_t *samples, uint64_t *used_ns)
{
	const uint64_t cpu_ns = w->cpu_ns - BEGIN_NS;

	assert_int_equal(lc_timer_account_end_at(&w->account, w->cpu_ns), cpu_ns);
	*samples += w->samples;
	*used_ns += cpu_ns;
}

static const uint64_t intervals[] = { 1 * MS, 5 * MS, 20 * MS };

static const uint64_t lives[] = { 50 * US, 200 * US, 700 * US, 2 * MS, 4 * MS, 11 * MS, 100 * MS };

/* Samples over CPU time, in thousandths, of threads that live for about `life_ns`. */
static uint64_t sampled_of_lives(struct worker (*begin_one)(uint64_t interval_ns), uint64_t life_ns,
                                 uint64_t interval_ns, uint64_t cpu_ns)
{
	uint64_t samples = 0, used_ns = 0;

	model.kind++;
	while (used_ns < cpu_ns) {
		struct worker w = begin_one(interval_ns);

		model.wall_ns += random_below(3 * MS);
		run(&w, life_ns / 2 + random_below(life_ns));
		end(&w, &samples, &used_ns);
	}
	return thousandths(samples, interval_ns, used_ns);
}

static void threads_of_any_life_have_samples_for_their_cpu_time(void **state)
{
	for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++)
		for (size_t k = 0; k < sizeof(intervals) / sizeof(intervals[0]); k++)
			assert_in_range(sampled_of_lives(begin, lives[i], intervals[k], 60 * S),
			                985, 1015);
}

/* The bounds are 5 standard errors of samples that are drawn independently. */
static void threads_of_any_life_have_as_many_with_points(void **state)
{
	static const uint64_t error[] = { 10, 23, 46 }; /* for each interval */

	for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++)
		for (size_t k = 0; k < sizeof(intervals) / sizeof(intervals[0]); k++)
			assert_in_range(
			    sampled_of_lives(begin_with_points, lives[i], intervals[k], 240 * S),
			    1000 - error[k], 1000 + error[k]);
}

static void a_tick_stands_for_a_tick_however_short_the_thread_lives(void **state)
{
	struct worker w = begin(1 * MS);

	model.wall_ns = 10 * model.tick_ns - 30 * US;
	run(&w, 50 * US);
	assert_int_equal(w.account.paid_ns, model.tick_ns);
	assert_in_range(w.samples, model.tick_ns / MS, model.tick_ns / MS + 1);
}

/* A scheduler that hands over the CPU at its tick starts threads just behind ticks. */
static void threads_that_start_behind_a_tick_have_samples_for_their_cpu_time(void **state)
{
	uint64_t samples = 0, used_ns = 0;

	while (used_ns < 60 * S) {
		struct worker w = begin(5 * MS);

		model.wall_ns += random_below(3 * MS);
		if (random_below(3))
			model.wall_ns += model.tick_ns - model.wall_ns % model.tick_ns + 10 * US;
		run(&w, 700 * US);
		end(&w, &samples, &used_ns);
	}
	assert_in_range(thousandths(samples, 5 * MS, used_ns), 985, 1015);
}

static void threads_that_wait_often_have_samples_for_their_cpu_time(void **state)
{
	for (int bursts = 2; bursts <= 2000; bursts *= 10) {
		uint64_t samples = 0, used_ns = 0;

		model.kind++;
		while (used_ns < 60 * S) {
			struct worker w = begin(5 * MS);

			for (int i = 0; i < bursts; i++) {
				run(&w, 100 * US + random_below(200 * US));
				rest(&w, random_below(2 * MS));
			}
			end(&w, &samples, &used_ns);
		}
		assert_in_range(thousandths(samples, 5 * MS, used_ns), 985, 1015);
	}
}

static void a_long_thread_has_its_cpu_time_to_a_few_ticks(void **state)
{
	for (int shared = 0; shared < 2; shared++) {
		struct worker w = begin(5 * MS);
		uint64_t samples = 0, used_ns = 0;

		while (w.cpu_ns < 100 * S) {
			run(&w, 1 * MS + random_below(9 * MS));
			if (shared)
				rest(&w, random_below(9 * MS));
		}
		end(&w, &samples, &used_ns);
		assert_in_range(samples * 5 * MS, used_ns - 16 * model.tick_ns,
		                used_ns + 16 * model.tick_ns);
	}
}

/* A long system call: its ticks come as one signal when it returns. */
static void ticks_that_come_as_one_are_counted_where_they_come(void **state)
{
	struct worker w = begin(5 * MS);
	uint64_t before;

	run(&w, 1 * S);
	before = w.samples;
	w.cpu_ns += 200 * MS;
	model.wall_ns += 200 * MS;
	run(&w, model.tick_ns);
	assert_in_range(w.samples - before, 40, 42);
}

static void a_kind_of_thread_does_not_pay_for_another(void **state)
{
	struct worker w = begin(5 * MS);
	uint64_t samples = 0, used_ns = 0;

	for (int i = 0; i < 1000; i++) { /* 2 s of CPU time that no tick sees */
		struct worker unseen = begin(5 * MS);

		model.wall_ns += model.tick_ns - model.wall_ns % model.tick_ns;
		run(&unseen, 2 * MS);
		end(&unseen, &samples, &used_ns);
	}
	assert_int_equal(samples, 0);
	model.kind++;
	w.account.kind = model.kind;
	run(&w, 40 * MS);
	assert_in_range(w.samples, 7, 9);
	model.kind--;
	w = begin(5 * MS);
	run(&w, 40 * MS);
	assert_true(w.samples > 40);
}

static void kinds_are_names_without_digits(void **state)
{
	struct lc_timer_account a, b, c;

	lc_timer_account_begin(&a, 0, "pool-1-thread-9", 5 * MS, false);
	lc_timer_account_begin(&b, 0, "pool-12-thread-10", 5 * MS, false);
	lc_timer_account_begin(&c, 0, "main", 5 * MS, false);
	assert_int_equal(a.kind, b.kind);
	assert_true(a.kind != c.kind);
	assert_true(a.credit_ns < 5 * MS);
}

static void a_tick_of_another_length_is_found_out(void **state)
{
	struct worker w = begin(5 * MS);

	model.tick_ns = 10 * MS;
	run(&w, 30 * S);
	assert_in_range(lc_timer_account_tick_ns(), 9900 * US, 10100 * US);
	lc_timer_account_init();
	assert_true(lc_timer_account_tick_ns() <= 10 * MS);
}

static void stretched_intervals_count_for_as_many_and_come_back(void **state)
{
	uint64_t samples = 0, moments = 0;

	for (unsigned round = 0; round < 200; round++) {
		struct worker w = begin(5 * MS);

		for (unsigned part = 0; part < 4; part++) {
			uint64_t before;

			lc_timer_account_stretch(part % 2 ? 8 : 1);
			before = w.samples;
			for (unsigned i = 0; i < 60; i++) {
				const uint64_t last = w.samples;

				run(&w, 4 * MS);
				moments += part % 2 && w.samples != last;
				assert_true(part % 2 == 0 || (w.samples - last) % 8 == 0);
			}
			samples += w.samples - before;
		}
		lc_timer_account_end_at(&w.account, w.cpu_ns);
	}
	lc_timer_account_stretch(1);
	/* 200 times 960 ms, a sample for each 5; half of that time in samples that count for eight.
	 */
	assert_in_range(samples, 38400 * 97 / 100, 38400 * 103 / 100);
	assert_in_range(moments, 2400 * 90 / 100, 2400 * 110 / 100);
}

/* A thread that never waits runs for `ns`; where in a period it is sampled is noted. */
static uint64_t in_step(struct worker *w, uint64_t period_ns, uint64_t ns)
{
	const uint64_t before = w->samples;

	memset(model.at, 0, sizeof(model.at));
	model.wall_ns = 0;
	model.period_ns = period_ns;
	run(w, ns);
	return w->samples - before;
}

static void ticks_find_a_program_in_step_always_in_one_place(void **state)
{
	struct worker w = begin(5 * MS);
	uint64_t most = 0;
	const uint64_t samples = in_step(&w, model.tick_ns, 60 * S);

	for (int i = 0; i < PARTS; i++)
		most = model.at[i] > most ? model.at[i] : most;
	assert_int_equal(most, samples);
}

static void points_find_a_program_in_step_everywhere(void **state)
{
	const uint64_t periods[] = { model.tick_ns / 4, model.tick_ns,     5 * MS,
		                     10 * MS,           5 * model.tick_ns, 100 * MS };

	for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		for (size_t k = 0; k < sizeof(intervals) / sizeof(intervals[0]); k++) {
			struct worker w = begin_with_points(intervals[k]);
			uint64_t samples;

			run(&w, 1 * S); /* its first ticks sample by themselves */
			samples = in_step(&w, periods[i], 1600 * S);
			for (int part = 0; part < PARTS; part++)
				assert_in_range(thousandths(model.at[part], PARTS, samples), 950,
				                1080);
		}
	}
}

static void points_have_samples_for_cpu_time_also_where_it_is_shared(void **state)
{
	for (size_t k = 0; k < sizeof(intervals) / sizeof(intervals[0]); k++) {
		struct worker w = begin_with_points(intervals[k]);
		uint64_t samples = 0, used_ns = 0;

		while (w.cpu_ns < 100 * S) {
			run(&w, 1 * MS + random_below(9 * MS));
			rest(&w, random_below(9 * MS));
		}
		end(&w, &samples, &used_ns);
		assert_in_range(thousandths(samples, intervals[k], used_ns), 985, 1015);
	}
}

/* A thread that had met few ticks when it had used much has its samples all the same. */
static void what_ticks_had_not_paid_is_paid_by_points(void **state)
{
	struct worker w = begin_with_points(5 * MS);

	for (int i = 0; i < 40; i++) { /* two thirds of its time end before the next tick */
		run(&w, model.tick_ns);
		rest(&w, model.tick_ns / 2);
		run(&w, model.tick_ns / 2 - 1);
		rest(&w, 1);
	}
	run(&w, 2 * S);
	assert_in_range(w.samples * 5 * MS, w.cpu_ns - 100 * MS, w.cpu_ns + 100 * MS);
}

/* It has run between ticks only, for four of them: two points at least have passed. */
static void a_thread_that_waits_often_has_a_sample_for_each_point(void **state)
{
	struct worker w = begin_with_points(5 * MS);
	uint64_t before;

	run(&w, 1 * S);
	before = w.samples;
	w.cpu_ns += 4 * 4 * MS;
	assert_int_equal(lc_timer_account_tick_at(&w.account, w.cpu_ns, 0), 1);
	run(&w, 1 * S);
	assert_in_range(w.samples - before, 200, 204); /* of 1016 ms, one of them above */
}

static void points_that_pass_unseen_count_where_the_thread_comes_back(void **state)
{
	struct worker w = begin_with_points(5 * MS);
	uint64_t before;

	run(&w, 1 * S);
	before = w.samples;
	w.cpu_ns += 2 * S;
	assert_in_range(lc_timer_account_points(&w.account, w.cpu_ns), 380, 420);
	assert_int_equal(w.samples, before);
	assert_true(w.account.point_ns > w.cpu_ns);
}

static void a_thread_that_meets_no_tick_has_a_sample_for_each_point(void **state)
{
	for (size_t i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
		struct worker w = begin_with_points(intervals[i]);
		const uint32_t weight = intervals[i] < model.tick_ns ? 4 : 1;
		uint64_t to_point;

		do
			run(&w, model.tick_ns);
		while (!lc_timer_account_to_point(&w.account, w.cpu_ns, true));
		for (unsigned n = 0; n < 1000; n++) {
			to_point = lc_timer_account_to_point(&w.account, w.cpu_ns, false);
			assert_true(to_point > 0);
			w.cpu_ns += to_point;
			w.switches += 3; /* it runs for a moment at a time */
			assert_int_equal(lc_timer_account_points(&w.account, w.cpu_ns), weight);
		}
	}
}

static void stretched_points_count_for_as_many_and_come_back(void **state)
{
	struct worker w = begin_with_points(5 * MS);

	run(&w, 1 * S);
	for (unsigned part = 0; part < 100; part++) {
		const uint64_t before = w.samples;

		lc_timer_account_stretch(part % 2 ? 8 : 1);
		run(&w, model.tick_ns); /* the change is seen at a tick */
		for (unsigned i = 0; part % 2 && i < 100; i++) {
			const uint64_t last = w.samples;

			run(&w, 5 * MS);
			assert_int_equal((w.samples - last) % 8, 0);
		}
		if (part % 2 == 0)
			run(&w, 500 * MS);
		assert_true(w.samples > before);
	}
	lc_timer_account_stretch(1);
	assert_in_range(thousandths(w.samples, 5 * MS, w.cpu_ns - BEGIN_NS), 970, 1030);
}

static void an_interval_below_the_tick_brings_no_more_signals_than_ticks(void **state)
{
	struct worker w = begin_with_points(model.tick_ns / 4);
	uint64_t moments = 0;

	run(&w, 1 * S);
	for (unsigned i = 0; i < 100000; i++) {
		const uint64_t last = w.samples;

		run(&w, 100 * US);
		assert_int_equal((w.samples - last) % 4, 0);
		moments += w.samples != last;
	}
	assert_in_range(moments, 10 * S / model.tick_ns * 97 / 100,
	                10 * S / model.tick_ns * 103 / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(threads_of_any_life_have_samples_for_their_cpu_time, setup),
		cmocka_unit_test_setup(a_tick_stands_for_a_tick_however_short_the_thread_lives,
		                       setup),
		cmocka_unit_test_setup(
		    threads_that_start_behind_a_tick_have_samples_for_their_cpu_time, setup),
		cmocka_unit_test_setup(threads_that_wait_often_have_samples_for_their_cpu_time,
		                       setup),
		cmocka_unit_test_setup(a_long_thread_has_its_cpu_time_to_a_few_ticks, setup),
		cmocka_unit_test_setup(ticks_that_come_as_one_are_counted_where_they_come, setup),
		cmocka_unit_test_setup(a_kind_of_thread_does_not_pay_for_another, setup),
		cmocka_unit_test_setup(kinds_are_names_without_digits, setup),
		cmocka_unit_test_setup(a_tick_of_another_length_is_found_out, setup),
		cmocka_unit_test_setup(stretched_intervals_count_for_as_many_and_come_back, setup),
		cmocka_unit_test_setup(threads_of_any_life_have_as_many_with_points, setup),
		cmocka_unit_test_setup(ticks_find_a_program_in_step_always_in_one_place, setup),
		cmocka_unit_test_setup(points_find_a_program_in_step_everywhere, setup),
		cmocka_unit_test_setup(points_have_samples_for_cpu_time_also_where_it_is_shared,
		                       setup),
		cmocka_unit_test_setup(what_ticks_had_not_paid_is_paid_by_points, setup),
		cmocka_unit_test_setup(a_thread_that_waits_often_has_a_sample_for_each_point,
		                       setup),
		cmocka_unit_test_setup(points_that_pass_unseen_count_where_the_thread_comes_back,
		                       setup),
		cmocka_unit_test_setup(a_thread_that_meets_no_tick_has_a_sample_for_each_point,
		                       setup),
		cmocka_unit_test_setup(stretched_points_count_for_as_many_and_come_back, setup),
		cmocka_unit_test_setup(an_interval_below_the_tick_brings_no_more_signals_than_ticks,
		                       setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
