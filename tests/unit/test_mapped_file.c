/* uses: src/offheap/mapped_file.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_mapped_file.c - checks that both ways name the file of a mapping. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/offheap/mapped_file.h"

enum { PAGES = 3, PAGE = 4096 };

static char path[] = "/tmp/mapped file.XXXXXX";
static uint64_t at;

static int a_mapped_file(void **state)
{
	const int fd = mkstemp(path);
	void *p;

	if (fd < 0 || ftruncate(fd, PAGES * PAGE))
		return -1;
	p = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	at = (uint64_t)(uintptr_t)p;
	return p == MAP_FAILED ? -1 : 0;
}

static int no_file(void **state)
{
	(void)munmap((void *)(uintptr_t)at, PAGES * PAGE);
	return unlink(path);
}

static const char *name(void)
{
	return strrchr(path, '/') + 1;
}

static void both_ways_name_the_file(void **state)
{
	char out[LC_BLOCK_FILE_MAX] = "";

	assert_true(lc_mapped_file_search(at, out));
	assert_string_equal(out, name());
	*out = '\0';
	if (access("/proc/self/map_files", F_OK))
		skip();
	assert_true(
	    lc_mapped_file_ask(at, PAGES * PAGE - 100, out)); /* the last page is not whole */
	assert_string_equal(out, name());
}

/* The kernel joins neighbours of one file, so that the mapping is longer than what was asked for.
 */
static void a_part_of_a_mapping_is_found_in_the_list(void **state)
{
	char out[LC_BLOCK_FILE_MAX] = "";

	assert_false(lc_mapped_file_ask(at, PAGE, out));
	lc_mapped_file(at + PAGE, PAGE, out);
	assert_string_equal(out, name());
}

static void memory_of_no_file_has_no_name(void **state)
{
	void *p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char out[LC_BLOCK_FILE_MAX] = "x";

	lc_mapped_file((uint64_t)(uintptr_t)p, PAGE, out);
	assert_string_equal(out, "");
	lc_mapped_file(8, 8, out); /* nothing is there */
	assert_string_equal(out, "");
	munmap(p, PAGE);
}

/* Memory that processes share is a file to the kernel. */
static void shared_memory_of_no_file_has_no_name(void **state)
{
	void *p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char out[LC_BLOCK_FILE_MAX] = "";

	assert_false(lc_mapped_file_ask((uint64_t)(uintptr_t)p, PAGE, out));
	assert_false(lc_mapped_file_search((uint64_t)(uintptr_t)p, out));
	munmap(p, PAGE);
}

static void a_long_name_is_cut(void **state)
{
	char out[LC_BLOCK_FILE_MAX], longer[256];
	void *p;
	FILE *f;

	snprintf(longer, sizeof(longer), "/tmp/%0200d", getpid());
	f = fopen(longer, "w+");
	assert_non_null(f);
	assert_int_equal(ftruncate(fileno(f), PAGE), 0);
	p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fileno(f), 0);
	fclose(f);
	lc_mapped_file((uint64_t)(uintptr_t)p, PAGE, out);
	unlink(longer);
	munmap(p, PAGE);
	assert_int_equal(strlen(out), LC_BLOCK_FILE_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ways_name_the_file),
		cmocka_unit_test(a_part_of_a_mapping_is_found_in_the_list),
		cmocka_unit_test(memory_of_no_file_has_no_name),
		cmocka_unit_test(shared_memory_of_no_file_has_no_name),
		cmocka_unit_test(a_long_name_is_cut),
	};

	return cmocka_run_group_tests(tests, a_mapped_file, no_file);
}
