/* uses: src/offheap/nmt.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_nmt.c - reads texts of VM.native_memory, of several JDKs, and broken ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/offheap/nmt.h"

#define KIB UINT64_C(1024)

static struct lc_nmt_row rows[LC_NMT_ROWS];

/* JDK 17, in KB. */
static const char text_17[] =
    "12345:\n\nNative Memory Tracking:\n\n(Omitting categories weighting less than 1KB)\n\n"
    "Total: reserved=5769483KB, committed=412567KB\n"
    "       malloc: 7115KB #3669\n"
    "       mmap:   reserved=5762368KB, committed=405452KB\n\n"
    "-                 Java Heap (reserved=4194304KB, committed=262144KB)\n"
    "                            (mmap: reserved=4194304KB, committed=262144KB) \n \n"
    "-                    Thread (reserved=12330KB, committed=562KB)\n"
    "                            (thread #13)\n"
    "                            (stack: reserved=12288KB, committed=520KB)\n"
    "                            (malloc=25KB #100) \n"
    "                            (arena=17KB #30)\n \n";

/* JDK 25, in bytes. */
static const char text_25[] =
    "Native Memory Tracking:\n\n"
    "Total: reserved=7908894059, committed=473920875\n"
    "       malloc: 6968683 #4927, peak=6886373 #4933\n"
    "-                     Class (reserved=1073797486, committed=121198)\n"
    "                            (malloc=55662 tag=Class #484) (peak=55742 #485)\n"
    "                            (  Metadata:   )\n"
    "                            (    reserved=67108864, committed=65536)\n"
    "-                 GCCardSet (reserved=296, committed=296)\n"
    "                            (malloc=296 tag=GCCardSet #4) (at peak)\n";

static void check(const struct lc_nmt_row *row, const char *name, uint64_t reserved,
                  uint64_t committed, uint64_t from_malloc)
{
	assert_string_equal(row->name, name);
	assert_int_equal(row->reserved_bytes, reserved);
	assert_int_equal(row->committed_bytes, committed);
	assert_int_equal(row->malloc_bytes, from_malloc);
}

static void categories_have_their_bytes_and_those_of_malloc(void **state)
{
	assert_int_equal(lc_nmt_parse(text_17, rows, LC_NMT_ROWS), 3);
	check(&rows[0], "", 5769483 * KIB, 412567 * KIB, 42 * KIB);
	check(&rows[1], "Java Heap", 4194304 * KIB, 262144 * KIB, 0);
	check(&rows[2], "Thread", 12330 * KIB, 562 * KIB, 42 * KIB);
	assert_int_equal(lc_nmt_parse(text_25, rows, LC_NMT_ROWS), 3);
	check(&rows[0], "", 7908894059, 473920875, 55662 + 296);
	check(&rows[1], "Class", 1073797486, 121198, 55662);
	check(&rows[2], "GCCardSet", 296, 296, 296);
}

static void a_text_without_counts_has_no_rows(void **state)
{
	assert_int_equal(lc_nmt_parse("", rows, LC_NMT_ROWS), 0);
	assert_int_equal(lc_nmt_parse("Native memory tracking is not enabled\n", rows, LC_NMT_ROWS),
	                 0);
	assert_int_equal(lc_nmt_parse("Total: reserved=1KB, committed=2KB\n", rows, LC_NMT_ROWS),
	                 0);
}

/* Each beginning of the text, and each text with another byte in it: no row claims what cannot be.
 */
static void broken_texts_give_rows_that_can_be(void **state)
{
	char text[sizeof(text_17)];

	for (size_t i = 0; i < sizeof(text_17) - 1; i++)
		for (unsigned way = 0; way < 4; way++) {
			static const char bytes[] = { '\0', '9', '\n', '\x80' };
			size_t len;

			memcpy(text, text_17, sizeof(text));
			text[i] = bytes[way];
			len = lc_nmt_parse(text, rows, LC_NMT_ROWS);
			for (size_t k = 0; k < len; k++) {
				assert_true(rows[k].committed_bytes <= rows[k].reserved_bytes);
				assert_true(!k || rows[k].malloc_bytes <= rows[k].committed_bytes);
				assert_true(strlen(rows[k].name) < LC_NMT_NAME_LEN);
			}
		}
}

static void too_large_numbers_and_too_many_rows_are_left_out(void **state)
{
	static const char large[] = "Total: reserved=99999999999999999999KB, committed=1KB\n"
	                            "Total: reserved=20000000000000000GB, committed=1KB\n"
	                            "Total: reserved=9GB, committed=1MB\n"
	                            "-  A name that is longer than any category of the JVM has had"
	                            " (reserved=1KB, committed=1KB)\n"
	                            "                  (malloc=5KB #1)\n"
	                            "-  B (reserved=1KB, committed=1KB)\n"
	                            "     (malloc=2KB #1)\n"
	                            "-  C (reserved=1KB, committed=1KB)\n";

	assert_int_equal(lc_nmt_parse(large, rows, LC_NMT_ROWS), 3);
	check(&rows[0], "", 9 * KIB * KIB * KIB, KIB * KIB, 0);
	check(&rows[1], "B", KIB, KIB, 0);
	assert_int_equal(lc_nmt_parse(large, rows, 2), 2);
}

/* Shenandoah keeps 20 MB of the first heap for itself. */
static void a_nearly_full_heap_has_no_room_for_the_answer(void **state)
{
	const uint64_t mib = UINT64_C(1) << 20;

	assert_false(lc_nmt_has_room(400 * mib, 380 * mib));
	assert_true(lc_nmt_has_room(400 * mib, 300 * mib));
	assert_false(lc_nmt_has_room(64 * mib, 50 * mib));
	assert_true(lc_nmt_has_room(64 * mib, 10 * mib));
	assert_false(lc_nmt_has_room(64 * mib, 65 * mib));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(categories_have_their_bytes_and_those_of_malloc),
		cmocka_unit_test(a_text_without_counts_has_no_rows),
		cmocka_unit_test(broken_texts_give_rows_that_can_be),
		cmocka_unit_test(too_large_numbers_and_too_many_rows_are_left_out),
		cmocka_unit_test(a_nearly_full_heap_has_no_room_for_the_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
