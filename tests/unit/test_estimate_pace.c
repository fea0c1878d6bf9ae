/* uses: src/heap/pace.c src/heap/estimate_sums.c src/core/jitter.c -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_estimate_pace.c - checks that the interval follows the allocated bytes, and that estimates
 * stay unbiased while it does.
 *
 * A model of the JVM's sampling stands in for it: each thread has a next sample point, which is
 * drawn with the interval that is set when the thread passes the last one, or starts.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/heap/estimate_sums.h"
#include "src/heap/pace.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)
#define BASE (UINT64_C(512) << 10)
#define LEAST (BASE / 32)

static struct {
	struct lc_pace pace;
	uint64_t jvm_interval; /* the JVM's own idea of it */
	uint64_t now_ns, ticked_ns;
	uint64_t random;
	uint64_t sampled;
} m;

struct model_thread {
	double to_next;    /* bytes */
	uint64_t interval; /* what the estimator believes that it was drawn with; 0: the first */
	uint64_t start_ns;
	uint64_t objects[2]; /* truly allocated */
	struct lc_estimate_sum sum[2];
};

enum { SMALL = 24, LARGE = 800, SMALL_OF_ROUND = 30, ROUND_BYTES = SMALL_OF_ROUND * SMALL + LARGE };
static const uint64_t bytes_of[2] = { SMALL, LARGE };

static double uniform(void)
{
	m.random = m.random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (double)((m.random >> 11) + 1) / 9007199254740993.0;
}

static double draw(void)
{
	return -log(uniform()) * (double)m.jvm_interval;
}

static void change(uint64_t wanted)
{
	if (wanted == lc_pace_interval(&m.pace))
		return;
	m.jvm_interval = wanted;
	lc_pace_change(&m.pace, wanted, wanted, m.now_ns);
}

static void begin(uint64_t random, uint64_t base, uint64_t least)
{
	m.random = random;
	m.now_ns = m.ticked_ns = 5 * S;
	m.sampled = 0;
	m.jvm_interval = LC_PACE_JVM_BYTES;
	lc_pace_begin(&m.pace, base, least, m.now_ns);
	m.jvm_interval = base;
}

static struct model_thread start(void)
{
	return (struct model_thread){ .to_next = draw(), .start_ns = m.now_ns };
}

static void allocate(struct model_thread *t, unsigned kind)
{
	uint64_t drawn_bytes;

	t->objects[kind]++;
	t->to_next -= (double)bytes_of[kind];
	if (t->to_next > 0)
		return;
	t->to_next = draw(); /* before the event, as HotSpot does */
	m.sampled++;
	if (!t->interval)
		t->interval = lc_pace_interval_at(&m.pace, t->start_ns);
	lc_estimate_sum_add(&t->sum[kind], bytes_of[kind],
	                    lc_estimate_chance(bytes_of[kind], t->interval));
	drawn_bytes = t->interval;
	t->interval = lc_pace_interval(&m.pace);
	change(lc_pace_event(&m.pace, drawn_bytes, m.now_ns));
}

/* 30 small objects and a large one. Most rounds reach no sample point: they are one step, which is
 * the time of the test. */
static void allocate_round(struct model_thread *t)
{
	if (t->to_next > ROUND_BYTES) {
		t->to_next -= ROUND_BYTES;
		t->objects[0] += SMALL_OF_ROUND;
		t->objects[1]++;
		return;
	}
	for (unsigned j = 0; j < SMALL_OF_ROUND; j++)
		allocate(t, 0);
	allocate(t, 1);
}

/* So many rounds, `gap_ns` apart. */
static void work(struct model_thread *t, uint64_t rounds, uint64_t gap_ns)
{
	for (uint64_t i = 0; i < rounds; i++) {
		allocate_round(t);
		m.now_ns += gap_ns;
		if (m.now_ns - m.ticked_ns >= 100 * MS) {
			m.ticked_ns = m.now_ns;
			change(lc_pace_tick(&m.pace, m.now_ns));
		}
	}
}

