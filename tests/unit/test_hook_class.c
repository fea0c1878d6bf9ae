/* uses: src/classfile/ src/base/track.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_hook_class.c - checks the numbers that are put into the hook class. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/classfile/big_endian.h"
#include "src/classfile/class_file.h"
#include "src/classfile/hook_class.h"

static const struct lc_hook_layout usual = {
	.min_size_bytes = 1024,
	.base_bytes = { 16, 16, 16, 16, 16 },
	.reference_bytes = 4,
	.object_align_bytes = 8,
	.in_java = 8,
};

/* How many int constants of that value the class has. */
static int count_constants(const uint8_t *bytes, size_t len, int32_t value)
{
	struct lc_class c;
	int count = 0;

	assert_int_equal(lc_class_open(bytes, len, &c), LC_REWRITE_DONE);
	for (uint32_t i = 1; i < c.pool_count; i++)
		count += c.pool[i] && bytes[c.pool[i]] == LC_POOL_INTEGER &&
		         lc_be_get4s(bytes + c.pool[i] + 1) == value;
	lc_class_close(&c);
	return count;
}

static int count_in_class(struct lc_hook_layout layout, int32_t value)
{
	uint8_t *bytes = NULL;
	size_t len = 0;
	int count;

	assert_int_equal(lc_hook_class_create(&layout, &bytes, &len), 0);
	count = count_constants(bytes, len, value);
	free(bytes);
	return count;
}

static void shortest_array_is_the_first_whose_rounded_size_reaches_the_threshold(void **state)
{
	struct lc_hook_layout compact = usual;

	/* 16 + 1001 rounds up to 1024; so do 501 shorts, 251 ints (and references), 126 longs: two
	 * types of each. */
	assert_int_equal(count_in_class(usual, 1001), 2);
	assert_int_equal(count_in_class(usual, 501), 2);
	assert_int_equal(count_in_class(usual, 251), 3);
	assert_int_equal(count_in_class(usual, 126), 2);
	compact.base_bytes[LC_ELEMENT_1] = 12; /* 12 + 1005 */
	assert_int_equal(count_in_class(compact, 1005), 2);
	compact = usual;
	compact.object_align_bytes = 16; /* 16 + 993 rounds up to 1024 */
	assert_int_equal(count_in_class(compact, 993), 2);
	compact = usual;
	compact.reference_bytes = 8; /* as longs */
	assert_int_equal(count_in_class(compact, 126), 3);
}

static void all_arrays_of_a_watched_type_are_reported(void **state)
{
	struct lc_hook_layout layout = usual;
	int zeros;

	zeros = count_in_class(layout, 0);
	layout.watched_primitives = 1 << 2 | 1 << 7; /* float and long */
	assert_int_equal(count_in_class(layout, 0), zeros + 2);
	assert_int_equal(count_in_class(layout, 251), 2); /* int and references */
	assert_int_equal(count_in_class(layout, 126), 1); /* double */
	assert_int_equal(count_in_class(layout, 128), 1); /* 1024 bytes in words */
}

static void watched_strings_are_told(void **state)
{
	struct lc_hook_layout layout = usual;
	int ones;

	ones = count_in_class(layout, 1);
	layout.watched_strings = true;
	assert_int_equal(count_in_class(layout, 1), ones + 1);
}

static void tiny_threshold_reports_empty_arrays(void **state)
{
	struct lc_hook_layout layout = usual;

	layout.class_shift = 10; /* not another 0 */
	layout.min_size_bytes = 16;
	/* Two more say that not all objects are tracked, and that no strings are watched. */
	assert_int_equal(count_in_class(layout, 0), 11);
	layout.min_size_bytes = 17;
	assert_int_equal(count_in_class(layout, 1), 9);
	layout.min_size_bytes = 0;
	assert_int_equal(count_in_class(layout, 0), 12);
}

static void short_arrays_are_given_to_native_code_where_it_wants_them(void **state)
{
	struct lc_hook_layout layout = usual;
	int ones, twos;

	ones = count_in_class(layout, 1);
	twos = count_in_class(layout, 2);
	layout.objects = layout.gives_arrays = true;
	assert_int_equal(count_in_class(layout, 1), ones + 1);
	layout.gives_arrays = false;
	assert_int_equal(count_in_class(layout, 2), twos + 1);
}

static void huge_threshold_does_not_overflow(void **state)
{
	struct lc_hook_layout layout = usual;

	layout.min_size_bytes = UINT64_MAX;
	assert_int_equal(count_in_class(layout, INT32_MAX), 10); /* the tenth in words */
	layout.min_size_bytes = UINT64_C(1)
	                        << 34; /* 16 GiB: 2^31 longs are more than there can be */
	assert_int_equal(count_in_class(layout, INT32_MAX), 8);
	assert_int_equal(count_in_class(layout, 2147483646), 2);
}

static void class_that_is_patched_already_is_refused(void **state)
{
	uint8_t *bytes = NULL, *before;
	size_t len = 0;

	assert_int_equal(lc_hook_class_create(&usual, &bytes, &len), 0);
	before = malloc(len);
	memcpy(before, bytes, len);
	assert_int_equal(lc_hook_class_patch(bytes, len, &usual), -EINVAL);
	assert_memory_equal(bytes, before, len);
	assert_int_equal(lc_hook_class_patch(bytes, len - 1, &usual), -EINVAL);
	free(before);
	free(bytes);
}

static void layouts_out_of_bounds_are_refused(void **state)
{
	struct lc_hook_layout bad[6] = { usual, usual, usual, usual, usual, usual };
	uint8_t *bytes = NULL;
	size_t len = 0;

	bad[0].base_bytes[LC_ELEMENT_2] = 8;
	bad[1].base_bytes[LC_ELEMENT_REFERENCE] = 32;
	bad[2].reference_bytes = 6;
	bad[3].object_align_bytes = 4;
	bad[4].object_align_bytes = 24;
	bad[5].object_align_bytes = 512;
	for (int i = 0; i < 6; i++) {
		assert_int_equal(lc_hook_class_create(&bad[i], &bytes, &len), -EINVAL);
		assert_null(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    shortest_array_is_the_first_whose_rounded_size_reaches_the_threshold),
		cmocka_unit_test(all_arrays_of_a_watched_type_are_reported),
		cmocka_unit_test(watched_strings_are_told),
		cmocka_unit_test(tiny_threshold_reports_empty_arrays),
		cmocka_unit_test(short_arrays_are_given_to_native_code_where_it_wants_them),
		cmocka_unit_test(huge_threshold_does_not_overflow),
		cmocka_unit_test(class_that_is_patched_already_is_refused),
		cmocka_unit_test(layouts_out_of_bounds_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
