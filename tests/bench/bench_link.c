/* uses: src/span/tasks/link.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_link.c - measures what the links of tasks cost: ns for each of creation, submission and
 * execution, with few objects in flight, with many, and with two threads at it. CPU time; each line
 * is the best of several runs, since other work on the machine only adds.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "src/format/kinds.h"
#include "src/span/tasks/link.h"

enum { TASKS = 1 << 20, REPEATS = 5, FEW = 64, MANY = 100000 };

static uint32_t hashes[TASKS];

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static struct lc_link_key key(uint32_t i)
{
	return (struct lc_link_key){ .hash = hashes[i % TASKS], .class = 1 };
}

struct times {
	double created, submitted, executed;
};

/* Rounds of `flight` tasks each: all are created, submitted, and executed in this order. */
static struct times run(uint32_t flight, uint32_t seed)
{
	struct times t = { 0 };
	struct lc_link_task out;

	for (uint32_t from = 0; from + flight <= TASKS; from += flight) {
		double start = now_ns(), created, submitted;

		for (uint32_t i = from; i < from + flight; i++)
			lc_link_created(key(i + seed), &(struct lc_link_creation){
			                                   .site = 1, .creator = 1, .object = i });
		created = now_ns();
		for (uint32_t i = from; i < from + flight; i++)
			lc_link_submitted(key(i + seed), LC_SUBMIT_EXECUTE, 2, i + 1);
		submitted = now_ns();
		for (uint32_t i = from; i < from + flight; i++)
			lc_link_executed(key(i + seed), &out);
		t.executed += now_ns() - submitted;
		t.submitted += submitted - created;
		t.created += created - start;
	}
	return t;
}

static double least(double a, double b)
{
	return !a || b < a ? b : a;
}

static void report(const char *what, uint32_t flight)
{
	struct times best = { 0 };
	double n = (double)(TASKS / flight * flight);

	for (unsigned i = 0; i < REPEATS; i++) {
		struct times t = run(flight, 0);

		best.created = least(best.created, t.created);
		best.submitted = least(best.submitted, t.submitted);
		best.executed = least(best.executed, t.executed);
	}
	printf("  link, %-36s created %6.2f  submitted %6.2f  executed %6.2f ns\n", what,
	       best.created / n, best.submitted / n, best.executed / n);
}

static void *other(void *argument)
{
	for (unsigned i = 0; i < REPEATS; i++)
		run(FEW, TASKS / 2);
	return NULL;
}

int main(void)
{
	uint64_t state = 1;
	pthread_t thread;

	if (lc_link_init()) {
		fprintf(stderr, "bench_link: no memory\n");
		return 1;
	}
	for (uint32_t i = 0; i < TASKS; i++) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
		hashes[i] = (uint32_t)(state >> 33) | 1;
	}
	report("64 in flight", FEW);
	report("100,000 in flight", MANY);
	if (pthread_create(&thread, NULL, other, NULL)) {
		fprintf(stderr, "bench_link: no thread\n");
		return 1;
	}
	report("64 in flight, of two threads each", FEW);
	pthread_join(thread, NULL);
	lc_link_free();
	return 0;
}