/* Calm, a hundred times as fast, and calm again; a second thread starts in between. */
static void run_of_changing_rate(struct model_thread *a, struct model_thread *b)
{
	*a = start();
	work(a, 30000, 100000);
	*b = start();
	for (unsigned i = 0; i < 20; i++) {
		work(b, 20000, 1000);
		work(a, 20000, 1000);
	}
	work(a, 30000, 100000);
	work(b, 3000, 100000);
}

static void weights_are_unbiased_while_the_rate_changes_a_hundredfold(void **state)
{
	enum { RUNS = 120 };
	double sum[2] = { 0 }, squares[2] = { 0 };
	unsigned outside = 0;

	for (unsigned run = 0; run < RUNS; run++) {
		struct model_thread a, b;

		begin(run * 7919 + 1, BASE / 64, BASE / 64);
		run_of_changing_rate(&a, &b);
		assert_true(m.pace.changes > 4);
		for (unsigned k = 0; k < 2; k++) {
			const double true_objects = (double)(a.objects[k] + b.objects[k]);
			const double error =
			    (a.sum[k].objects + b.sum[k].objects) / true_objects - 1;
			const double half =
			    1.96 * sqrt(a.sum[k].objects_variance + b.sum[k].objects_variance) /
			    true_objects;

			sum[k] += error;
			squares[k] += error * error;
			outside += fabs(error) > half;
		}
	}
	for (unsigned k = 0; k < 2; k++) {
		const double mean = sum[k] / RUNS, deviation = sqrt(squares[k] / RUNS);

		/* The mean of so many runs is as true as that; a biased weight is off by more. */
		assert_true(deviation < 0.25);
		assert_true(fabs(mean) < 3 * deviation / sqrt(RUNS));
	}
	/* Intervals of 95% miss 12 of 240. */
	assert_true(outside < 30);
}

/* Small objects with the long interval, large ones with the short one. */
static void sample_weighs_by_the_interval_that_it_was_drawn_with(void **state)
{
	enum { RUNS = 40, CHANGES = 60, BYTES = 1500000 };
	double sum[2] = { 0 }, squares[2] = { 0 };

	for (unsigned run = 0; run < RUNS; run++) {
		struct model_thread t;

		begin(run * 104729 + 1, 4096, 0);
		t = start();
		for (unsigned i = 0; i < CHANGES; i++) {
			change(i % 2 ? 4096 : 400 * 1024);
			m.pace.base_bytes = m.pace.least_bytes = lc_pace_interval(&m.pace);
			for (uint64_t n = BYTES / bytes_of[i % 2]; n; n--)
				allocate(&t, i % 2);
		}
		for (unsigned k = 0; k < 2; k++) {
			const double error = t.sum[k].objects / (double)t.objects[k] - 1;

			sum[k] += error;
			squares[k] += error * error;
		}
	}
	for (unsigned k = 0; k < 2; k++) {
		assert_true(sqrt(squares[k] / RUNS) < 0.15);
		assert_true(fabs(sum[k] / RUNS) < 3 * sqrt(squares[k] / RUNS / RUNS));
	}
}

static void about_a_hundred_are_sampled_in_a_second(void **state)
{
	struct model_thread t;
	uint64_t before;

	begin(3, UINT64_C(15) << 20, LEAST); /* 1.5 GB in a second */
	t = start();
	before = m.sampled;
	work(&t, 1000000, 1000); /* 1 s */
	assert_in_range(m.sampled - before, 70, 130);
	work(&t, 400000, 100000); /* 15 MB in a second */
	before = m.sampled;
	work(&t, 40000, 100000); /* 4 s */
	assert_in_range(m.sampled - before, 320, 480);
}

