/* uses: analyzer/repeat/repeat.c analyzer/repeat/repeat_words.c analyzer/diff/diff_math.c analyzer/out/emit.c analyzer/out/screen.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/plain.c analyzer/base/fail.c analyzer/base/progress.c src/format/section.c -lm -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_repeat.c - checks what is computed of several runs against numbers worked out by hand:
 * intervals, self-differences, who came first, who comes and goes, places, and equal counts.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/base/memory.h"
#include "analyzer/repeat/repeat.h"
#include "analyzer/repeat/repeat_impl.h"

enum { RUNS = 5 };

static struct lc_repeat_table table;

static void is_near(double got, double expected)
{
	if (fabs(got - expected) > 1e-6)
		fail_msg("got %.9f, not %.9f", got, expected);
}

static int no_table(void **state)
{
	lc_repeat_table_free(&table);
	return 0;
}

/* A table of `runs` runs, of each of which the entries are parts of 100. */
static void begin(enum lc_repeat_kind kind, size_t runs)
{
	lc_repeat_table_init(&table, kind, runs);
	table.columns = runs;
	for (size_t i = 0; i < runs; i++)
		table.totals[i] = 100;
}

static void add(uint32_t key, const double *values)
{
	struct lc_repeat_entry *e = lc_repeat_entry_of(&table, key);

	e->name.label = lc_mem_text("row %u", key);
	memcpy(e->values, values, table.columns * sizeof(*values));
}

static const struct lc_repeat_entry *entry(uint32_t key)
{
	for (size_t i = 0; i < table.len; i++)
		if (table.entries[i].key == key)
			return &table.entries[i];
	fail_msg("no entry %u", key);
	return NULL;
}

/*
 * 10, 12, 14, 16, 18: the mean is 14, the squares of what they differ by add up to 40, so the
 * standard error is sqrt(40 / 4 / 5) = 1.414214; t of 4 degrees of freedom is 2.776445.
 */
static void a_mean_has_students_interval(void **state)
{
	const double values[] = { 10, 12, 14, 16, 18 };
	const struct lc_repeat_number n = lc_repeat_number(values, 5, 0, HUGE_VAL);

	assert_true(n.known && n.interval && !n.equal);
	is_near(n.mean, 14);
	is_near(n.low, 14 - 3.926486);
	is_near(n.high, 14 + 3.926486);
	is_near(n.least, 10);
	is_near(n.most, 18);
}

static void an_interval_stays_within_what_a_number_can_be(void **state)
{
	const double values[] = { 0, 0, 0, 0, 1 };
	const struct lc_repeat_number n = lc_repeat_number(values, 5, 0, 0.5);

	is_near(n.mean, 0.2);
	assert_true(n.low == 0); /* 0.2 - 2.776445 * 0.2 */
	assert_true(n.high == 0.5);
}

static void below_five_runs_intervals_are_withheld(void **state)
{
	const double values[] = { 10, 12, 14, 16 };
	const struct lc_repeat_number n = lc_repeat_number(values, 4, 0, HUGE_VAL);

	assert_true(n.known && !n.interval);
	is_near(n.mean, 13);
	begin(LC_REPEAT_OBJECTS, 4);
	add(1, (const double[]){ 60, 50, 55, 65 });
	add(2, (const double[]){ 40, 50, 45, 35 });
	lc_repeat_judge(&table);
	assert_false(entry(1)->share.interval);
	assert_int_equal(entry(1)->best, 0);
	is_near(entry(1)->difference, 0.15);
}

static void a_number_that_one_run_does_not_know_is_unknown(void **state)
{
	const double values[] = { 10, -1, 14, 16, 18 };

	assert_false(lc_repeat_number(values, 5, 0, HUGE_VAL).known);
	assert_false(lc_repeat_number(values, 0, 0, HUGE_VAL).known);
}

/* Equal doubles whose sum is not five times one of them. */
static void equal_numbers_have_their_own_value_for_their_mean(void **state)
{
	const double third = 1.0 / 3, values[] = { third, third, third, third, third };
	const struct lc_repeat_number n = lc_repeat_number(values, 5, 0, 1);

	assert_true(n.equal && n.mean == third && n.low == third && n.high == third);
}

/* Shares of 0.60 to 0.52, 0.30 to 0.34; 0.04 to 0.14 of which the mean is 0.049 counts for none. */
static void the_largest_self_difference_is_of_an_entry_of_five_percent(void **state)
{
	begin(LC_REPEAT_OBJECTS, RUNS);
	add(1, (const double[]){ 60, 58, 55, 52, 57 });
	add(2, (const double[]){ 30, 31, 32, 34, 33 });
	add(3, (const double[]){ 4, 2, 2.5, 14, 2 });
	lc_repeat_judge(&table);
	is_near(entry(3)->share.mean, 0.049);
	is_near(entry(3)->difference, 0.12);
	assert_ptr_equal(table.farthest, entry(1));
	is_near(table.farthest->difference, 0.08);
	is_near(entry(2)->difference, 0.04);
}

