/* uses: src/jvm/layout/header.c src/jvm/os/peek.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_header.c - checks that headers of objects are read as each kind of JVM lays them out. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/jvm/layout/header.h"
#include "src/jvm/layout/layout.h"

enum { CLASS = 0x123, LENGTH = 100 };

static const struct lc_layout compressed = { .byte_base = 16,
	                                     .long_base = 16,
	                                     .reference_base = 16,
	                                     .reference_bytes = 4,
	                                     .length_offset = 12,
	                                     .object_alignment = 8 };
static const struct lc_layout wide = { .byte_base = 20,
	                               .long_base = 24,
	                               .reference_base = 24,
	                               .reference_bytes = 8,
	                               .length_offset = 16,
	                               .object_alignment = 8 };
static const struct lc_layout compact = { .byte_base = 12,
	                                  .long_base = 16,
	                                  .reference_base = 12,
	                                  .reference_bytes = 4,
	                                  .length_offset = 8,
	                                  .class_in_mark = true,
	                                  .object_alignment = 8 };

/* Mark words have hash, age and lock bits below the class, which change while an object lives. */
static const uint64_t in_compressed[3] = { 1, UINT64_C(100) << 32 | CLASS, 5 };
static const uint64_t in_wide[3] = { 1, UINT64_C(0x7f0000000123), UINT64_C(9) << 32 | LENGTH };
static const uint64_t in_compact[3] = { (uint64_t)CLASS << 42 | 1, UINT64_C(6) << 32 | LENGTH, 7 };
static const uint64_t locked[3] = { (uint64_t)CLASS << 42 | 0x3ffff000002, LENGTH, 7 };

static struct lc_header read_header(const struct lc_layout *layout, const uint64_t *words)
{
	struct lc_header h = { 0 };

	assert_int_equal(lc_header_read(layout, (uintptr_t)words, &h), 0);
	return h;
}

static void class_and_length_are_read_in_every_layout(void **state)
{
	assert_int_equal(read_header(&compressed, in_compressed).class_word, CLASS);
	assert_int_equal(read_header(&compressed, in_compressed).length, LENGTH);
	assert_int_equal(read_header(&wide, in_wide).class_word, UINT64_C(0x7f0000000123));
	assert_int_equal(read_header(&wide, in_wide).length, LENGTH);
	assert_int_equal(read_header(&compact, in_compact).class_word, CLASS);
	assert_int_equal(read_header(&compact, in_compact).length, LENGTH);
	assert_int_equal(read_header(&compact, locked).class_word, CLASS);
}

static void memory_that_is_not_there_has_no_header(void **state)
{
	struct lc_header h = { 1, 2 };

	assert_int_equal(lc_header_read(&compressed, 8, &h), -EFAULT);
	assert_int_equal(h.class_word, 1);
	assert_int_equal(h.length, 2);
}

static void another_class_or_length_is_another_object(void **state)
{
	const struct lc_header h = read_header(&compressed, in_compressed);
	struct lc_header shorter = h;

	shorter.length--;
	assert_true(lc_header_matches(&compressed, &h, "int[]", CLASS, 16 + 4 * LENGTH));
	assert_false(lc_header_matches(&compressed, &h, "int[]", CLASS + 1, 16 + 4 * LENGTH));
	assert_false(lc_header_matches(&compressed, &shorter, "long[]", CLASS, 16 + 8 * LENGTH));
	assert_true(lc_header_matches(&compressed, &h, "a.B[]", CLASS, 16 + 4 * LENGTH));
	assert_true(lc_header_matches(&wide, &h, "a.B[]", CLASS, 24 + 8 * LENGTH));
	assert_true(lc_header_matches(&compact, &h, "byte[]", CLASS, 12 + LENGTH));
}

static void what_is_no_array_is_told_by_its_class_alone(void **state)
{
	const struct lc_header h = read_header(&compressed, in_compressed);
	struct lc_header field_changed = h;

	field_changed.length = 7; /* a field of the object stands there */
	assert_true(lc_header_matches(&compressed, &field_changed, "a.B", CLASS, 24));
	assert_false(lc_header_matches(&compressed, &field_changed, "a.B", CLASS + 1, 24));
}

static void an_object_that_an_evacuation_leaves_says_so(void **state)
{
	const struct lc_layout newer = { .slides_encoded = true };
	const uint64_t at = 0x7000;

	assert_true(lc_header_stays(&compressed, at, at | 3));
	assert_false(lc_header_stays(&compressed, at, (at + 64) | 3));
	assert_false(lc_header_stays(&compressed, at, 1));
	assert_false(lc_header_stays(&compressed, at, 5)); /* biased */
	assert_true(lc_header_stays(&newer, at, 5));
	assert_false(lc_header_stays(&newer, at, (at + 64) | 3));
	assert_false(lc_header_stays(&newer, at, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(class_and_length_are_read_in_every_layout),
		cmocka_unit_test(memory_that_is_not_there_has_no_header),
		cmocka_unit_test(another_class_or_length_is_another_object),
		cmocka_unit_test(what_is_no_array_is_told_by_its_class_alone),
		cmocka_unit_test(an_object_that_an_evacuation_leaves_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
