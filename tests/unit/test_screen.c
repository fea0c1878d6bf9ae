/* uses: analyzer/base/plain.c analyzer/out/screen.c analyzer/out/emit.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/progress.c src/format/section.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_screen.c - checks how names are shortened, and how text fits into a number of columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/base/memory.h"
#include "analyzer/out/screen.h"

static void check_cut(const char *text, unsigned columns, const char *expected)
{
	char copy[256];

	snprintf(copy, sizeof(copy), "%s", text);
	lc_cut_middle(copy, columns);
	assert_string_equal(copy, expected);
	assert_true(lc_columns(copy) <= (columns < 4 ? 4 : columns));
}

static void names_are_cut_in_the_middle_and_keep_their_end(void **state)
{
	check_cut("o.h2.v.Value.compareTo:42", 25, "o.h2.v.Value.compareTo:42");
	check_cut("o.h2.v.Value.compareTo:42", 24, "o.h2.v.V..e.compareTo:42");
	check_cut("o.h2.v.Value.compareTo:42", 12, "o.h2..eTo:42");
	check_cut("o.h2.v.Value.compareTo:42", 1, "o..2");
	check_cut("", 10, "");
}

static void check_code(const char *text, unsigned columns, unsigned dots, const char *expected)
{
	char copy[256];

	snprintf(copy, sizeof(copy), "%s", text);
	lc_cut_code(copy, columns, dots);
	assert_string_equal(copy, expected);
}

static void of_code_the_package_goes_first(void **state)
{
	check_code("o.h2.v.Value.compareTo:42", 25, 1, "o.h2.v.Value.compareTo:42");
	check_code("o.h2.v.Value.compareTo:42", 24, 1, "h2.v.Value.compareTo:42");
	check_code("o.h2.v.Value.compareTo:42", 18, 1, "Value.compareTo:42");
	check_code("o.h2.v.Value.compareTo:42", 16, 1, "Va..compareTo:42");
	check_code("o.h2.v.Value.compareTo:42", 14, 1, "compareTo:42");
	check_code("o.h2.v.Value.compareTo:42", 12, 1, "compareTo:42");
	check_code("o.h2.v.Value.compareTo:42", 11, 1, "com..eTo:42");
	check_code("a.Main.<init>:7-9", 13, 1, "M..<init>:7-9");
	check_code("o.h2.v.ValueVarchar", 13, 0, "ValueVarchar");
	check_code("o.h2.v.ValueVarchar", 8, 0, "Va..char");
	check_code("double[]", 8, 0, "double[]");
}

static void of_a_mapped_file_the_name_stays_longest(void **state)
{
	static const char file[] = "mapped _0_Lucene.pos (off-heap)";

	check_code(file, 31, 0, file);
	check_code(file, 30, 0, "mapped _0_Lucene.pos");
	check_code(file, 16, 0, "mappe..ucene.pos");
}

static void columns_are_those_of_a_terminal(void **state)
{
	assert_int_equal(lc_columns("Value"), 5);
	assert_int_equal(lc_columns("Wert\xc3\xbc"), 5); /* u with two dots */
	assert_int_equal(lc_columns("\xe5\x80\xa4"), 2); /* a wide character */
	assert_int_equal(lc_columns("e\xcc\x81"), 1);    /* an accent that combines */
	check_cut("\xe5\x80\xa4\xe5\x80\xa4\xe5\x80\xa4\xe5\x80\xa4", 6,
	          "\xe5\x80\xa4..\xe5\x80\xa4");
	check_cut("\xe5\x80\xa4\xe5\x80\xa4\xe5\x80\xa4\xe5\x80\xa4", 8,
	          "\xe5\x80\xa4\xe5\x80\xa4\xe5\x80\xa4\xe5\x80\xa4");
}

static void check_class(const char *name, const char *expected)
{
	char *text = lc_short_class((struct lc_text){ name, (uint32_t)strlen(name) });

	assert_string_equal(text, expected);
	free(text);
}

static void packages_are_letters(void **state)
{
	check_class("org.h2.value.Value$Kind[]", "o.h2.v.Value$Kind[]");
	check_class("double[]", "double[]");
	check_class("a.b", "a.b");
	check_class("\xc3\xbc\xc3\xbc.B", "\xc3\xbc.B");
	check_class("x\x1b[31m.B", "x.B");
	check_class("B\x1b", "B\\u001b");
	check_class("..", "..");
	check_class("", "");
	check_class("mapped a.b.dat (off-heap)", "mapped a.b.dat (off-heap)");
}

static void check_wrap(const char *text, unsigned used, unsigned indent, const char *expected)
{
	char *out;
	size_t len;
	struct lc_screen s = { .out = lc_text_open(&out, &len), .width = 20 };
	unsigned lines = 0;

	lc_screen_wrap(&s, used, indent, text);
	lc_mem_close_text(s.out);
	assert_string_equal(out, expected);
	for (const char *at = out; *at; at++)
		lines += *at == '\n';
	assert_int_equal(lc_screen_lines(&s, used, indent, text), lines);
	free(out);
}

static void lines_break_between_words(void **state)
{
	check_wrap("one two three four five six", 0, 0, "one two three four\nfive six\n");
	check_wrap("one two three four five six", 3, 3, "one two three\n   four five six\n");
	check_wrap("a-word-that-is-longer-than-a-line b", 0, 2,
	           "a-word-that-is-longer-than-a-line\n  b\n");
	check_wrap("", 0, 0, "\n");
}

static void colours_are_for_terminals(void **state)
{
	FILE *out = tmpfile();
	struct lc_screen s;

	assert_non_null(out);
	setenv("TERM", "xterm", 1);
	setenv("COLUMNS", "132", 1);
	lc_screen_init(&s, out);
	assert_false(s.colors);
	assert_int_equal(s.width, 132);
	setenv("COLUMNS", "none", 1);
	lc_screen_init(&s, out);
	assert_int_equal(s.width, LC_SCREEN_WIDTH);
	lc_screen_ink(&s, LC_INK_HOT, "text");
	s.colors = true;
	lc_screen_ink(&s, LC_INK_HOT, "text");
	assert_int_equal(ftell(out), 4 + strlen("\033[31mtext\033[0m"));
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_cut_in_the_middle_and_keep_their_end),
		cmocka_unit_test(of_code_the_package_goes_first),
		cmocka_unit_test(of_a_mapped_file_the_name_stays_longest),
		cmocka_unit_test(columns_are_those_of_a_terminal),
		cmocka_unit_test(packages_are_letters),
		cmocka_unit_test(lines_break_between_words),
		cmocka_unit_test(colours_are_for_terminals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
