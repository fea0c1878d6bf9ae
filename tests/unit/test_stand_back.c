/* uses: src/core/stand_back.c src/core/epoch.c src/core/wake.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_stand_back.c - the attribution thread waits for the end of a collection. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/time.h"
#include "src/core/stand_back.h"
#include "src/core/wake.h"

#define MS UINT64_C(1000000)

static uint64_t stand_back_ns(void)
{
	const uint64_t begin = lc_time_now_ns();

	lc_stand_back();
	return lc_time_now_ns() - begin;
}

static void test_no_wait_without_a_collection(void **state)
{
	assert_in_range(stand_back_ns(), 0, 50 * MS);
}

static _Atomic bool left;

static void *collector(void *unused)
{
	usleep(20000);
	atomic_store(&left, true);
	lc_epoch_leave_gc();
	lc_wake();
	return NULL;
}

static void test_waits_for_the_end(void **state)
{
	pthread_t thread;
	uint64_t begin;

	lc_epoch_enter_gc();
	assert_int_equal(pthread_create(&thread, NULL, collector, NULL), 0);
	lc_stand_back();
	assert_true(atomic_load(&left));
	assert_int_equal(pthread_join(thread, NULL), 0);
	/* The wake is for whoever waits outside, too. */
	begin = lc_time_now_ns();
	(void)lc_wake_wait(5000 * MS);
	assert_in_range(lc_time_now_ns() - begin, 0, 2500 * MS);
}

static void test_a_long_collection_is_waited_for_once(void **state)
{
	lc_epoch_enter_gc();
	assert_in_range(stand_back_ns(), 200 * MS, 5000 * MS);
	assert_in_range(stand_back_ns(), 0, 150 * MS);
	lc_epoch_leave_gc();
	lc_epoch_enter_gc();
	assert_in_range(stand_back_ns(), 200 * MS, 5000 * MS);
	lc_epoch_leave_gc();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_wait_without_a_collection),
		cmocka_unit_test(test_waits_for_the_end),
		cmocka_unit_test(test_a_long_collection_is_waited_for_once),
	};

	if (lc_wake_init())
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
