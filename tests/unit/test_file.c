/* uses: src/base/file.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_file.c - checks that small files are read whole, without their last newlines, below another
 * root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/file.h"

static char root[] = "/tmp/locus-file-XXXXXX";

static void put(const char *text)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/f", root);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void text_is_without_the_newlines_at_its_end(void **state)
{
	char text[8];

	put("a\nb\n\n");
	assert_true(lc_file_text(root, "/f", text, sizeof(text)));
	assert_string_equal(text, "a\nb");
	put("\n");
	assert_false(lc_file_text(root, "/f", text, sizeof(text)));
	assert_string_equal(text, "");
}

static void text_is_cut_to_fit(void **state)
{
	char text[4];

	put("12345678");
	assert_true(lc_file_text(root, "/f", text, sizeof(text)));
	assert_string_equal(text, "123");
}

static void a_number_may_be_followed_by_text(void **state)
{
	long number;

	put("-1 x\n");
	assert_true(lc_file_number(root, "/f", &number));
	assert_int_equal(number, -1);
	put("x\n");
	assert_false(lc_file_number(root, "/f", &number));
}

static void what_is_not_there_has_no_text_and_no_number(void **state)
{
	char text[4] = "abc";
	long number;

	assert_false(lc_file_text(root, "/none", text, sizeof(text)));
	assert_string_equal(text, "");
	assert_false(lc_file_number(root, "/none", &number));
	assert_false(lc_file_exists(root, "/none"));
	put("");
	assert_true(lc_file_exists(root, "/f"));
	assert_true(lc_file_exists(NULL, root));
}

static int make_root(void **state)
{
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/f", root);
	unlink(path);
	return rmdir(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_without_the_newlines_at_its_end),
		cmocka_unit_test(text_is_cut_to_fit),
		cmocka_unit_test(a_number_may_be_followed_by_text),
		cmocka_unit_test(what_is_not_there_has_no_text_and_no_number),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
