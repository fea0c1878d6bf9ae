/* uses: src/stack/walk_credit.c src/core/own_cost.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_walk_credit.c - checks what threads may spend on call paths, and that it ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/own_cost.h"
#include "src/stack/walk_credit.h"
#include "tests/unit/counter.h"

#define PPM 20000 /* 2%: of a test's milliseconds hardly any credit comes in */

/* Spend all that the thread may; returns how much. */
static uint64_t spend(struct lc_walk_credit *c, enum lc_walk_price price, uint64_t each_ns)
{
	uint64_t spent_ns = 0;

	while (lc_walk_credit_left(c)) {
		lc_walk_credit_pay(c, price, each_ns);
		spent_ns += each_ns;
	}
	return spent_ns;
}

static void all_threads_together_spend_the_stock(void **state)
{
	struct lc_walk_credit a = { 0 }, b = { 0 }, late = { 0 };
	uint64_t spent_ns;

	lc_walk_credit_limit(PPM);
	lc_walk_credit_pay(&a, LC_WALK_JVM, LC_WALK_STOCK_NS / 2);
	spent_ns = LC_WALK_STOCK_NS / 2 + spend(&a, LC_WALK_JVM, 100000);
	spent_ns += spend(&b, LC_WALK_JVM, 100000);
	assert_in_range(spent_ns, LC_WALK_STOCK_NS - 2 * LC_WALK_SLICE_NS,
	                LC_WALK_STOCK_NS + 2 * LC_WALK_SLICE_NS);
	assert_false(lc_walk_credit_left(&late));
}

static void a_tenth_of_the_budget_has_a_tenth_of_the_stock(void **state)
{
	struct lc_walk_credit c = { 0 };

	lc_walk_credit_limit(PPM / 10);
	assert_in_range(spend(&c, LC_WALK_JVM, 100000), LC_WALK_STOCK_NS / 10 - LC_WALK_SLICE_NS,
	                LC_WALK_STOCK_NS / 10 + LC_WALK_SLICE_NS);
}

static void looks_have_a_stock_of_their_own(void **state)
{
	struct lc_walk_credit looks = { .purse = LC_WALK_LOOKS }, paths = { 0 };
	const uint64_t stock_ns = LC_WALK_STOCK_NS / LC_WALK_LOOKS_STOCK;

	lc_walk_credit_limit(PPM);
	assert_in_range(spend(&looks, LC_WALK_JVM, 100000), stock_ns - LC_WALK_SLICE_NS,
	                stock_ns + LC_WALK_SLICE_NS);
	assert_in_range(spend(&paths, LC_WALK_JVM, 100000), LC_WALK_STOCK_NS - LC_WALK_SLICE_NS,
	                LC_WALK_STOCK_NS + LC_WALK_SLICE_NS);
}

static void own_work_costs_half(void **state)
{
	struct lc_walk_credit c = { 0 };

	lc_walk_credit_limit(PPM);
	assert_in_range(spend(&c, LC_WALK_OWN, 100000), 2 * LC_WALK_STOCK_NS - LC_WALK_SLICE_NS,
	                2 * LC_WALK_STOCK_NS + LC_WALK_SLICE_NS);
}

static void without_a_limit_there_is_always_credit(void **state)
{
	struct lc_walk_credit c = { 0 };

	lc_walk_credit_limit(0);
	lc_walk_credit_pay(&c, LC_WALK_JVM, UINT64_C(1) << 50);
	assert_true(lc_walk_credit_left(&c));
}

/* A share of the CPU time: all of it here. */
static void credit_comes_back_as_the_thread_runs(void **state)
{
	struct lc_walk_credit c = { 0 };

	lc_walk_credit_limit(PPM);
	(void)spend(&c, LC_WALK_JVM, 100000);
	lc_walk_credit_limit(1000000);
	lc_walk_credit_pay(&c, LC_WALK_JVM, 2 * LC_WALK_STOCK_NS);
	c.seen_ns = 1; /* long ago */
	c.cpu_ns = 1;
	while (!lc_walk_credit_left(&c) && lc_own_cost_clock() < UINT64_C(20000000000))
		;
	assert_true(lc_walk_credit_left(&c));
	assert_in_range(c.left_ns, LC_WALK_RESUME_NS, LC_WALK_SAVED_NS);
}

static void what_a_thread_has_not_spent_is_others(void **state)
{
	struct lc_walk_credit ended = { 0 }, next = { 0 };

	lc_walk_credit_limit(PPM);
	(void)spend(&next, LC_WALK_JVM, 100000);
	ended.left_ns = LC_WALK_SLICE_NS;
	lc_walk_credit_return(&ended);
	assert_int_equal(ended.left_ns, 0);
	assert_true(lc_walk_credit_left(&next));
}

/* A thread that waited for a CPU is not charged for the time, and short work is free. */
static void work_is_paid_for_by_what_it_can_have_taken(void **state)
{
	struct lc_walk_credit c = { .left_ns = 1 };

	lc_walk_credit_end(&c, 1000, 1000 + LC_WALK_FREE_TICKS, 10);
	assert_int_equal(c.left_ns, 1);
	lc_walk_credit_end(&c, 1000, UINT64_C(1) << 50, 10);
	assert_in_range(-c.left_ns, 1, 20000);
	c.named = true;
	lc_walk_credit_end(&c, 1000, UINT64_C(1) << 50, 10);
	assert_in_range(-c.left_ns, 100000, 1000000);
	assert_false(c.named);
}

static void what_happens_is_counted(void **state)
{
	const uint64_t walks = counter("jvm_walks"), frames = counter("jvm_walk_frames"),
	               cut = counter("paths_cut");

	lc_walk_credit_walked(17);
	lc_walk_credit_cut();
	assert_int_equal(counter("jvm_walks"), walks + 1);
	assert_int_equal(counter("jvm_walk_frames"), frames + 17);
	assert_int_equal(counter("paths_cut"), cut + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_threads_together_spend_the_stock),
		cmocka_unit_test(a_tenth_of_the_budget_has_a_tenth_of_the_stock),
		cmocka_unit_test(looks_have_a_stock_of_their_own),
		cmocka_unit_test(own_work_costs_half),
		cmocka_unit_test(without_a_limit_there_is_always_credit),
		cmocka_unit_test(credit_comes_back_as_the_thread_runs),
		cmocka_unit_test(what_a_thread_has_not_spent_is_others),
		cmocka_unit_test(work_is_paid_for_by_what_it_can_have_taken),
		cmocka_unit_test(what_happens_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