/* Each sample lengthens the interval by a five hundredth: it takes many to get far. */
static void burst_after_a_pause_has_samples_to_its_end(void **state)
{
	enum { PARTS = 10 };
	struct model_thread t;
	uint64_t sampled[PARTS];

	begin(4, BASE, LEAST);
	t = start();
	m.now_ns += 60 * S;
	change(lc_pace_tick(&m.pace, m.now_ns));
	assert_int_equal(lc_pace_interval(&m.pace), LEAST);
	for (unsigned i = 0; i < PARTS; i++) { /* 15 MB each, in no time */
		const uint64_t before = m.sampled;

		work(&t, 10000, 0);
		sampled[i] = m.sampled - before;
	}
	assert_in_range(sampled[0], 600, 1000);
	for (unsigned i = 1; i < PARTS; i++) { /* 500 while what was allocated grows e-fold */
		const double mean = 500 * log((i + 1.0) / i);

		assert_in_range(sampled[i], (uint64_t)(mean * 0.5), (uint64_t)(mean * 1.5));
	}
	assert_in_range(lc_pace_interval(&m.pace), LEAST * 12, LEAST * 26);
}

static void interval_comes_back_and_never_falls_below_the_least(void **state)
{
	struct model_thread t;
	uint64_t before;

	begin(4, UINT64_C(15) << 20, LEAST);
	t = start();
	work(&t, 100000, 1000);
	assert_true(lc_pace_interval(&m.pace) > 4 * BASE);
	before = lc_pace_interval(&m.pace);
	m.now_ns += 500 * MS; /* a short pause changes it by a tenth */
	change(lc_pace_tick(&m.pace, m.now_ns));
	assert_in_range(lc_pace_interval(&m.pace), before * 85 / 100, before);
	for (unsigned i = 0; i < 600; i++) {
		m.now_ns += 100 * MS;
		change(lc_pace_tick(&m.pace, m.now_ns));
		assert_true(lc_pace_interval(&m.pace) >= LEAST);
	}
	assert_int_equal(lc_pace_interval(&m.pace), LEAST);
}

static void interval_that_was_asked_for_is_kept(void **state)
{
	struct model_thread t;

	begin(5, 1024, 0);
	t = start();
	work(&t, 100000, 1000);
	assert_int_equal(m.pace.changes, 1);
	assert_int_equal(lc_pace_interval(&m.pace), 1024);
}

static void stretch_lengthens_any_interval_and_is_taken_back(void **state)
{
	for (unsigned adapt = 0; adapt < 2; adapt++) {
		begin(6, BASE, adapt ? LEAST : 0);
		m.pace.stretch = 8;
		change(lc_pace_tick(&m.pace, m.now_ns));
		assert_int_equal(lc_pace_interval(&m.pace), 8 * BASE);
		m.pace.stretch = 1;
		change(lc_pace_tick(&m.pace, m.now_ns));
		assert_int_equal(lc_pace_interval(&m.pace), BASE);
		/* A program that allocates little: the least is stretched, too. */
		m.now_ns += 60 * S;
		change(lc_pace_tick(&m.pace, m.now_ns));
		assert_int_equal(lc_pace_interval(&m.pace), adapt ? LEAST : BASE);
		m.pace.stretch = 2;
		change(lc_pace_tick(&m.pace, m.now_ns));
		assert_int_equal(lc_pace_interval(&m.pace), 2 * (adapt ? LEAST : BASE));
	}
}

static void thread_has_the_interval_of_its_start(void **state)
{
	begin(7, 4096, 0);
	assert_int_equal(lc_pace_interval_at(&m.pace, m.now_ns - 1), LC_PACE_JVM_BYTES);
	lc_pace_change(&m.pace, 8192, 8192, m.now_ns + 10);
	assert_int_equal(lc_pace_interval_at(&m.pace, m.now_ns + 9), 4096);
	assert_int_equal(lc_pace_interval_at(&m.pace, m.now_ns + 10), 8192);
	for (unsigned i = 0; i < LC_PACE_CHANGES; i++)
		lc_pace_change(&m.pace, 10000 + i, 10000 + i, m.now_ns + 20 + i);
	/* A time that is too long ago has the oldest known pace. */
	assert_int_equal(lc_pace_interval_at(&m.pace, m.now_ns + 9), 10000);
}

/* Draws like ThreadHeapSampler: with the logarithm of the middle of one of 1,024 steps an octave.
 */
