/* uses: src/attribute/budget.c src/core/own_cost.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_budget.c - checks when the budget makes intervals longer, and shorter again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/attribute/budget.h"
#include "src/heap/estimate.h"
#include "src/sample/engine.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)

/* Stand-ins for the modules. */
size_t lc_engines_count(void)
{
	return 0;
}

const struct lc_engine_info *lc_engines_info(size_t i)
{
	return NULL;
}

void lc_engines_stretch(uint32_t stretch)
{
}

void lc_estimate_stretch(uint32_t stretch)
{
}

static struct lc_budget_use used;
static struct lc_budget budget;

/* Ten seconds in which the process uses 20 s, hooks and the like so much, samples so much of it. */
static uint32_t ten_seconds(uint64_t counts_ms, uint64_t samples_ms)
{
	used.now_ns += 10 * S;
	used.process_ns += 20 * S;
	used.counts_ns += counts_ms * MS;
	used.samples_ns += samples_ms * MS;
	return lc_budget_look(&budget, &used);
}

static int setup(void **state)
{
	used = (struct lc_budget_use){ .now_ns = 7 * S, .process_ns = 3 * S };
	lc_budget_begin(&budget, 20000, &used); /* 400 ms of ten seconds */
	return 0;
}

static void nothing_changes_within_the_budget(void **state)
{
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(ten_seconds(100, 290), 1);
	assert_int_equal(budget.exceeded, 0);
}

static void intervals_are_as_long_as_the_budget_asks(void **state)
{
	assert_int_equal(ten_seconds(100, 1100), 3);
	assert_int_equal(ten_seconds(100, 367), 3);
	assert_int_equal(budget.exceeded, 0);
}

static void intervals_come_back_when_the_cost_has_fallen(void **state)
{
	assert_int_equal(ten_seconds(100, 1600), 4);
	assert_int_equal(ten_seconds(100, 170), 4); /* twice that would be too near */
	assert_int_equal(ten_seconds(100, 120), 2);
	assert_int_equal(ten_seconds(100, 120), 1);
	assert_int_equal(ten_seconds(100, 200), 1);
}

static void counts_that_cost_more_than_the_budget_are_told_and_stretch_nothing(void **state)
{
	assert_int_equal(ten_seconds(3000, 200), 1);
	assert_int_equal(ten_seconds(3000, 390), 1);
	assert_int_equal(budget.exceeded, 2);
	assert_int_equal(ten_seconds(3000, 5000), 13); /* by what samples cost alone */
}

static void less_than_ten_seconds_and_idle_programs_tell_nothing(void **state)
{
	used.now_ns += 9 * S;
	used.process_ns += 18 * S;
	used.samples_ns += 9 * S;
	assert_int_equal(lc_budget_look(&budget, &used), 1);
	lc_budget_begin(&budget, 20000, &used);
	used.now_ns += 60 * S;
	used.process_ns += S / 2;
	used.samples_ns += S / 4;
	assert_int_equal(lc_budget_look(&budget, &used), 1);
}

static void no_budget_changes_nothing(void **state)
{
	lc_budget_begin(&budget, 0, &used);
	assert_int_equal(ten_seconds(5000, 9000), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_changes_within_the_budget, setup),
		cmocka_unit_test_setup(intervals_are_as_long_as_the_budget_asks, setup),
		cmocka_unit_test_setup(intervals_come_back_when_the_cost_has_fallen, setup),
		cmocka_unit_test_setup(
		    counts_that_cost_more_than_the_budget_are_told_and_stretch_nothing, setup),
		cmocka_unit_test_setup(less_than_ten_seconds_and_idle_programs_tell_nothing, setup),
		cmocka_unit_test_setup(no_budget_changes_nothing, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