static void without_a_large_entry_no_self_difference_is_known(void **state)
{
	char *text;

	begin(LC_REPEAT_LINES, RUNS);
	add(1, (const double[]){ 4, 3, 4, 3, 4 });
	lc_repeat_judge(&table);
	assert_null(table.farthest);
	text = lc_repeat_say_difference(&table);
	assert_string_equal(text, "unknown: none averages 5% or more");
	free(text);
}

/*
 * Row 1 is first in runs 0 and 1, row 2 in run 2, and in run 3, where both have 30, since its mean
 * is larger (33 beyond 31); row 3 in run 4.
 */
static void entries_that_came_first_are_counted(void **state)
{
	char *text;

	begin(LC_REPEAT_METHODS, RUNS);
	add(1, (const double[]){ 40, 35, 25, 30, 25 });
	add(2, (const double[]){ 39, 30, 40, 30, 26 });
	add(3, (const double[]){ 0, 10, 20, 20, 40 });
	lc_repeat_judge(&table);
	assert_int_equal(entry(1)->first, 2);
	assert_int_equal(entry(2)->first, 2);
	assert_int_equal(entry(3)->first, 1);
	assert_int_equal(table.firsts, 3);
	text = lc_repeat_say_first(&table);
	assert_string_equal(
	    text, "3 different ones: row 2 (in 2 runs), row 1 (in 2 runs), row 3 (in 1 run)");
	free(text);
}

/*
 * Nine rows of 8 are always in the top ten. Rows 20 and 21 take the tenth place in turn: 2 and 1
 * are 1.6 and 1.4 on average. Row 22, with 5 in one run and 0 in the others, is there once and
 * averages 1; row 23, with 3 in one run, averages 0.6.
 */
static void entries_that_come_and_go_are_unstable_from_one_percent(void **state)
{
	begin(LC_REPEAT_OBJECTS, RUNS);
	for (uint32_t key = 1; key <= 9; key++)
		add(key, (const double[]){ 8, 8, 8, 8, 8 });
	add(20, (const double[]){ 2, 1, 2, 1, 2 });
	add(21, (const double[]){ 1, 2, 1, 2, 1 });
	add(22, (const double[]){ 5, 0, 0, 0, 0 });
	add(23, (const double[]){ 0, 3, 0, 0, 0 });
	lc_repeat_judge(&table);
	assert_int_equal(entry(9)->top, RUNS);
	assert_false(entry(9)->unstable);
	assert_int_equal(entry(20)->top, 2); /* row 22 is before it in run 0 */
	assert_true(entry(20)->unstable);
	assert_int_equal(entry(21)->top, 1); /* row 23 is before it in run 1 */
	assert_true(entry(21)->unstable);
	assert_int_equal(entry(22)->top, 1);
	assert_true(entry(22)->unstable);
	assert_int_equal(entry(23)->top, 1);
	assert_false(entry(23)->unstable);
	assert_int_equal(table.unstable, 3);
}

/*
 * Row 1: 50 +- 0. Rows 2 and 3: means 22 and 21 with half-widths of 1.963243 (values of 20 to 24,
 * and 19 to 23: squares add up to 10, 2.776445 * sqrt(10 / 4 / 5)): they overlap. Row 4: 5 +- 0.
 */
static void places_are_those_that_the_intervals_allow(void **state)
{
	begin(LC_REPEAT_OBJECTS, RUNS);
	add(4, (const double[]){ 5, 5, 5, 5, 5 });
	add(3, (const double[]){ 19, 20, 21, 22, 23 });
	add(2, (const double[]){ 20, 21, 22, 23, 24 });
	add(1, (const double[]){ 50, 50, 50, 50, 50 });
	lc_repeat_judge(&table);
	is_near(entry(2)->share.high, 0.22 + 0.01963243);
	for (uint32_t key = 1; key <= 4; key++) {
		static const size_t best[] = { 1, 2, 2, 4 }, worst[] = { 1, 3, 3, 4 };

		assert_int_equal(table.entries[key - 1].key, key);
		assert_int_equal(entry(key)->best, best[key - 1]);
		assert_int_equal(entry(key)->worst, worst[key - 1]);
	}
}

static void rows_with_equal_intervals_tie(void **state)
{
	begin(LC_REPEAT_OBJECTS, RUNS);
	add(1, (const double[]){ 50, 50, 50, 50, 50 });
	add(2, (const double[]){ 50, 50, 50, 50, 50 });
	lc_repeat_judge(&table);
	assert_int_equal(entry(1)->best, 1);
	assert_int_equal(entry(1)->worst, 2);
	assert_int_equal(entry(2)->best, 1);
	assert_int_equal(entry(2)->worst, 2);
}

/*
 * Counts of 300 and 100 bytes in each run, beside some that differ: of the mean sum of 420 bytes
 * they are 0.714286 and 0.238095, the same in all runs. They would differ as parts of each run's
 * own sum.
 */
