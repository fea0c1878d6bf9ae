/* uses: src/core/own_cost.c -lpthread -Wl,--wrap=clock_gettime */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_own_cost.c - checks the sums of the agent's CPU time, with a clock that the test sets. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "src/core/own_cost.h"

static uint64_t now_ns, reads;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	reads++;
	*out = (struct timespec){ (time_t)(now_ns / 1000000000), (long)(now_ns % 1000000000) };
	return 0;
}

/* An event that takes `ns`. Returns what counts for it. */
static uint64_t event(uint64_t ns)
{
	const uint64_t begin = lc_own_cost_begin_often();

	now_ns += ns;
	return lc_own_cost_end_often(LC_OWN_EVENTS, begin);
}

static int at_one(void **state)
{
	now_ns = 1;
	reads = 0;
	lc_own_cost_set(LC_OWN_EVENTS, 0);
	lc_own_cost_set(LC_OWN_PAUSES, 0);
	return 0;
}

static void one_in_so_many_is_timed_and_counts_for_all(void **state)
{
	uint64_t counted = 0;

	for (unsigned i = 0; i < 10 * LC_OWN_OFTEN; i++)
		counted += event(1000);
	assert_int_equal(lc_own_cost_of(LC_OWN_EVENTS), UINT64_C(10000) * LC_OWN_OFTEN);
	assert_int_equal(counted, UINT64_C(10000) * LC_OWN_OFTEN);
	assert_int_equal(reads, 2 * 10);
}

static void *a_single_event(void *unused)
{
	event(1000);
	return NULL;
}

/* One event on each of many threads: each turn is that of as many threads. */
static void threads_with_one_event_count_like_others(void **state)
{
	for (unsigned i = 0; i < 10 * LC_OWN_OFTEN; i++) {
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, a_single_event, NULL), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
	}
	assert_int_equal(lc_own_cost_of(LC_OWN_EVENTS), UINT64_C(10000) * LC_OWN_OFTEN);
}

static void nested_pairs_count_once(void **state)
{
	for (unsigned i = 0; i < 2 * LC_OWN_OFTEN; i++) {
		const uint64_t begin = lc_own_cost_begin();

		now_ns += 5;
		assert_int_equal(event(1000), 0);
		assert_int_equal(lc_own_cost_end(LC_OWN_PAUSES, begin), 1005);
	}
	for (unsigned i = 0; i < 2 * LC_OWN_OFTEN; i++) {
		const uint64_t outer = lc_own_cost_begin_often();

		assert_int_equal(event(1000), 0);
		assert_int_equal(lc_own_cost_end(LC_OWN_PAUSES, lc_own_cost_begin()), 0);
		lc_own_cost_end_often(LC_OWN_EVENTS, outer);
	}
	assert_int_equal(lc_own_cost_of(LC_OWN_PAUSES), 2 * LC_OWN_OFTEN * 1005);
	assert_int_equal(lc_own_cost_of(LC_OWN_EVENTS), 2 * LC_OWN_OFTEN * 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(one_in_so_many_is_timed_and_counts_for_all, at_one),
		cmocka_unit_test_setup(threads_with_one_event_count_like_others, at_one),
		cmocka_unit_test_setup(nested_pairs_count_once, at_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
