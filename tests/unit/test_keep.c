/* uses: analyzer/objects/analysis/keep.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/plain.c analyzer/base/progress.c src/format/section.c -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_keep.c - checks the parts of objects against sizes that JOL prints for classes of the JDK,
 * and sums by class.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/model/load.h"
#include "analyzer/objects/analysis/keep.h"

static const struct lc_keep_jvm usual = { 12, 8, 4, 16, 16, 16 };   /* JDK 17, heap below 32 GB */
static const struct lc_keep_jvm wide = { 16, 8, 8, 24, 24, 24 };    /* no compressed pointers */
static const struct lc_keep_jvm compact = { 8, 8, 4, 12, 16, 12 };  /* JDK 25, compact headers */
static const struct lc_keep_jvm coarse = { 12, 16, 4, 16, 16, 16 }; /* ObjectAlignmentInBytes=16 */

static const struct lc_keep_jvm *told = &usual;
static struct lc_tree tree;

uint64_t lc_load_level(const struct lc_load *l, const char *name)
{
	static const struct {
		const char *name;
		size_t offset;
	} levels[] = {
		{ "object_header_bytes", offsetof(struct lc_keep_jvm, header) },
		{ "object_alignment_bytes", offsetof(struct lc_keep_jvm, alignment) },
		{ "reference_bytes", offsetof(struct lc_keep_jvm, reference) },
		{ "array_base_bytes", offsetof(struct lc_keep_jvm, array_base) },
		{ "array_base_longs", offsetof(struct lc_keep_jvm, array_base_longs) },
		{ "array_base_references", offsetof(struct lc_keep_jvm, array_base_references) },
	};

	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++)
		if (!strcmp(name, levels[i].name))
			return *(const uint64_t *)((const char *)told + levels[i].offset);
	fail_msg("%s", name);
	return 0;
}