static uint64_t draw_as_hotspot(uint64_t interval)
{
	int exponent;
	const double part = 2 * frexp(uniform(), &exponent) - 1;
	const double octaves = exponent - 1 + log2(1 + (floor(part * 1024) + 0.5) / 1024);

	return (uint64_t)((octaves < 0 ? -octaves : 0) * log(2) * (double)interval) + 1;
}

/*
 * A loop of one large object and 32 small ones of as many sites. Returns by how much the estimates
 * of the sites are off: the squares of the errors by what the variances let expect, 1 on average.
 */
static double error_of_a_loop(bool jitter)
{
	enum {
		FIRST = 4096,
		EACH = 128,
		SITES = 32,
		ROUND = FIRST + SITES * EACH,
		SAMPLES = 500000
	};
	struct lc_estimate_sum sum[SITES] = { 0 };
	struct lc_jitter j = { 0 };
	double allocated = 0, error = 0;
	uint64_t at = 0; /* in the round, where a point is counted from */

	begin(8, BASE, 0);
	if (jitter)
		lc_jitter_begin(&j, 1);
	for (unsigned i = 0; i < SAMPLES; i++) {
		const uint64_t drawn = m.pace.in_force_bytes, way = draw_as_hotspot(drawn);
		const uint64_t point = (at + way - 1) % ROUND;
		const uint64_t site = (point - FIRST) / EACH; /* of the large object: none */
		const uint64_t end = point < FIRST ? FIRST : FIRST + (site + 1) * EACH;

		allocated += (double)(way - 1 + end - point);
		if (point >= FIRST)
			lc_estimate_sum_add(&sum[site], EACH, lc_estimate_chance(EACH, drawn));
		at = end % ROUND;
		lc_pace_change(&m.pace, BASE, lc_pace_jittered(BASE, &j), m.now_ns);
	}
	assert_int_equal(m.pace.changes, 1);
	for (unsigned k = 0; k < SITES; k++) {
		const double off = sum[k].objects - allocated / ROUND;

		error += off * off / sum[k].objects_variance / SITES;
	}
	return error;
}

static void distances_that_are_rounded_do_not_beat_with_a_loop(void **state)
{
	assert_true(error_of_a_loop(false) > 10);
	assert_in_range((uint64_t)(100 * error_of_a_loop(true)), 40, 200);
}

static void jitter_keeps_the_mean_chance_and_its_bounds(void **state)
{
	enum { DRAWS = 100000 };
	const uint64_t least = BASE * 5 / 6, most = BASE * 5 / 4;
	struct lc_jitter j = { 0 };
	double chance = 0;

	assert_int_equal(lc_pace_jittered(BASE, &j), BASE);
	lc_jitter_begin(&j, 2);
	for (unsigned i = 0; i < DRAWS; i++) {
		const uint64_t bytes = lc_pace_jittered(BASE, &j);

		assert_in_range(bytes, least, most);
		chance += (double)BASE / (double)bytes / DRAWS;
		assert_in_range(lc_pace_jittered(1, &j), 1, 1);
		assert_in_range(lc_pace_jittered(INT32_MAX, &j), INT32_MAX / 6 * 5, INT32_MAX);
	}
	/* The standard deviation of one is 0.115, that of the mean 0.0004. */
	assert_true(fabs(chance - 1) < 0.0015);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_are_unbiased_while_the_rate_changes_a_hundredfold),
		cmocka_unit_test(sample_weighs_by_the_interval_that_it_was_drawn_with),
		cmocka_unit_test(about_a_hundred_are_sampled_in_a_second),
		cmocka_unit_test(burst_after_a_pause_has_samples_to_its_end),
		cmocka_unit_test(interval_comes_back_and_never_falls_below_the_least),
		cmocka_unit_test(interval_that_was_asked_for_is_kept),
		cmocka_unit_test(stretch_lengthens_any_interval_and_is_taken_back),
		cmocka_unit_test(thread_has_the_interval_of_its_start),
		cmocka_unit_test(distances_that_are_rounded_do_not_beat_with_a_loop),
		cmocka_unit_test(jitter_keeps_the_mean_chance_and_its_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
