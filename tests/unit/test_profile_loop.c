/* uses: src/profile/loop.c src/profile/profile_writer.c src/profile/directory.c src/profile/block_encoder.c src/format/encode.c src/format/section.c src/profile/names.c src/core/memory.c src/profile/manifest.c -lzstd */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_profile_loop.c - checks which profiles of a loop are there, and that no others are removed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/core/path.h"
#include "src/core/record.h"
#include "src/profile/loop.h"
#include "src/profile/profile_writer.h"

static char dir[PATH_MAX];

/* The agent's tables are empty. */
const struct lc_method *lc_method_get(uint32_t method)
{
	return NULL;
}

int lc_method_line(const struct lc_method *m, uint32_t bci)
{
	return -1;
}

const struct lc_path_node *lc_path_get(uint32_t node)
{
	return NULL;
}

const struct lc_site *lc_site_get(uint32_t site)
{
	return NULL;
}

static const char *in_dir(const char *name)
{
	static char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static bool is_there(const char *name)
{
	struct stat st;

	return !lstat(in_dir(name), &st);
}

static void touch(const char *name)
{
	const int fd = open(in_dir(name), O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static int set_up(void **state)
{
	snprintf(dir, sizeof(dir), "/tmp/lc-loop-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int clean(void **state)
{
	char command[PATH_MAX + 16];

	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	return system(command);
}

static struct lc_loop *made(uint32_t keep)
{
	struct lc_loop *l = NULL;
	char error[PATH_MAX + 256];

	assert_int_equal(lc_loop_create(in_dir("loop"), keep, &l, error, sizeof(error)), 0);
	return l;
}

/* Begin the next profile; the one before it, if any, had so many bytes. */
static void next(struct lc_loop *l, struct lc_profile **p, uint64_t bytes, uint64_t max)
{
	struct lc_profile *before = *p;

	assert_int_equal(lc_loop_next(l, p), 0);
	lc_profile_close(before);
	if (before)
		lc_loop_closed(l, bytes, max);
}

static void end(struct lc_loop *l, struct lc_profile *p)
{
	lc_profile_close(p);
	lc_loop_free(l);
}

static void all_stay_where_none_is_to_be_removed(void **state)
{
	struct lc_profile *p = NULL;
	struct lc_loop *l = made(0);
	char name[LC_LOOP_NAME_MAX];

	for (int i = 0; i < 4; i++)
		next(l, &p, 1000, 2000);
	assert_true(is_there("loop/000001/manifest.json"));
	assert_true(is_there("loop/000004/manifest.json"));
	lc_loop_name(l, name);
	assert_string_equal(name, "000004");
	assert_int_equal(lc_loop_bytes(l), 3000);
	end(l, p);
}

static void the_newest_stay(void **state)
{
	struct lc_profile *p = NULL;
	struct lc_loop *l = made(2);

	for (int i = 0; i < 4; i++)
		next(l, &p, 1000, 0);
	assert_false(is_there("loop/000001"));
	assert_false(is_there("loop/000002"));
	assert_true(is_there("loop/000003/manifest.json"));
	assert_true(is_there("loop/000004/manifest.json"));
	assert_int_equal(lc_loop_bytes(l), 1000);
	end(l, p);
}

static void older_ones_go_where_all_hold_too_much(void **state)
{
	struct lc_profile *p = NULL;
	struct lc_loop *l = made(100);

	for (int i = 0; i < 5; i++)
		next(l, &p, 1000, 2500);
	assert_false(is_there("loop/000002"));
	assert_true(is_there("loop/000003"));
	assert_int_equal(lc_loop_bytes(l), 2000);
	next(l, &p, 9000, 2500); /* not the one that is written */
	assert_false(is_there("loop/000005"));
	assert_true(is_there("loop/000006"));
	assert_int_equal(lc_loop_bytes(l), 0);
	end(l, p);
}

static void no_link_is_followed_and_no_other_directory_removed(void **state)
{
	struct lc_profile *p = NULL;
	struct lc_loop *l = made(1);

	assert_int_equal(mkdir(in_dir("other"), 0700), 0);
	touch("other/manifest.json");
	next(l, &p, 0, 0);
	assert_int_equal(rename(in_dir("loop/000001"), strdupa(in_dir("moved"))), 0);
	assert_int_equal(symlink("../other", in_dir("loop/000001")), 0);
	next(l, &p, 10, 0);
	assert_true(is_there("other/manifest.json"));
	assert_true(is_there("moved/manifest.json"));
	/* Another directory in its place. */
	assert_int_equal(rename(in_dir("loop/000002"), strdupa(in_dir("moved2"))), 0);
	assert_int_equal(mkdir(in_dir("loop/000002"), 0700), 0);
	touch("loop/000002/thread-0.lcb");
	next(l, &p, 10, 0);
	assert_true(is_there("loop/000002/thread-0.lcb"));
	assert_true(is_there("moved2/manifest.json"));
	/* A file of somebody else's in it. */
	touch("loop/000003/notes");
	touch("loop/000003/thread-7.lcb");
	next(l, &p, 10, 0);
	assert_true(is_there("loop/000003/notes"));
	assert_false(is_there("loop/000003/thread-7.lcb"));
	end(l, p);
}

static void a_name_that_is_taken_is_left_alone(void **state)
{
	char error[PATH_MAX + 256];
	struct lc_profile *p = NULL, *none = NULL;
	struct lc_loop *l = made(0), *second = NULL;
	char name[LC_LOOP_NAME_MAX];

	next(l, &p, 0, 0);
	touch("loop/000002");
	assert_int_equal(lc_loop_next(l, &none), -EEXIST);
	lc_loop_name(l, name);
	assert_string_equal(name, "000001");
	assert_int_equal(unlink(in_dir("loop/000002")), 0);
	next(l, &p, 0, 0);
	assert_true(is_there("loop/000002/manifest.json"));
	/* Another recording is not mixed in. */
	assert_int_equal(lc_loop_create(in_dir("loop"), 0, &second, error, sizeof(error)), -EEXIST);
	assert_non_null(strstr(error, "already holds a profile"));
	assert_int_equal(lc_profile_create(in_dir("loop"), &none, error, sizeof(error)), -EEXIST);
	end(l, p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_stay_where_none_is_to_be_removed, set_up,
		                                clean),
		cmocka_unit_test_setup_teardown(the_newest_stay, set_up, clean),
		cmocka_unit_test_setup_teardown(older_ones_go_where_all_hold_too_much, set_up,
		                                clean),
		cmocka_unit_test_setup_teardown(no_link_is_followed_and_no_other_directory_removed,
		                                set_up, clean),
		cmocka_unit_test_setup_teardown(a_name_that_is_taken_is_left_alone, set_up, clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