/* Sizes without and with compact headers, and fields, of the classes as JOL prints them. */
static void objects_have_the_sizes_of_jol(void **state)
{
	static const struct {
		const char *class;
		uint64_t fields, bytes, wide_fields, wide_bytes, compact_bytes;
		uint64_t narrower; /* for the next smaller size of 12-byte headers */
	} cases[] = {
		{ "java.lang.Object", 0, 16, 0, 16, 8, 0 },
		{ "java.lang.Byte", 1, 16, 1, 24, 16, 0 },
		{ "java.lang.Integer", 4, 16, 4, 24, 16, 0 },
		{ "java.lang.Long", 8, 24, 8, 24, 16, 4 },
		{ "java.lang.String", 10, 24, 14, 32, 24, 6 }, /* value, hash, coder, hashIsZero */
		{ "java.util.HashMap$Node", 16, 32, 28, 48, 24, 4 },    /* hash, key, value, next */
		{ "java.util.LinkedList$Node", 12, 24, 24, 40, 24, 8 }, /* item, next, prev */
		{ "java.util.ArrayList", 12, 24, 16, 32, 24, 8 }, /* modCount, elementData, size */
		{ "java.util.HashMap", 32, 48, 48, 64, 40, 4 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lc_keep_object o = lc_keep_instance(&usual, cases[i].bytes, cases[i].fields);

		assert_true(o.known);
		assert_int_equal(o.header, 12);
		assert_int_equal(o.header + o.fields + o.padding, cases[i].bytes);
		assert_int_equal(o.bytes - o.compact, cases[i].compact_bytes);
		assert_int_equal(o.narrower, cases[i].narrower);
		o = lc_keep_instance(&wide, cases[i].wide_bytes, cases[i].wide_fields);
		assert_int_equal(o.header + o.fields + o.padding, cases[i].wide_bytes);
		assert_in_range(o.padding, 0, 7);
		o = lc_keep_instance(&compact, cases[i].compact_bytes, cases[i].fields);
		assert_true(o.known);
		assert_int_equal(o.header, 8);
		assert_int_equal(o.compact, 0); /* they are on */
	}
}

static void a_larger_alignment_is_the_unit_of_savings(void **state)
{
	/* HashMap$Node: 28 bytes of 32, 24 with compact headers, which are 32 as well. */
	struct lc_keep_object o = lc_keep_instance(&coarse, 32, 16);

	assert_int_equal(o.padding, 4);
	assert_int_equal(o.compact, 0);
	assert_int_equal(o.narrower, 12);
	o = lc_keep_instance(&coarse, 48, 24); /* 36 of 48, 32 with compact headers */
	assert_int_equal(o.compact, 16);
	assert_int_equal(o.narrower, 4);
}

static void what_does_not_fit_is_not_known(void **state)
{
	static const struct lc_keep_jvm none = { 0 };

	assert_false(lc_keep_instance(&usual, 16, 8).known); /* fields beyond the end */
	assert_false(lc_keep_instance(&none, 16, 4).known);
	assert_int_equal(lc_keep_instance(&none, 16, 4).header, 0);
}

static struct lc_text text(const char *s)
{
	return (struct lc_text){ s, (uint32_t)strlen(s) };
}

static void the_header_of_an_array_has_its_length(void **state)
{
	assert_int_equal(lc_keep_array(&usual, text("byte[]")).header, 16);
	assert_int_equal(lc_keep_array(&usual, text("java.lang.String[]")).header, 16);
	assert_int_equal(lc_keep_array(&compact, text("int[]")).header, 12);
	assert_int_equal(lc_keep_array(&compact, text("double[]")).header, 16);
	assert_int_equal(lc_keep_array(&compact, text("byte[][]")).header, 12);
	assert_int_equal(lc_keep_array(&wide, text("long[]")).header, 24);
	assert_false(lc_keep_array(&usual, text("byte[]")).known); /* lengths are not */
}

/* Compares with the rounding of the JVM, for every length up to 64. */
static void the_padding_of_an_array_is_at_most_that_of_the_worst_length(void **state)
{
	static const struct {
		const char *class;
		uint64_t width, most;
		const struct lc_keep_jvm *jvm;
	} cases[] = {
		{ "byte[]", 1, 7, &usual },   { "char[]", 2, 6, &usual },
		{ "int[]", 4, 4, &usual },    { "long[]", 8, 0, &usual },
		{ "byte[]", 1, 7, &compact }, { "int[]", 4, 4, &compact },
		{ "long[]", 8, 0, &compact }, { "x.Y[]", 4, 4, &usual },
		{ "x.Y[]", 8, 0, &wide },     { "byte[]", 1, 15, &coarse },
		{ "long[]", 8, 8, &coarse },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct lc_keep_object o = lc_keep_array(cases[i].jvm, text(cases[i].class));
		const uint64_t unit = cases[i].jvm->alignment;
		uint64_t most = 0;

		for (uint64_t length = 0; length <= 64; length++) {
			const uint64_t used = o.header + length * cases[i].width;
			const uint64_t padding = (unit - used % unit) % unit;

			most = padding > most ? padding : most;
		}
		assert_int_equal(o.padding_most, most);
		assert_int_equal(o.padding_most, cases[i].most);
	}
}

/* ---- classes ---- */

static uint32_t site(const char *class, uint32_t path)
{
	uint32_t key[LC_SITE_KEY] = { 0 };

	key[LC_SITE_CLASS] = lc_tree_string(&tree, class, strlen(class));
	key[LC_SITE_PATH] = path;
	return lc_table_put(&tree.sites, key);
}

static void layout(uint32_t site, uint32_t offset, uint32_t bytes, const char *name)
{
	uint32_t key[LC_LAYOUT_KEY] = { 0 };

	key[LC_LAYOUT_SITE] = site;
	key[LC_LAYOUT_OFFSET] = offset;
	key[LC_LAYOUT_BYTES] = bytes;
	key[LC_LAYOUT_NAME] = lc_tree_string(&tree, name, strlen(name));
	lc_table_put(&tree.layouts, key);
}

static int an_empty_tree(void **state)
{
	told = &usual;
	lc_tree_init(&tree);
	return 0;
}

static int no_tree(void **state)
{
	lc_tree_free(&tree);
	return 0;
}

static void lines_of_a_class_are_added_up(void **state)
{
	const uint32_t a = site("p.Node", 1), b = site("p.Node", 2), bytes = site("byte[]", 1);
	struct lc_live_site sites[] = {
		{ a, false, { .objects = 10, .bytes = 320 } },
		{ b,
		  false,
		  { .sampled = 9,
		    .estimated = { .value = 100, .variance = 900 },
		    .estimated_bytes = { .value = 3200, .variance = 921600 } } },
		{ bytes, false, { .objects = 2, .bytes = 2032 } },
		{ site("x (off-heap)", 1), true, { .objects = 1, .bytes = 9999 } },
	};
	const struct lc_live live = { .sites = sites, .sites_len = 4 };
	const struct lc_load load = { .tree = &tree };
	struct lc_keep k;

	layout(b, 12, 4, "hash");
	layout(b, 16, 4, "key");
	layout(b, 20, 4, "value");
	layout(b, 24, 4, "next");
	layout(b, 32, 0, "");
	lc_keep_build(&k, &live, &load);
	assert_int_equal(k.len, 2);
	assert_true(lc_text_is(lc_tree_text(&tree, k.classes[0].class), "p.Node"));
	assert_int_equal(lc_live_objects(&k.classes[0].held), 110);
	assert_int_equal(lc_live_bytes(&k.classes[0].held), 3520);
	assert_true(k.classes[0].held.estimated.low >= 9 && k.classes[0].held.estimated.low < 100);
	assert_int_equal(k.classes[0].object.bytes, 32);
	assert_int_equal(k.classes[0].object.fields, 16);
	assert_int_equal(k.classes[0].object.padding, 4);
	assert_true(k.classes[1].object.array);
	assert_int_equal(k.classes[1].object.header, 16);
	lc_keep_free(&k);
}

/* Two loaders, or two JVMs of a merged profile. */
static void classes_of_one_name_that_differ_are_not_known(void **state)
{
	const uint32_t a = site("p.Node", 1), b = site("p.Node", 2), c = site("p.Other", 1);
	struct lc_live_site sites[] = { { a, false, { .objects = 10, .bytes = 160 } },
		                        { c, false, { .objects = 1, .bytes = 16 } } };
	const struct lc_live live = { .sites = sites, .sites_len = 2 };
	const struct lc_load load = { .tree = &tree };
	struct lc_keep k;

	layout(a, 12, 4, "hash");
	layout(a, 16, 0, "");
	layout(b, 12, 8, "hash");
	layout(b, 24, 0, "");
	lc_keep_build(&k, &live, &load);
	assert_false(k.classes[0].object.known);
	assert_int_equal(k.classes[0].object.header, 12); /* that of all classes */
	assert_false(k.classes[1].object.known);          /* no sample was at one */
	lc_keep_free(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_have_the_sizes_of_jol),
		cmocka_unit_test(a_larger_alignment_is_the_unit_of_savings),
		cmocka_unit_test(what_does_not_fit_is_not_known),
		cmocka_unit_test(the_header_of_an_array_has_its_length),
		cmocka_unit_test(the_padding_of_an_array_is_at_most_that_of_the_worst_length),
		cmocka_unit_test_setup_teardown(lines_of_a_class_are_added_up, an_empty_tree,
		                                no_tree),
		cmocka_unit_test_setup_teardown(classes_of_one_name_that_differ_are_not_known,
		                                an_empty_tree, no_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
