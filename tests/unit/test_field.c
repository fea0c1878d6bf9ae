/* uses: src/jvm/layout/field_layout.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_field.c - checks that offsets become names of fields, for each layout of an object's header.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/jvm/layout/field_layout.h"
#include "src/jvm/layout/layout.h"

static const struct lc_layout compressed = {
	.byte_base = 16,
	.long_base = 16,
	.reference_base = 16,
	.reference_bytes = 4,
	.length_offset = 12,
	.object_alignment = 8,
};
static const struct lc_layout wide = {
	.byte_base = 20,
	.long_base = 24,
	.reference_base = 24,
	.reference_bytes = 8,
	.length_offset = 16,
	.object_alignment = 8,
};
static const struct lc_layout compact = {
	.byte_base = 12,
	.long_base = 16,
	.reference_base = 12,
	.reference_bytes = 4,
	.length_offset = 8,
	.class_in_mark = true,
	.object_alignment = 8,
};

static int in_array(const struct lc_layout *l, const char *signature, uint64_t size,
                    uint64_t offset, struct lc_field *out)
{
	struct lc_field_array a;

	if (lc_field_array_of(l, signature, &a))
		return -ENOENT;
	return lc_field_in_array(l, &a, size, offset, out);
}

static const char *array_name(const struct lc_layout *l, const char *signature, uint64_t offset)
{
	struct lc_field f = { .name = "none" };

	in_array(l, signature, 1024, offset, &f);
	return f.name;
}

static void header_parts_follow_the_jvm_s_layout(void **state)
{
	const char *mark = lc_field_part_name(LC_PART_MARK), *class = "(class)";
	const char *length = "(length)", *padding = "(padding)";

	assert_ptr_equal(array_name(&compressed, "[J", 0), mark);
	assert_ptr_equal(array_name(&compressed, "[J", 7), mark);
	assert_string_equal(array_name(&compressed, "[J", 8), class);
	assert_string_equal(array_name(&compressed, "[J", 11), class);
	assert_string_equal(array_name(&compressed, "[J", 12), length);
	assert_string_equal(array_name(&compressed, "[J", 15), length);
	assert_string_equal(array_name(&compressed, "[J", 16), "");

	assert_string_equal(array_name(&wide, "[J", 15), class);
	assert_string_equal(array_name(&wide, "[J", 16), length);
	assert_string_equal(array_name(&wide, "[J", 20), padding);
	assert_string_equal(array_name(&wide, "[B", 20), "");
	assert_string_equal(array_name(&wide, "[Ljava/lang/Object;", 23), padding);

	assert_string_equal(array_name(&compact, "[J", 7), mark);
	assert_string_equal(array_name(&compact, "[J", 8), length);
	assert_string_equal(array_name(&compact, "[J", 12), padding);
	assert_string_equal(array_name(&compact, "[[I", 12), "");
}

static void elements_are_told_exactly_and_in_sixteen_equal_ranges(void **state)
{
	struct lc_field f;
	uint64_t seen = 0, last = 0;

	for (uint64_t i = 0; i < 1600; i++) {
		assert_int_equal(in_array(&compressed, "[I", 16 + 6400, 16 + 4 * i + i % 4, &f), 0);
		assert_int_equal(f.element, i);
		assert_int_equal(f.first, i / 100 * 100);
		assert_int_equal(f.last, i / 100 * 100 + 99);
		seen += !i || f.first != last;
		last = f.first;
	}
	assert_int_equal(seen, LC_FIELD_RANGES);
}

static void the_last_range_ends_with_the_array(void **state)
{
	struct lc_field f;

	assert_int_equal(in_array(&compressed, "[J", 16 + 8 * 100, 16 + 8 * 99, &f), 0);
	assert_int_equal(f.first, 98);
	assert_int_equal(f.last, 99);
	/* If there are few elements, each is a range of its own. */
	assert_int_equal(in_array(&compressed, "[J", 16 + 8 * 16, 16 + 8 * 11, &f), 0);
	assert_int_equal(f.first, 11);
	assert_int_equal(f.last, 11);
}

static void an_array_of_unknown_size_is_told_in_doubling_ranges(void **state)
{
	static const uint64_t want[][3] = { { 0, 0, 0 },   { 1, 1, 1 },
		                            { 2, 2, 3 },   { 3, 2, 3 },
		                            { 7, 4, 7 },   { 8, 8, 15 },
		                            { 15, 8, 15 }, { 1u << 20, 1u << 20, (1u << 21) - 1 } };
	struct lc_field f;

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		assert_int_equal(in_array(&compressed, "[D", 0, 16 + 8 * want[i][0], &f), 0);
		assert_int_equal(f.element, want[i][0]);
		assert_int_equal(f.first, want[i][1]);
		assert_int_equal(f.last, want[i][2]);
	}
}

static void beyond_an_array_is_nothing(void **state)
{
	struct lc_field f = { .first = 7 };

	assert_int_equal(in_array(&compressed, "[J", 32, 32, &f), -ENOENT);
	assert_int_equal(in_array(&compressed, "Ljava/lang/Object;", 32, 8, &f), -ENOENT);
	assert_int_equal(in_array(&compressed, "[", 32, 8, &f), -ENOENT);
	assert_int_equal(f.first, 7);
}

static const struct lc_field_entry fields[] = {
	{ .offset = 24, .bytes = 8, .name = "next" }, /* sorted by the test */
	{ .offset = 12, .bytes = 4, .name = "hash" },
	{ .offset = 16, .bytes = 1, .name = "flag" },
};

