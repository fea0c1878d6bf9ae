/* uses: analyzer/base/plain.c analyzer/objects/analysis/object_names.c analyzer/objects/analysis/deal.c analyzer/objects/analysis/ranking.c analyzer/objects/analysis/offheap.c analyzer/objects/analysis/known_lines.c analyzer/model/group_filter.c analyzer/model/where.c src/base/options.c src/base/nearest.c analyzer/model/groups.c analyzer/model/facts.c analyzer/model/program_name.c analyzer/objects/analysis/own_code.c analyzer/objects/analysis/roll_up.c analyzer/objects/analysis/view.c analyzer/objects/analysis/view_rows.c analyzer/out/json.c analyzer/out/screen.c analyzer/out/emit.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/progress.c src/format/section.c -lm -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_object_names.c - checks how a row's name is written, and what is left out of it where there
 * is less room.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/objects/analysis/object_names.h"
#include "src/format/kinds.h"

static struct lc_tree tree;
static struct lc_rank_name names[4];
static struct lc_rank_row row = { .names = names };

static uint32_t text(const char *s)
{
	return lc_tree_string(&tree, s, strlen(s));
}

static void begin(const char *class)
{
	row.class = text(class);
	row.names_len = 0;
}

static void add(enum lc_site_name kind, const char *name)
{
	names[row.names_len++] = (struct lc_rank_name){ .kind = kind, .name = text(name) };
}

static void expect(const char *expected, size_t shown, unsigned columns)
{
	char *label = lc_object_label(&tree, &row, shown, columns);

	assert_string_equal(label, expected);
	free(label);
}

static void a_row_without_names_is_its_class(void **state)
{
	begin("org.h2.value.ValueVarchar");
	expect("o.h2.v.ValueVarchar", 3, UINT_MAX);
	expect("ValueVarchar", 3, 12);
}

static void kinds_of_names_are_told_apart(void **state)
{
	begin("double[]");
	add(LC_NAME_FIELD, "com.acme.Spectrum.re");
	expect("c.a.Spectrum.re (double[])", 3, UINT_MAX);
	begin("double[]");
	add(LC_NAME_LOCAL, "buffer[]");
	expect("buffer[] (double[])", 3, UINT_MAX);
	begin("double[]");
	add(LC_NAME_ARGUMENT, "java.util.List.add");
	expect("argument of j.u.List.add (double[])", 3, UINT_MAX);
	begin("double[]");
	add(LC_NAME_FIELD, "Unnamed.re"); /* in no package */
	expect("Unnamed.re (double[])", 3, UINT_MAX);
}

static void with_less_room_packages_go_first_and_the_field_never(void **state)
{
	begin("com.acme.Spectrum$Line$Part[]");
	add(LC_NAME_FIELD, "com.acme.Spectrum$Line.parts");
	add(LC_NAME_FIELD, "com.acme.Other.parts");
	expect("c.a.Spectrum$Line.parts, c.a.Other.parts (c.a.Spectrum$Line$Part[])", 3, UINT_MAX);
	expect("Spectrum$Line.parts, Other.parts (Spectrum$Line$Part[])", 3, 60);
	expect("Line.parts, Other.parts (Part[])", 3, 40);
	expect("Line.parts, ... (Part[])", 3, 31);
	expect("c.a.Spectrum$Line.parts, ... (c.a.Spectrum$Line$Part[])", 1, UINT_MAX);
}

static void a_name_that_is_cut_keeps_its_end_and_its_class(void **state)
{
	char *label;

	begin("double[]");
	add(LC_NAME_FIELD, "com.acme.SpectrumOfTheWholeSignal.realParts");
	label = lc_object_label(&tree, &row, 3, 30);
	assert_int_equal(strlen(label), 30);
	assert_non_null(strstr(label, ".."));
	assert_non_null(strstr(label, "Parts (double[])"));
	free(label);
}

static void anonymous_classes_keep_what_encloses_them(void **state)
{
	begin("double[]");
	add(LC_NAME_FIELD, "com.acme.Outer$Inner$1.re");
	expect("Inner$1.re (double[])", 3, 22);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_without_names_is_its_class),
		cmocka_unit_test(kinds_of_names_are_told_apart),
		cmocka_unit_test(with_less_room_packages_go_first_and_the_field_never),
		cmocka_unit_test(a_name_that_is_cut_keeps_its_end_and_its_class),
		cmocka_unit_test(anonymous_classes_keep_what_encloses_them),
	};
	int failed;

	lc_tree_init(&tree);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	lc_tree_free(&tree);
	return failed;
}
