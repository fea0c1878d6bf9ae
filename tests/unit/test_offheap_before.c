/* uses: src/offheap/before.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_offheap_before.c - checks which mappings of the process are files that the program mapped.
 */
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

#include "src/base/limit.h"
#include "src/core/path.h"
#include "src/jvm/layout/ranges.h"
#include "src/offheap/before.h"
#include "src/offheap/block_class.h"
#include "src/offheap/blocks.h"

enum { PATH = 7, SITE = 3, BYTES = 12345, PAGE = 4096 };

static struct {
	uint64_t addr, size_bytes;
	char signature[LC_BLOCK_CLASS_MAX];
} told;
static char signature[LC_BLOCK_CLASS_MAX];
static bool said;

uint32_t lc_site_intern(const char *of, uint64_t class_word, uint32_t path)
{
	assert_int_equal(path, PATH);
	snprintf(signature, sizeof(signature), "%s", of);
	return SITE;
}

void lc_blocks_before(uint64_t addr, uint64_t size_bytes, uint32_t site)
{
	assert_int_equal(site, SITE);
	if (!strstr(signature, "blocks-"))
		return;
	told.addr = addr;
	told.size_bytes = size_bytes;
	memcpy(told.signature, signature, sizeof(signature));
}

enum lc_range_owner lc_ranges_owner(uint64_t addr)
{
	return LC_RANGE_NOBODY;
}

bool lc_limit_note(const char *name, const char *text, ...)
{
	said = true;
	return true;
}

/* A JVM of other classes: none is found. */
static jclass JNICALL find_class(JNIEnv *jni, const char *name)
{
	return NULL;
}

static void JNICALL nothing(JNIEnv *jni)
{
}

static void JNICALL nothing_of(JNIEnv *jni, jobject object)
{
}

static bool is_file(const char *line)
{
	struct lc_before_file file;

	return lc_before_file_of_line(line, &file);
}

static void data_of_files_is_told_from_the_jvms(void **state)
{
	struct lc_before_file file;

	assert_true(lc_before_file_of_line(
	    "7f0000001000-7f0000003000 rw-s 00001000 fe:00 99   /data/index/_0 a.cfs (deleted)\n",
	    &file));
	assert_int_equal(file.addr, 0x7f0000001000);
	assert_int_equal(file.size_bytes, 0x2000);
	assert_string_equal(file.name, "_0 a.cfs");
	assert_true(is_file("1000-2000 r--s 00000000 fe:00 99   /dev/shm/queue\n"));
	assert_false(is_file("1000-2000 r--p 00000000 fe:00 99   /data/a\n")); /* of a library */
	assert_false(is_file("1000-2000 r-xs 00000000 fe:00 99   /data/a\n"));
	assert_false(is_file("1000-2000 rw-s 00000000 00:01 99   /memfd:java_heap (deleted)\n"));
	assert_false(is_file("1000-2000 rw-s 00000000 fe:00 99   /tmp/hsperfdata_root/1\n"));
	assert_false(is_file("1000-2000 rw-s 00000000 00:05 99   /dev/zero (deleted)\n"));
	assert_false(is_file("1000-2000 r--s 00000000 fe:00 99   /jdk/lib/modules\n"));
	assert_false(is_file("1000-2000 r--s 00000000 fe:00 99   /app/lib.jar\n"));
	assert_false(is_file("1000-2000 rw-s 00000000 00:0d 99   anon_inode:[perf_event]\n"));
	assert_false(is_file("2000-1000 rw-s 00000000 fe:00 99   /data/a\n"));
	assert_false(is_file(""));
}

static void a_mapped_file_is_a_block_of_its_size(void **state)
{
	static const struct JNINativeInterface_ functions = { .FindClass = find_class,
		                                              .ExceptionClear = nothing,
		                                              .DeleteLocalRef = nothing_of };
	JNIEnv jni = &functions;
	char path[] = "/tmp/blocks-XXXXXX", expected[LC_BLOCK_CLASS_MAX];
	const int fd = mkstemp(path);
	void *at;

	assert_true(fd >= 0 && !ftruncate(fd, BYTES));
	at = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	lc_before_find(&jni, PATH);
	assert_true(said); /* no direct buffer is found in such a JVM */
	lc_block_class_mapped(path + sizeof("/tmp"), expected);
	assert_int_equal(told.addr, (uint64_t)(uintptr_t)at);
	assert_int_equal(told.size_bytes, BYTES);
	assert_string_equal(told.signature, expected);
	munmap(at, BYTES);
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_of_files_is_told_from_the_jvms),
		cmocka_unit_test(a_mapped_file_is_a_block_of_its_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
