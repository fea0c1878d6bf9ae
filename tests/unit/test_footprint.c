/* uses: analyzer/objects/analysis/footprint.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/plain.c analyzer/base/progress.c src/format/section.c -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_footprint.c - checks the estimate of a footprint against footprints that are known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/objects/analysis/footprint.h"

static struct lc_tree tree;

/* The same numbers in each run: xorshift64* (G. Marsaglia, S. Vigna). */
static uint64_t below(uint64_t n)
{
	static uint64_t state = 88172645463325252;

	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (state * UINT64_C(2685821657736338717) >> 11) % n;
}

static void draw(uint32_t engine, uint32_t path, uint64_t line)
{
	uint32_t key[LC_CACHED_KEY] = { [LC_CACHED_ENGINE] = engine, [LC_CACHED_PATH] = path };

	lc_tree_wide_put(key + LC_CACHED_LINE, line);
	lc_table_values(&tree.cache_lines, lc_table_put(&tree.cache_lines, key))[0]++;
}

static int setup(void **state)
{
	lc_tree_init(&tree);
	return 0;
}

static int teardown(void **state)
{
	lc_tree_free(&tree);
	return 0;
}

static void a_line_is_one_whatever_path_leads_to_it(void **state)
{
	struct lc_footprint f;

	draw(1, 0, 7);
	draw(1, 0, 7);
	draw(1, 3, 7);
	draw(1, 3, UINT64_C(7) << 32);
	draw(1, 4, 8);
	draw(1, 4, 8);
	draw(0, 0, 9);
	lc_footprint_of(&f, &tree, 1);
	assert_int_equal(f.drawn, 6);
	assert_int_equal(f.lines, 3);
	assert_int_equal(f.once, 1);
	assert_int_equal(f.twice, 1);
	lc_footprint_of(&f, &tree, 2);
	assert_int_equal(f.drawn + f.lines, 0);
	assert_true(f.high == 0);
}

/* At least nine in ten intervals of 200 estimates by 300 to 3000 draws hold the number of lines.
 */
static void intervals_hold_the_lines_that_are_touched_evenly(void **state)
{
	static const uint64_t sizes[] = { 100, 1000, 10000, 100000 };
	unsigned held = 0, all = 0;

	for (unsigned i = 0; i < 200; i++, all++) {
		const uint64_t lines = sizes[i % 4], draws = 300 + below(2700);
		struct lc_footprint f;

		setup(NULL);
		for (uint64_t n = 0; n < draws; n++)
			draw(0, 0, below(lines));
		lc_footprint_of(&f, &tree, 0);
		/* The lines seen are taken for all although about one in twenty is missing. */
		held += f.low <= (double)lines && f.high >= 0.9 * (double)lines;
		assert_true(f.low <= f.estimate && f.estimate <= f.high);
		teardown(NULL);
	}
	assert_true(held >= all / 10 * 9);
}

/* Nine draws in ten are of three lines, as of a loop's own fields: the others are seen all the
 * same. */
static void a_few_hot_lines_do_not_hide_the_others(void **state)
{
	struct lc_footprint f;

	for (unsigned n = 0; n < 3000; n++)
		draw(0, 0, below(10) ? below(3) : 3 + below(2000));
	lc_footprint_of(&f, &tree, 0);
	assert_true(f.low < 2003 && f.high > 2003);
	assert_true(f.estimate > 1000 && f.estimate < 4000);
}

static void lines_that_are_hardly_ever_touched_do_not_count(void **state)
{
	struct lc_footprint f;

	for (unsigned n = 0; n < 1000; n++)
		draw(0, 0, n < 960 ? n % 3 : 1000 + n);
	lc_footprint_of(&f, &tree, 0);
	assert_true(f.low == 43 && f.estimate == 43 && f.high == 43);
}

static void without_a_line_drawn_twice_there_is_no_upper_end(void **state)
{
	struct lc_footprint f = { .drawn = 400, .lines = 400, .once = 400 };

	lc_footprint_estimate(&f);
	assert_true(isinf(f.high));
	/* With 21,000 lines there are 3.8 pairs among 400 draws, and none in one case of 45. */
	assert_in_range((uint64_t)f.low, 20000, 23000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_line_is_one_whatever_path_leads_to_it, setup,
		                                teardown),
		cmocka_unit_test(intervals_hold_the_lines_that_are_touched_evenly),
		cmocka_unit_test_setup_teardown(a_few_hot_lines_do_not_hide_the_others, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(lines_that_are_hardly_ever_touched_do_not_count,
		                                setup, teardown),
		cmocka_unit_test(without_a_line_drawn_twice_there_is_no_upper_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
