/* uses: src/core/counters.c -Wl,--wrap=realloc */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_counters.c - checks that the manifest gets each counter of each module. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/limit.h"
#include "src/core/counters.h"

enum { MADE_UP = 1000 };

static const struct lc_options options;
static _Atomic uint64_t first = 5, lost;
static char limit[32];
static bool realloc_fails;

void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);

void *__wrap_realloc(void *p, size_t size)
{
	return realloc_fails ? NULL : __real_realloc(p, size);
}

bool lc_limit_reached(const char *kind, const char *format, ...)
{
	snprintf(limit, sizeof(limit), "%s", kind);
	return true;
}

uint64_t lc_memory_refused(enum lc_memory_use use)
{
	return 0;
}

/* Engines, results and errors have such names; a busy machine brings more of them. */
static void put_made_up(struct lc_counters *out)
{
	for (unsigned i = 0; i < MADE_UP; i++) {
		char name[LC_COUNTER_NAME_MAX];

		snprintf(name, sizeof(name), "made_up_%u", i);
		lc_counters_put(out, name, i);
	}
}

static const struct lc_counter counters[] = {
	LC_COUNTER("first", &first),
	LC_COUNTER("lost", &lost, .limit = "lost", .text = "some are missing"),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .put = put_made_up);

static void any_number_of_counters_is_read(void **state)
{
	struct lc_counters all = { 0 };

	assert_int_equal(lc_counters_take(&options, &all), 0);
	assert_int_equal(all.len, 2 + MADE_UP);
	assert_string_equal(all.rows[0].name, "first");
	assert_int_equal(all.rows[0].value, 5);
	assert_string_equal(all.rows[all.len - 1].name, "made_up_999");
	assert_int_equal(all.rows[all.len - 1].value, 999);
	free(all.rows);
}

static void without_memory_the_caller_learns_that_some_are_missing(void **state)
{
	struct lc_counters all = { 0 };

	realloc_fails = true;
	assert_int_equal(lc_counters_take(&options, &all), -ENOMEM);
	realloc_fails = false;
	assert_null(all.rows);
}

static void a_loss_is_reported(void **state)
{
	struct lc_counters all = { 0 };

	assert_string_equal(limit, "");
	lost = 1;
	assert_int_equal(lc_counters_take(&options, &all), 0);
	assert_string_equal(limit, "lost");
	free(all.rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_number_of_counters_is_read),
		cmocka_unit_test(without_memory_the_caller_learns_that_some_are_missing),
		cmocka_unit_test(a_loss_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
