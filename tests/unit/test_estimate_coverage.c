/* uses: src/heap/pace.c src/heap/estimate_sums.c src/core/jitter.c -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_estimate_coverage.c - counts how many 95% intervals of small objects hold the truth.
 *
 * A model of HotSpot's sampler stands in for the JVM. Each thread has a next sample point; HotSpot
 * draws the distance to it with the interval that is in force when the thread passes the last point
 * (ThreadHeapSampler), and a new interval changes no distance that is already drawn. All else is
 * the real code: the choice of the interval, the weights, and the intervals of the reports.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/base/poisson.h"
#include "src/heap/estimate_sums.h"
#include "src/heap/pace.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)
#define BASE (UINT64_C(128) << 10)
#define LEAST (UINT64_C(16) << 10)

enum { LINES = 3, ROUND = 32 + 64 + 128, THREADS = 2, STEPS = 64 };
static const uint64_t bytes_of[LINES] = { 32, 64, 128 };

/* From `begin_ns` on, a thread makes objects of three sizes in turn, until it has made `rounds`. */
struct step {
	uint64_t begin_ns, rounds;
	double ns_a_round;
	unsigned lines; /* at which lines: 0 or 1, three of each */
};

/* The threads' allocations. */
struct program {
	const char *name;
	struct step steps[THREADS][STEPS];
	size_t len[THREADS];
	uint64_t end_ns;
};

struct thread {
	size_t step;
	uint64_t at, to_next; /* bytes of the step; to the next point */
	uint64_t drawn_bytes; /* the interval of that */
	double time_ns;       /* when the point is passed; INFINITY: never */
};

static struct {
	struct lc_pace pace;
	struct lc_jitter jitter;
	struct thread threads[THREADS];
	uint64_t random;
	uint64_t sampled, changes;
	struct lc_estimate_sum sum[2 * LINES];
} m;

static double uniform(void)
{
	m.random = m.random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (double)((m.random >> 11) + 1) / 9007199254740993.0;
}

static void draw(struct thread *t, uint64_t interval)
{
	t->to_next = (uint64_t)(-log(uniform()) * (double)interval) + 1;
	t->drawn_bytes = interval;
}

/* Find when the thread passes its next point. */
static void find_next(const struct program *p, unsigned thread)
{
	struct thread *t = &m.threads[thread];

	t->time_ns = INFINITY;
	for (; t->step < p->len[thread]; t->step++, t->at = 0) {
		const struct step *s = &p->steps[thread][t->step];
		const uint64_t all = s->rounds * ROUND;

		if (t->to_next > all - t->at) {
			t->to_next -= all - t->at;
			continue;
		}
		t->at += t->to_next;
		t->time_ns = (double)s->begin_ns + (double)(t->at - 1) / ROUND * s->ns_a_round;
		return;
	}
}

/* The same as lc_estimate_pace(). */
static void pace(uint64_t drawn_bytes, uint64_t now_ns)
{
	const uint64_t wanted = drawn_bytes ? lc_pace_event(&m.pace, drawn_bytes, now_ns)
	                                    : lc_pace_tick(&m.pace, now_ns);
	const bool another = wanted != lc_pace_interval(&m.pace);

	m.changes += another;
	if (another || drawn_bytes)
		lc_pace_change(&m.pace, wanted, lc_pace_jittered(wanted, &m.jitter), now_ns);
}

static void sample(const struct program *p, unsigned thread)
{
	struct thread *t = &m.threads[thread];
	const uint64_t in_round = (t->at - 1) % ROUND, drawn = t->drawn_bytes;
	const unsigned line = in_round < 32 ? 0 : in_round < 96 ? 1 : 2;
	const uint64_t now_ns = (uint64_t)t->time_ns;

	m.sampled++;
	lc_estimate_sum_add(&m.sum[p->steps[thread][t->step].lines * LINES + line], bytes_of[line],
	                    lc_estimate_chance(bytes_of[line], drawn));
	draw(t, m.pace.in_force_bytes); /* before the event, as HotSpot does */
	pace(drawn, now_ns);
	find_next(p, thread);
}

static void run(const struct program *p, uint64_t random)
{
	uint64_t tick_ns = 100 * MS;

	memset(&m, 0, sizeof(m));
	m.random = random;
	lc_jitter_begin(&m.jitter, random);
	lc_pace_begin(&m.pace, BASE, LEAST, 0);
	for (unsigned i = 0; i < THREADS; i++) {
		draw(&m.threads[i], LC_PACE_JVM_BYTES); /* the threads were there before */
		find_next(p, i);
	}
	for (;;) {
		const unsigned first = m.threads[1].time_ns < m.threads[0].time_ns;

		if (fmin(m.threads[first].time_ns, (double)tick_ns) > (double)p->end_ns)
			return;
		if ((double)tick_ns < m.threads[first].time_ns) {
			pace(0, tick_ns);
			tick_ns += 100 * MS;
		} else {
			sample(p, first);
		}
	}
}

/* The programs */

static void add(struct program *p, unsigned thread, struct step s)
{
	const uint64_t end_ns = s.begin_ns + (uint64_t)((double)s.rounds * s.ns_a_round);

	assert_true(p->len[thread] < STEPS);
	p->steps[thread][p->len[thread]++] = s;
	if (end_ns > p->end_ns)
		p->end_ns = end_ns;
}