static void equal_counts_have_a_self_difference_of_0_whatever_the_others_do(void **state)
{
	char *text;

	begin(LC_REPEAT_ALLOCATED, RUNS);
	add(1, (const double[]){ 300, 300, 300, 300, 300 });
	add(2, (const double[]){ 100, 100, 100, 100, 100 });
	add(3, (const double[]){ 0, 10, 20, 30, 40 });
	for (size_t i = 0; i < RUNS; i++)
		table.totals[i] = 400 + 10 * (double)i;
	lc_repeat_judge(&table);
	assert_true(entry(1)->equal && entry(2)->equal);
	is_near(entry(1)->share.mean, 300.0 / 420);
	assert_true(entry(1)->difference == 0 && entry(2)->difference == 0);
	assert_true(table.farthest->difference == 0);
	text = lc_repeat_say_difference(&table);
	assert_string_equal(text, "0");
	free(text);
	assert_false(entry(3)->equal);
	is_near(entry(3)->difference, 40.0 / 420);
}

/* The same of samples: 300 of 400 to 300 of 440. */
static void equal_samples_of_unequal_runs_differ_as_shares(void **state)
{
	begin(LC_REPEAT_OBJECTS, RUNS);
	add(1, (const double[]){ 300, 300, 300, 300, 300 });
	for (size_t i = 0; i < RUNS; i++)
		table.totals[i] = 400 + 10 * (double)i;
	lc_repeat_judge(&table);
	assert_true(entry(1)->equal);
	is_near(entry(1)->difference, 0.75 - 300.0 / 440);
}

static void a_run_that_has_nothing_of_a_kind_is_no_run_of_it(void **state)
{
	begin(LC_REPEAT_SPANS, 3);
	table.totals[1] = 0;
	add(1, (const double[]){ 70, 0, 80 });
	lc_repeat_judge(&table);
	assert_int_equal(table.runs, 2);
	is_near(entry(1)->share.mean, 0.75);
	is_near(entry(1)->share.least, 0.7);
	assert_int_equal(entry(1)->first, 2);
}

static void one_key_is_one_entry(void **state)
{
	begin(LC_REPEAT_LINES, 2);
	lc_repeat_entry_of(&table, 7)->values[0] += 10;
	lc_repeat_entry_of(&table, 8)->values[0] += 30;
	lc_repeat_entry_of(&table, 7)->values[0] += 5;
	assert_int_equal(table.len, 2);
	is_near(entry(7)->values[0], 15);
}

static void the_first_reason_to_leave_a_run_out_counts(void **state)
{
	struct lc_repeat r;

	lc_repeat_init(&r);
	for (size_t i = 0; i < 3; i++) {
		struct lc_repeat_run *run = lc_repeat_add_run(&r);

		run->wall_ns = 1e9 * (double)(i + 1);
	}
	lc_repeat_leave_out(&r.runs[1], LC_REPEAT_TIMED_OUT, lc_mem_text("first \033[1m"));
	lc_repeat_leave_out(&r.runs[1], LC_REPEAT_SAID, lc_mem_text("second"));
	lc_repeat_finish(&r);
	assert_int_equal(r.runs[1].state, LC_REPEAT_TIMED_OUT);
	assert_string_equal(r.runs[1].why, "first \\u001b[1m");
	assert_int_equal(r.counted, 2);
	is_near(r.wall_ns.mean, 2e9); /* of 1 s and 3 s */
	assert_false(r.cpu_ns.known);
	assert_string_equal(lc_repeat_withheld(&r),
	                    "intervals are withheld: they need 5 counted runs");
	lc_repeat_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mean_has_students_interval),
		cmocka_unit_test(an_interval_stays_within_what_a_number_can_be),
		cmocka_unit_test_teardown(below_five_runs_intervals_are_withheld, no_table),
		cmocka_unit_test(a_number_that_one_run_does_not_know_is_unknown),
		cmocka_unit_test(equal_numbers_have_their_own_value_for_their_mean),
		cmocka_unit_test_teardown(
		    the_largest_self_difference_is_of_an_entry_of_five_percent, no_table),
		cmocka_unit_test_teardown(without_a_large_entry_no_self_difference_is_known,
		                          no_table),
		cmocka_unit_test_teardown(entries_that_came_first_are_counted, no_table),
		cmocka_unit_test_teardown(entries_that_come_and_go_are_unstable_from_one_percent,
		                          no_table),
		cmocka_unit_test_teardown(places_are_those_that_the_intervals_allow, no_table),
		cmocka_unit_test_teardown(rows_with_equal_intervals_tie, no_table),
		cmocka_unit_test_teardown(
		    equal_counts_have_a_self_difference_of_0_whatever_the_others_do, no_table),
		cmocka_unit_test_teardown(equal_samples_of_unequal_runs_differ_as_shares, no_table),
		cmocka_unit_test_teardown(a_run_that_has_nothing_of_a_kind_is_no_run_of_it,
		                          no_table),
		cmocka_unit_test_teardown(one_key_is_one_entry, no_table),
		cmocka_unit_test(the_first_reason_to_leave_a_run_out_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
