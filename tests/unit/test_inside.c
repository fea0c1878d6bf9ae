/* uses: analyzer/cli/inside.c analyzer/cli/libraries.c -lzip -lz */
/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that an executable carries: where they are written, when, and who else may write there.
 */
#include "analyzer/cli/inside.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#define NAME "liblocus.so"
#define DATA "the bytes of the library"
#define KEY "0123456789abcdef"
#define USER 4711

static char top[64], error[3 * PATH_MAX], out[PATH_MAX];

struct text {
	unsigned char bytes[1024];
	size_t len;
};

static void put(struct text *t, unsigned int bytes, uint64_t value)
{
	for (unsigned int i = 0; i < bytes; i++)
		t->bytes[t->len++] = (unsigned char)(value >> 8 * i);
}

static void put_text(struct text *t, const char *text)
{
	memcpy(t->bytes + t->len, text, strlen(text));
	t->len += strlen(text);
}

/* The fields that a local header and a directory's entry share. */
static void put_entry(struct text *t, uint32_t sum)
{
	put(t, 8, 0x0000000000000014); /* version 2.0, stored, no time */
	put(t, 2, 0x21);               /* 1 January 1980 */
	put(t, 4, sum);
	put(t, 4, strlen(DATA));
	put(t, 4, strlen(DATA));
	put(t, 2, strlen(NAME));
	put(t, 2, 0);
}

/* An executable of `before` bytes, and behind it an archive with this comment. */
static char *executable(size_t before, const char *comment, bool wrong_sum)
{
	static char path[PATH_MAX];
	const uint32_t sum =
	    (uint32_t)crc32(0, (const unsigned char *)DATA, strlen(DATA)) ^ wrong_sum;
	struct text t = { .len = before };
	size_t directory, end;
	FILE *f;

	put(&t, 4, 0x04034b50);
	put_entry(&t, sum);
	put_text(&t, NAME DATA);
	directory = t.len;
	put(&t, 4, 0x02014b50);
	put(&t, 2, 0x14);
	put_entry(&t, sum);
	put(&t, 8, 0); /* comment, disk, attributes */
	put(&t, 2, 0);
	put(&t, 4, before);
	put_text(&t, NAME);
	end = t.len;
	put(&t, 4, 0x06054b50);
	put(&t, 4, 0);
	put(&t, 4, 0x00010001);
	put(&t, 4, end - directory);
	put(&t, 4, directory);
	put(&t, 2, strlen(comment));
	put_text(&t, comment);
	snprintf(path, sizeof(path), "%s/x", top);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(t.bytes, 1, t.len, f), t.len);
	assert_int_equal(fclose(f), 0);
	return path;
}

static int setup(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "/tmp/locus-inside-XXXXXX");
	if (!mkdtemp(top) || chmod(top, 0755))
		return -1;
	setenv("XDG_CACHE_HOME", top, 1);
	unsetenv("HOME");
	error[0] = out[0] = '\0';
	return 0;
}

static int teardown(void **state)
{
	char command[PATH_MAX];

	(void)state;
	snprintf(command, sizeof(command),
	         "rm -rf %s /tmp/locus-%d /var/tmp/locus-%d /dev/shm/locus-%d", top, USER, USER,
	         USER);
	return system(command);
}

/* Looks as a user who is not root, since root has a directory of the machine's. */
static int find(const char *from)
{
	const bool root = geteuid() == 0;
	int err;

	if (root)
		assert_int_equal(chown(top, USER, USER) | seteuid(USER), 0);
	err = lc_inside_find(from, NAME, out, error, sizeof(error));
	if (root)
		assert_int_equal(seteuid(0), 0);
	return err;
}

static void assert_written(const char *directory)
{
	char path[PATH_MAX], data[100] = "";
	struct stat st;
	FILE *f;

	snprintf(path, sizeof(path), "%s/" KEY "/" NAME, directory);
	assert_string_equal(out, path);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fread(data, 1, sizeof(data), f), strlen(DATA));
	fclose(f);
	assert_string_equal(data, DATA);
	*strrchr(path, '/') = '\0';
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
}

static void a_library_is_written_once_and_again_where_it_was_cut(void **state)
{
	const char *const file = executable(100, KEY, false);
	char place[PATH_MAX];
	struct stat first, second;

	(void)state;
	snprintf(place, sizeof(place), "%s/locus", top);
	assert_int_equal(find(file), 0);
	assert_written(place);
	assert_int_equal(stat(out, &first), 0);
	assert_int_equal(find(file), 0);
	assert_int_equal(stat(out, &second), 0);
	assert_int_equal(first.st_ino, second.st_ino);
	assert_int_equal(truncate(out, 3), 0);
	assert_int_equal(find(file), 0);
	assert_written(place);
}

static void directories_of_others_and_links_are_passed_over(void **state)
{
	const char *const file = executable(0, KEY, false);
	char place[PATH_MAX];

	(void)state;
	snprintf(place, sizeof(place), "%s/locus", top);
	assert_int_equal(mkdir(place, 0700) | chmod(place, 0777), 0);
	assert_int_equal(find(file), 0);
	assert_null(strstr(out, place));
	assert_int_equal(rmdir(place), 0);
	assert_int_equal(symlink("/var/tmp", place), 0);
	assert_int_equal(find(file), 0);
	assert_null(strstr(out, place));
	setenv("XDG_CACHE_HOME", "/tmp/a b", 1);
	assert_int_equal(find(file), 0);
	assert_null(strchr(out, ' '));
}

static void a_file_system_that_runs_no_programs_is_passed_over(void **state)
{
	const char *const file = executable(0, KEY, false);
	char place[PATH_MAX], home[PATH_MAX];

	(void)state;
	snprintf(place, sizeof(place), "%s/noexec", top);
	snprintf(home, sizeof(home), "%s/home", top);
	if (mkdir(place, 0755) || mount("tmpfs", place, "tmpfs", MS_NOEXEC, "mode=1777,size=1m"))
		skip();
	setenv("XDG_CACHE_HOME", place, 1);
	setenv("HOME", home, 1);
	assert_int_equal(mkdir(home, 0755) | chown(home, USER, USER), 0);
	assert_int_equal(find(file), 0);
	assert_int_equal(umount(place), 0);
	snprintf(place, sizeof(place), "%s/home/.cache/locus", top);
	assert_written(place);
}

static void executables_that_carry_nothing_are_told_from_damaged_ones(void **state)
{
	(void)state;
	assert_int_equal(lc_inside_find("/bin/true", NAME, out, error, sizeof(error)), -ENOENT);
	assert_int_equal(find(executable(9, "../../etc", false)), -ENOENT);
	assert_int_equal(find(executable(9, "", false)), -ENOENT);
	assert_int_equal(
	    lc_inside_find(executable(9, KEY, false), "other.so", out, error, sizeof(error)),
	    -ENOENT);
	assert_string_equal(error, "");
	assert_true(find(executable(9, KEY, true)) < 0);
	assert_non_null(strstr(error, "cannot write " NAME));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    a_library_is_written_once_and_again_where_it_was_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(directories_of_others_and_links_are_passed_over,
		                                setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_system_that_runs_no_programs_is_passed_over,
		                                setup, teardown),
		cmocka_unit_test_setup_teardown(
		    executables_that_carry_nothing_are_told_from_damaged_ones, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
