/* uses: analyzer/base/arena.c analyzer/base/memory.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_arena.c - checks that arrays of an arena are zero, apart, stay where they are, and go
 * together.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "analyzer/base/arena.h"

enum { ARRAYS = 1000 };

static void arrays_are_zero_and_apart(void **state)
{
	struct lc_arena a = { 0 };
	uint64_t *array[ARRAYS];

	for (size_t i = 0; i < ARRAYS; i++) {
		array[i] = lc_arena_zeroed(&a, i, sizeof(**array));
		assert_non_null(array[i]);
		for (size_t k = 0; k < i; k++)
			assert_int_equal(array[i][k], 0);
		memset(array[i], (int)i, i * sizeof(**array));
	}
	for (size_t i = 0; i < ARRAYS; i++)
		for (size_t k = 0; k < i * sizeof(**array); k++)
			assert_int_equal(((unsigned char *)array[i])[k], i & 255);
	lc_arena_free(&a);
}

static void an_arena_that_was_freed_is_as_new(void **state)
{
	struct lc_arena a = { 0 };
	int *number;

	lc_arena_free(&a); /* nothing in it */
	number = lc_arena_zeroed(&a, 1, sizeof(*number));
	*number = 1;
	lc_arena_free(&a);
	assert_null(a.blocks);
	assert_int_equal(a.len, 0);
	number = lc_arena_zeroed(&a, 1, sizeof(*number));
	assert_int_equal(*number, 0);
	lc_arena_free(&a);
	lc_arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrays_are_zero_and_apart),
		cmocka_unit_test(an_arena_that_was_freed_is_as_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
