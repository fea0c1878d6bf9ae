/* uses: src/core/jitter.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_jitter.c - checks that random distances have their mean, their bounds, and no pattern. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/core/jitter.h"

enum { DRAWS = 1000000, PARTS = 16, MEAN = 5000000, SPREAD = 2500000 };

static void a_seed_gives_the_same_numbers_each_time(void **state)
{
	struct lc_jitter a, b;

	lc_jitter_begin(&a, 7);
	lc_jitter_begin(&b, 7);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(lc_jitter_below(&a, UINT64_MAX), lc_jitter_below(&b, UINT64_MAX));
}

static void other_seeds_give_other_numbers(void **state)
{
	uint64_t first[64];

	for (uint64_t seed = 0; seed < 64; seed++) {
		struct lc_jitter j;

		lc_jitter_begin(&j, seed);
		first[seed] = lc_jitter_below(&j, UINT64_MAX);
		for (uint64_t i = 0; i < seed; i++)
			assert_true(first[i] != first[seed]);
	}
}

static void threads_have_seeds_of_their_own(void **state)
{
	for (int32_t tid = 1; tid < 1000; tid++)
		assert_true(lc_jitter_seed(tid) != lc_jitter_seed(tid + 1));
}

static void distances_keep_their_mean_and_bounds(void **state)
{
	struct lc_jitter j;
	uint64_t sum = 0, low = UINT64_MAX, high = 0;

	lc_jitter_begin(&j, 1);
	for (int i = 0; i < DRAWS; i++) {
		const uint64_t x = lc_jitter_around(&j, MEAN, SPREAD);

		assert_in_range(x, MEAN - SPREAD, MEAN + SPREAD);
		sum += x;
		low = x < low ? x : low;
		high = x > high ? x : high;
	}
	/* The mean of a million has a standard error of 0.03%. */
	assert_in_range(sum / DRAWS, MEAN - MEAN / 1000, MEAN + MEAN / 1000);
	assert_in_range(low, MEAN - SPREAD, MEAN - SPREAD + SPREAD / 1000);
	assert_in_range(high, MEAN + SPREAD - SPREAD / 1000, MEAN + SPREAD);
}

static void every_part_is_as_likely_also_after_every_part(void **state)
{
	unsigned pairs[PARTS][PARTS] = { { 0 } };
	struct lc_jitter j;
	uint64_t last = 0;

	lc_jitter_begin(&j, 3);
	for (int i = 0; i < DRAWS; i++) {
		const uint64_t part = lc_jitter_below(&j, PARTS);

		pairs[last][part]++;
		last = part;
	}
	/* 3906 of each pair; the bounds are 5 standard errors away. */
	for (int a = 0; a < PARTS; a++)
		for (int b = 0; b < PARTS; b++)
			assert_in_range(pairs[a][b], 3594, 4219);
}

static void without_a_beginning_nothing_is_random(void **state)
{
	struct lc_jitter j = { .state = 0 };

	for (int i = 0; i < 10; i++) {
		assert_int_equal(lc_jitter_below(&j, 100), 0);
		assert_int_equal(lc_jitter_around(&j, MEAN, SPREAD), MEAN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_seed_gives_the_same_numbers_each_time),
		cmocka_unit_test(other_seeds_give_other_numbers),
		cmocka_unit_test(threads_have_seeds_of_their_own),
		cmocka_unit_test(distances_keep_their_mean_and_bounds),
		cmocka_unit_test(every_part_is_as_likely_also_after_every_part),
		cmocka_unit_test(without_a_beginning_nothing_is_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