/* `rounds` in a tenth of the time that a fast program needs, and a pause, so many times. */
static void add_bursts(struct program *p, unsigned thread, unsigned times, uint64_t rounds,
                       uint64_t pause_ns)
{
	for (unsigned i = 0; i < times; i++)
		add(p, thread,
		    (struct step){ 300 * MS + i * pause_ns, rounds, 200, 0 }); /* 1.1 GB/s */
}

/* So many rounds of objects in so many seconds. */
static void add_steady(struct program *p, unsigned thread, uint64_t rounds, uint64_t seconds)
{
	add(p, thread,
	    (struct step){ 300 * MS, rounds, (double)(seconds * S) / (double)rounds, 1 });
}

/* Returns how many of the program's intervals hold the truth, of 6 a run or 3. */
static unsigned count_right(const struct program *p, unsigned runs, unsigned *of)
{
	unsigned right = 0;
	uint64_t sampled = 0;

	*of = 0;
	for (unsigned i = 0; i < runs; i++) {
		run(p, i * 7919 + 1);
		sampled += m.sampled;
		for (unsigned k = 0; k < 2 * LINES; k++) {
			double truth = 0, low, high;

			for (unsigned t = 0; t < THREADS; t++)
				for (size_t s = 0; s < p->len[t]; s++)
					if (p->steps[t][s].lines == k / LINES)
						truth += (double)p->steps[t][s].rounds;
			if (truth <= 0)
				continue;
			++*of;
			lc_poisson_sum(m.sum[k].objects, m.sum[k].objects_variance, &low, &high);
			right += low <= truth && truth <= high;
		}
	}
	print_message("%s: %u of %u, %.1f%%; %.0f samples a run\n", p->name, right, *of,
	              100.0 * right / *of, (double)sampled / runs);
	return right;
}

/* 92% to 98%: with 1,200 rows the standard error of 95% is 0.6 points. */
static void assert_covers(const struct program *p)
{
	enum { RUNS = 400 };
	unsigned of;
	const unsigned right = count_right(p, RUNS, &of);

	assert_true(of >= 1200);
	assert_in_range(right, of * 92 / 100, of * 98 / 100);
}

static void bursts_with_pauses_between(void **state)
{
	for (uint64_t pause_ms = 200; pause_ms <= 5000; pause_ms *= 5) {
		struct program p = { .name = "bursts" };

		add_bursts(&p, 0, 10, 40000, pause_ms * MS);
		assert_covers(&p);
	}
}

static void steady_programs(void **state)
{
	static const struct {
		uint64_t rounds, seconds;
	} of[] = { { 90000, 20 }, { 400000, 4 }, { 500000, 10 }, { 2000000, 5 }, { 9000000, 4 } };

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct program p = { .name = "steady" };

		add_steady(&p, 0, of[i].rounds, of[i].seconds);
		assert_covers(&p);
	}
}

static void bursts_beside_a_steady_thread(void **state)
{
	struct program p = { .name = "mixed" };

	add_bursts(&p, 0, 10, 40000, 1500 * MS);
	add_steady(&p, 1, 400000, 15);
	assert_covers(&p);
}

/* One thread: what it makes between the bursts is a tenth of a burst. */
static void bursts_and_steady_work_in_turn(void **state)
{
	struct program p = { .name = "in turn" };

	for (unsigned i = 0; i < 8; i++) {
		const uint64_t begin_ns = 300 * MS + i * 3 * S;

		add(&p, 0, (struct step){ begin_ns, 900000, 200, 0 });
		add(&p, 0, (struct step){ begin_ns + S, 90000, 20000, 1 });
	}
	assert_covers(&p);
}

static void bursts_of_many_sizes(void **state)
{
	struct program p = { .name = "many sizes" };

	for (unsigned i = 0; i < 12; i++)
		add(&p, 0,
		    (struct step){ 300 * MS + i * 2 * S, UINT64_C(1000) << (7 * i % 12), 200, 0 });
	assert_covers(&p);
}

/* An interval that is asked for is kept: then all weights are alike. */
static void few_samples_of_one_weight(void **state)
{
	unsigned right = 0;

	for (unsigned i = 0; i < 3000; i++) {
		struct lc_estimate_sum sum = { 0 };
		double low, high;

		m.random = i * 104729 + 1;
		for (double at = -log(uniform()); at < 12; at -= log(uniform()))
			lc_estimate_sum_add(&sum, 64, lc_estimate_chance(64, 64 << 10));
		lc_poisson_sum(sum.objects, sum.objects_variance, &low, &high);
		right += low <= 12 << 10 && 12 << 10 <= high;
	}
	assert_in_range(right, 3000 * 94 / 100, 3000 * 98 / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bursts_with_pauses_between),
		cmocka_unit_test(steady_programs),
		cmocka_unit_test(bursts_beside_a_steady_thread),
		cmocka_unit_test(bursts_and_steady_work_in_turn),
		cmocka_unit_test(bursts_of_many_sizes),
		cmocka_unit_test(few_samples_of_one_weight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
