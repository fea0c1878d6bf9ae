/* uses: src/core/wake.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_wake.c - who wakes the attribution thread, once or often, wakes it once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "src/base/time.h"
#include "src/core/wake.h"

#define MS UINT64_C(1000000)

static const uint64_t long_ns = 20000 * MS, short_ns = 20 * MS;

/* How long a wait for `ns` has taken. */
static uint64_t waited(uint64_t ns)
{
	const uint64_t begin = lc_time_now_ns();

	(void)lc_wake_wait(ns);
	return lc_time_now_ns() - begin;
}

static void test_without_a_wake_it_waits(void **state)
{
	assert_true(waited(short_ns) >= short_ns - MS);
	assert_false(lc_wake_wait(short_ns));
}

static void test_a_wake_before_the_wait_ends_it(void **state)
{
	lc_wake();
	assert_true(waited(long_ns) < long_ns);
	lc_wake();
	assert_true(lc_wake_wait(long_ns));
}

static void test_many_wakes_end_one_wait(void **state)
{
	for (int i = 0; i < 1000; i++)
		lc_wake();
	assert_true(waited(long_ns) < long_ns);
	assert_true(waited(short_ns) >= short_ns - MS);
	lc_wake();
	assert_true(waited(long_ns) < long_ns);
}

enum { ROUNDS = 20000 };

static _Atomic int asked;

static void *ask(void *unused)
{
	for (int i = 1; i <= ROUNDS; i++) {
		asked = i;
		lc_wake();
	}
	return NULL;
}

/* A request before a wake is seen by a look behind the wait that it ends. */
static void test_no_wake_is_lost(void **state)
{
	pthread_t other;

	assert_int_equal(pthread_create(&other, NULL, ask, NULL), 0);
	while (asked < ROUNDS)
		assert_true(waited(long_ns) < long_ns);
	pthread_join(other, NULL);
	(void)waited(short_ns); /* the last wake may have found nobody */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_a_wake_it_waits),
		cmocka_unit_test(test_a_wake_before_the_wait_ends_it),
		cmocka_unit_test(test_many_wakes_end_one_wait),
		cmocka_unit_test(test_no_wake_is_lost),
	};

	return lc_wake_init() ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