static const char *name_at(const struct lc_field_table *t, uint64_t offset)
{
	struct lc_field f;

	return lc_field_in_instance(&compressed, t, offset, &f) ? NULL : f.name;
}

static void fields_cover_their_width_and_the_rest_is_padding(void **state)
{
	struct lc_field_entry entries[3];
	struct lc_field_table t = { .entries = entries, .len = 3, .instance_bytes = 40 };

	memcpy(entries, fields, sizeof(entries));
	lc_field_table_sort(&t);
	assert_string_equal(name_at(&t, 3), "(mark)");
	assert_string_equal(name_at(&t, 8), "(class)");
	assert_string_equal(name_at(&t, 12), "hash");
	assert_string_equal(name_at(&t, 15), "hash");
	assert_string_equal(name_at(&t, 16), "flag");
	assert_string_equal(name_at(&t, 17), "(padding)");
	assert_string_equal(name_at(&t, 31), "next");
	assert_string_equal(name_at(&t, 32), "(padding)");
	assert_null(name_at(&t, 40));
}

static void what_is_not_proved_to_be_padding_is_not_called_so(void **state)
{
	struct lc_field_entry entries[3];
	struct lc_field_table t = { .entries = entries, .len = 3, .instance_bytes = 40 };

	memcpy(entries, fields, sizeof(entries));
	lc_field_table_sort(&t);
	t.internal = true;
	assert_string_equal(name_at(&t, 17), "(internal)");
	t.mirror = true;
	assert_string_equal(name_at(&t, 40), "(static fields)");
	t.incomplete = true;
	assert_null(name_at(&t, 17));
	assert_string_equal(name_at(&t, 12), "hash");
	t = (struct lc_field_table){ .entries = entries, .len = 3 };
	assert_null(name_at(&t, 17)); /* perhaps beyond the object */
}

static void a_header_word_never_covers_a_field_of_compact_headers(void **state)
{
	struct lc_field_entry entry = { .offset = 8, .bytes = 4, .name = "x" };
	struct lc_field_table t = { .entries = &entry, .len = 1, .instance_bytes = 16 };
	struct lc_field f;

	assert_int_equal(lc_field_in_instance(&compact, &t, 8, &f), 0);
	assert_string_equal(f.name, "x");
	assert_int_equal(lc_field_in_instance(&compact, &t, 7, &f), 0);
	assert_string_equal(f.name, "(mark)");
}

static void a_layout_helper_says_the_same_as_the_signature(void **state)
{
	static const struct {
		const char *signature;
		uint32_t kind, type, log2;
	} arrays[] = {
		{ "[Z", 3, 4, 0 }, { "[C", 3, 5, 1 }, { "[F", 3, 6, 2 },  { "[D", 3, 7, 3 },
		{ "[B", 3, 8, 0 }, { "[S", 3, 9, 1 }, { "[I", 3, 10, 2 }, { "[J", 3, 11, 3 },
	};
	struct lc_field_array by_signature, by_helper;

	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		uint32_t helper;

		assert_int_equal(lc_field_array_of(&wide, arrays[i].signature, &by_signature), 0);
		helper = arrays[i].kind << 30 | by_signature.base << 16 | arrays[i].type << 8 |
		         arrays[i].log2;
		assert_int_equal(lc_field_array_of_helper(&wide, (int32_t)helper, &by_helper), 0);
		assert_int_equal(by_helper.base, by_signature.base);
		assert_int_equal(by_helper.width, by_signature.width);
	}
	/* An Object[] with compressed references, as JDK 17 has it. */
	assert_int_equal(lc_field_array_of_helper(&compressed, (int32_t)0x80100c02, &by_helper), 0);
	assert_int_equal(by_helper.base, 16);
	assert_int_equal(by_helper.width, 4);
	/* Instances, and what no JVM writes. */
	assert_int_equal(lc_field_array_of_helper(&compressed, 24, &by_helper), -ENOENT);
	assert_int_equal(lc_field_array_of_helper(&compressed, (int32_t)0x80100c04, &by_helper),
	                 -ENOENT);
	assert_int_equal(lc_field_array_of_helper(&compressed, (int32_t)0x80ff0c02, &by_helper),
	                 -ENOENT);
}

static void bytes_of_a_block_are_told_in_sixteen_ranges(void **state)
{
	struct lc_field f;

	assert_int_equal(lc_field_in_block(1600, 0, &f), 0);
	assert_string_equal(f.name, "");
	assert_int_equal(f.first, 0);
	assert_int_equal(f.last, 99);
	assert_int_equal(lc_field_in_block(1600, 1599, &f), 0);
	assert_int_equal(f.first, 1500);
	assert_int_equal(f.last, 1599);
	assert_int_equal(f.element, 1599);
	assert_int_equal(lc_field_in_block(1600, 1600, &f), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header_parts_follow_the_jvm_s_layout),
		cmocka_unit_test(elements_are_told_exactly_and_in_sixteen_equal_ranges),
		cmocka_unit_test(the_last_range_ends_with_the_array),
		cmocka_unit_test(an_array_of_unknown_size_is_told_in_doubling_ranges),
		cmocka_unit_test(beyond_an_array_is_nothing),
		cmocka_unit_test(fields_cover_their_width_and_the_rest_is_padding),
		cmocka_unit_test(what_is_not_proved_to_be_padding_is_not_called_so),
		cmocka_unit_test(a_header_word_never_covers_a_field_of_compact_headers),
		cmocka_unit_test(a_layout_helper_says_the_same_as_the_signature),
		cmocka_unit_test(bytes_of_a_block_are_told_in_sixteen_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
