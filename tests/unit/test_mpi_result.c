/* uses: analyzer/mpi/result.c analyzer/base/ src/base/nearest.c -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mpi_result.c - checks that the directory that locus-mpi writes gets its name when it is
 * whole, and that a signal in the middle of writing leaves nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/base/memory.h"
#include "analyzer/mpi/result.h"

static char dir[] = "/tmp/test_mpi_result.XXXXXX";

static unsigned entries(const char *path)
{
	DIR *of = opendir(path);
	unsigned count = 0;

	assert_non_null(of);
	while (readdir(of))
		count++;
	closedir(of);
	return count - 2;
}

static void put(const char *below, const char *name)
{
	char *file = lc_mem_text("%s/%s", below, name);
	FILE *out = fopen(file, "w");

	assert_non_null(out);
	fputs("data", out);
	fclose(out);
	free(file);
}

static void what_is_whole_gets_its_name(void **state)
{
	char *output = lc_mem_text("%s/out//", dir), *file = lc_mem_text("%s/out/merged.lcb", dir);
	struct lc_result r;

	assert_int_equal(lc_result_check(&r, output), 0);
	assert_int_equal(entries(dir), 0);
	assert_int_equal(lc_result_begin(&r), 0);
	put(r.dir, "merged.lcb");
	assert_int_equal(access(output, F_OK), -1);
	assert_int_equal(lc_result_end(&r, true), 0);
	assert_int_equal(access(file, F_OK), 0);
	assert_int_equal(entries(dir), 1);
	unlink(file);
	rmdir(output);
	free(output);
	free(file);
}

static void what_is_not_whole_is_removed(void **state)
{
	char *output = lc_mem_text("%s/out", dir);
	struct lc_result r;

	assert_int_equal(lc_result_check(&r, output), 0);
	assert_int_equal(lc_result_begin(&r), 0);
	put(r.dir, "merged.lcb.part");
	assert_int_equal(lc_result_end(&r, false), 0);
	assert_int_equal(entries(dir), 0);
	free(output);
}

static void what_came_to_be_there_meanwhile_stays(void **state)
{
	char *output = lc_mem_text("%s/out", dir), *file = lc_mem_text("%s/out/other", dir);
	struct lc_result r;

	assert_int_equal(lc_result_check(&r, output), 0);
	assert_int_equal(lc_result_begin(&r), 0);
	put(r.dir, "merged.lcb");
	assert_int_equal(mkdir(output, 0700), 0);
	put(output, "other");
	assert_int_equal(lc_result_end(&r, true), 1);
	assert_int_equal(access(file, F_OK), 0);
	assert_int_equal(entries(dir), 1);
	unlink(file);
	rmdir(output);
	free(output);
	free(file);
}

/* The child is killed by `number` in the middle of writing; what it says is in *said. */
static void die(const char *output, int number, char *said, size_t cap)
{
	int pipes[2], status;
	ssize_t len;
	pid_t child;

	assert_int_equal(pipe(pipes), 0);
	child = fork();
	if (!child) {
		struct lc_result r;

		dup2(pipes[1], STDERR_FILENO);
		if (lc_result_check(&r, output) || lc_result_begin(&r))
			_exit(9);
		put(r.dir, "merged.lcb");
		put(r.dir, "manifest.json.part");
		raise(number);
		_exit(8);
	}
	close(pipes[1]);
	len = read(pipes[0], said, cap - 1);
	said[len > 0 ? len : 0] = '\0';
	close(pipes[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == number);
}

static void a_signal_leaves_nothing(void **state)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };
	char *output = lc_mem_text("%s/out", dir);
	char said[256];

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		die(output, numbers[i], said, sizeof(said));
		assert_non_null(strstr(said, "locus-mpi: ended early"));
		assert_int_equal(entries(dir), 0);
	}
	assert_int_equal(mkdir(output, 0700), 0);
	die(output, SIGTERM, said, sizeof(said));
	assert_int_equal(entries(output), 0); /* it was there, and stays */
	rmdir(output);
	free(output);
}

static int set_up(void **state)
{
	return mkdtemp(dir) ? 0 : 1;
}

static int tear_down(void **state)
{
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_whole_gets_its_name),
		cmocka_unit_test(what_is_not_whole_is_removed),
		cmocka_unit_test(what_came_to_be_there_meanwhile_stays),
		cmocka_unit_test(a_signal_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
