/* uses: src/attribute/live_holders.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_live_holders.c - checks rows of what holds live objects, until a block takes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/attribute/live_holders.h"
#include "src/core/thread.h"
#include "src/profile/tally.h"

enum { ROWS_MAX = 8192 };

static struct lc_block_holder rows[ROWS_MAX];
static struct lc_block_held held[ROWS_MAX];
static size_t rows_len, held_len, room;
static struct lc_thread thread;

int lc_tally_holder(struct lc_tally *t, const struct lc_block_holder *row)
{
	if (rows_len == room)
		return -1;
	rows[rows_len++] = *row;
	return 0;
}

int lc_tally_held(struct lc_tally *t, const struct lc_block_held *row)
{
	if (held_len == room)
		return -1;
	held[held_len++] = *row;
	return 0;
}

static int reset(void **state)
{
	room = ROWS_MAX;
	lc_live_holders_take(&thread);
	rows_len = held_len = 0;
	return 0;
}

static void equal_texts_have_one_address(void **state)
{
	char text[] = "static A.b";

	lc_live_holders_add(1, 2, text, 3);
	lc_live_holders_add(1, 3, "static A.c", 4);
	lc_live_holders_add(5, 2, "static A.b", 6);
	lc_live_holders_add(5, 2, "", 7);
	memset(text, 0, sizeof(text));
	lc_live_holders_take(&thread);
	assert_int_equal(rows_len, 4);
	assert_string_equal(rows[0].chain, "static A.b");
	assert_ptr_equal(rows[0].chain, rows[2].chain);
	assert_string_equal(rows[1].chain, "static A.c");
	assert_string_equal(rows[3].chain, "");
	assert_int_equal(rows[0].time_ns, 1);
	assert_int_equal(rows[0].site, 2);
	assert_int_equal(rows[0].objects, 3);
}

static void a_row_that_finds_no_memory_comes_again(void **state)
{
	for (uint32_t i = 0; i < 3; i++) {
		const struct lc_block_held row = { .site = i, .known = 9, .reached = i };

		lc_live_holders_add(1, i, "static A.b", i);
		lc_live_holders_add_held(&row);
	}
	room = 2;
	lc_live_holders_take(&thread);
	assert_int_equal(rows_len, 2);
	assert_int_equal(held_len, 2);
	room = ROWS_MAX;
	lc_live_holders_take(&thread);
	assert_int_equal(rows_len, 3);
	assert_int_equal(rows[2].site, 2);
	assert_int_equal(held_len, 3);
	assert_int_equal(held[2].site, 2);
	assert_int_equal(held[2].reached, 2);
}

static void further_texts_count_as_other_chains(void **state)
{
	char text[32];

	for (unsigned i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "static A.n%u", i);
		lc_live_holders_add(1, i, text, 1);
	}
	lc_live_holders_take(&thread);
	assert_int_equal(rows_len, 5000);
	assert_string_equal(rows[4000].chain, "static A.n4000");
	assert_string_equal(rows[4999].chain, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(equal_texts_have_one_address, reset),
		cmocka_unit_test_setup(a_row_that_finds_no_memory_comes_again, reset),
		cmocka_unit_test_setup(further_texts_count_as_other_chains, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
