/* uses: src/attribute/cache_lines.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_cache_lines.c - checks how many samples are drawn of a long recording, and which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/attribute/cache_lines.h"
#include "src/core/thread.h"
#include "src/profile/tally.h"

static uint64_t drawn[4]; /* by the line's last two bits */
static struct lc_block_cache_line last;

int lc_tally_cache_line(struct lc_tally *t, const struct lc_block_cache_line *row)
{
	assert_null(t);
	drawn[row->line % 4]++;
	last = *row;
	return 0;
}

static uint64_t sum(void)
{
	const uint64_t all = drawn[0] + drawn[1] + drawn[2] + drawn[3];

	for (unsigned i = 0; i < 4; i++)
		drawn[i] = 0;
	return all;
}

static void touch(uint16_t engine, uint64_t from, uint64_t to)
{
	static struct lc_thread thread;

	for (uint64_t n = from; n < to; n++)
		lc_cache_lines_draw(&thread, engine, 5, n * 64 + 63);
}

static void the_first_samples_of_an_engine_are_all_drawn(void **state)
{
	touch(1, 0, LC_CACHE_LINES_ALL);
	assert_int_equal(sum(), LC_CACHE_LINES_ALL);
	assert_int_equal(last.engine, 1);
	assert_int_equal(last.path, 5);
	assert_int_equal(last.line, LC_CACHE_LINES_ALL - 1);
	assert_int_equal(last.drawn, 1);
	touch(2, 0, LC_CACHE_LINES_ALL);
	assert_int_equal(sum(), LC_CACHE_LINES_ALL);
	touch(LC_TALLY_ENGINES, 0, 1);
	assert_int_equal(sum(), 0);
}

/* Equal numbers of each power of two, and of each of four things that the program does in turn. */
static void of_more_samples_a_part_is_drawn(void **state)
{
	uint64_t from = LC_CACHE_LINES_ALL;

	lc_cache_lines_again();
	touch(1, 0, from);
	(void)sum();
	for (uint64_t n = 2; n <= 64; n *= 2) {
		touch(1, from, from + n * LC_CACHE_LINES_ALL);
		from += n * LC_CACHE_LINES_ALL;
		for (unsigned i = 0; i < 4; i++)
			assert_in_range(drawn[i], LC_CACHE_LINES_ALL / 5, LC_CACHE_LINES_ALL / 3);
		assert_in_range(sum(), LC_CACHE_LINES_ALL - 64, LC_CACHE_LINES_ALL + 64);
	}
}

static void another_profile_begins_with_all_of_them(void **state)
{
	touch(1, 0, 1 << 20);
	(void)sum();
	lc_cache_lines_again();
	touch(1, 0, 100);
	assert_int_equal(sum(), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_samples_of_an_engine_are_all_drawn),
		cmocka_unit_test(of_more_samples_a_part_is_drawn),
		cmocka_unit_test(another_profile_begins_with_all_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
