/* uses: analyzer/model/ analyzer/base/ src/format/ src/base/ -ljansson -lzstd -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_load.c - checks that a profile which is removed while a directory of profiles is read is
 * left out, and that one which the user has named is an error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/base/fail.h"
#include "analyzer/model/load.h"

/* Read `path`; returns the status, with what was said in *said, for free(). */
static int read_profile(const char *path, bool found, size_t *skipped, char **said)
{
	struct lc_tree tree;
	struct lc_load load;
	int status;

	*said = NULL;
	lc_tree_init(&tree);
	lc_load_init(&load);
	load.tree = &tree;
	load.found = found;
	lc_fail_capture(said);
	status = lc_load_profile(&load, path);
	lc_fail_capture(NULL);
	*skipped = load.skipped;
	lc_load_free(&load);
	lc_tree_free(&tree);
	return status;
}

static void assert_left_out(const char *path)
{
	size_t skipped;
	char *said;

	assert_int_equal(read_profile(path, true, &skipped, &said), 0);
	assert_int_equal(skipped, 1);
	assert_non_null(strstr(said, "was removed while locus ran"));
	free(said);
	assert_int_equal(read_profile(path, false, &skipped, &said), 1);
	assert_int_equal(skipped, 0);
	free(said);
}

static void a_profile_that_is_gone_is_left_out_where_it_was_found(void **state)
{
	assert_left_out("/nonexistent/profile");
}

static void a_profile_whose_files_are_gone_is_left_out_too(void **state)
{
	char directory[] = "/tmp/locus-load-XXXXXX";

	assert_non_null(mkdtemp(directory));
	assert_left_out(directory);
	assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_profile_that_is_gone_is_left_out_where_it_was_found),
		cmocka_unit_test(a_profile_whose_files_are_gone_is_left_out_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
