/* uses: analyzer/model/path_times.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/plain.c analyzer/base/progress.c -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_path_times.c - checks in which stretches of a recording paths have samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/model/path_times.h"

static struct lc_path_times times;

static void seen(uint64_t second, uint32_t path)
{
	lc_path_times_block(&times, second * UINT64_C(1000000000));
	lc_path_times_seen(&times, path);
}

static uint64_t bits(uint32_t path)
{
	return lc_path_times_of(&times, path);
}

static int forget(void **state)
{
	lc_path_times_free(&times);
	return 0;
}

static void each_second_has_a_bit(void **state)
{
	seen(1000, 3);
	seen(1002, 3);
	seen(1002, 50);
	assert_int_equal(bits(3), 5);
	assert_int_equal(bits(50), 4);
	assert_int_equal(bits(4), 0);
	assert_int_equal(bits(5000), 0);
}

/* Threads and processes come one after the other. */
static void what_is_older_than_the_first_block_is_in_the_first_stretch(void **state)
{
	seen(1000, 1);
	seen(900, 2);
	assert_int_equal(bits(2), 1);
}

static void a_long_recording_has_longer_stretches(void **state)
{
	seen(1000, 1);
	seen(1001, 1);
	seen(1063, 2);
	assert_int_equal(bits(1), 3);
	assert_true(bits(2) == UINT64_C(1) << 63);
	seen(1064, 3); /* of two seconds */
	assert_int_equal(bits(1), 1);
	assert_int_equal(bits(2), UINT64_C(1) << 31);
	assert_int_equal(bits(3), UINT64_C(1) << 32);
	seen(1000 + 64 * 64, 4); /* of 128 seconds */
	assert_int_equal(bits(3), 1);
	assert_int_equal(bits(4), UINT64_C(1) << 32);
}

static void merged_blocks_have_no_time(void **state)
{
	seen(1000, 1);
	lc_path_times_block(&times, 0);
	lc_path_times_seen(&times, 2);
	assert_int_equal(bits(2), 0);
}

static void paths_that_become_one_have_the_time_of_both(void **state)
{
	static const uint32_t paths[] = { 0, 2, 3, 3 };

	seen(1000, 1);
	seen(1001, 2);
	seen(1002, 3);
	lc_path_times_renumber(&times, paths, 4);
	assert_int_equal(bits(1), 0);
	assert_int_equal(bits(2), 1);
	assert_int_equal(bits(3), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(each_second_has_a_bit, forget),
		cmocka_unit_test_teardown(
		    what_is_older_than_the_first_block_is_in_the_first_stretch, forget),
		cmocka_unit_test_teardown(a_long_recording_has_longer_stretches, forget),
		cmocka_unit_test_teardown(merged_blocks_have_no_time, forget),
		cmocka_unit_test_teardown(paths_that_become_one_have_the_time_of_both, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
