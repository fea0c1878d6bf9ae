/* uses: analyzer/agree/agree_counts.c analyzer/agree/agree_jfr.c analyzer/base/table.c analyzer/base/memory.c analyzer/base/fail.c analyzer/base/progress.c analyzer/base/plain.c analyzer/base/arena.c -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_agree_counts.c - checks that what profilers write becomes the same names, with all samples
 * counted, and that what none of them writes is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/agree/agree_counts.h"

static struct lc_agree_counts counts;

static int begin(void **state)
{
	lc_agree_counts_init(&counts);
	return 0;
}

static int end(void **state)
{
	lc_agree_counts_free(&counts);
	return 0;
}

static FILE *file_of(const char *text)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

	assert_non_null(in);
	return in;
}

static uint64_t samples_of(const char *name)
{
	for (size_t i = 0; i < counts.texts_len; i++)
		if (!strcmp(counts.texts[i], name))
			return *lc_table_values(&counts.names, (uint32_t)i);
	return 0;
}

static void is_named(const char *text, const char *expected)
{
	char *name = lc_agree_name(text);

	assert_string_equal(name, expected);
	free(name);
}

static void test_all_profilers_names_become_one(void **state)
{
	is_named("java.util.HashMap.merge", "java.util.HashMap.merge");
	is_named("java/util/HashMap.merge_[j]", "java.util.HashMap.merge");
	is_named("java.lang.Object java.util.HashMap.merge(java.lang.Object, int)",
	         "java.util.HashMap.merge");
	is_named("a.Main$Inner.get", "a.Main$Inner.get");
}

static void test_numbers_and_addresses_of_hidden_classes_are_dropped(void **state)
{
	is_named("H$$Lambda$14/0x0000000800c03000.apply", "H$$Lambda.apply");
	is_named("H$$Lambda$1.0x00007feb8c000a08.apply_[i]", "H$$Lambda.apply");
	is_named("H$$Lambda+0x00007f5a5c000a08.apply", "H$$Lambda.apply");
	is_named("H$$Lambda.0x00007f5a5c000a08.apply_[j]", "H$$Lambda.apply");
	is_named("java.lang.invoke.LambdaForm$MH/0x0000000800c04400.invoke",
	         "java.lang.invoke.LambdaForm$MH.invoke");
	is_named("H.to0xff", "H.to0xff");
}

static int collapsed(const char *text, int annotated)
{
	FILE *in = file_of(text);
	const int err = lc_agree_read_collapsed(&counts, in, annotated);

	fclose(in);
	return err;
}

static void test_a_sample_is_of_its_innermost_java_method(void **state)
{
	assert_int_equal(collapsed("a/Main.main_[j];a/Main.walk_[i];memcpy;copy_page_[k] 7\n"
	                           "a/Main.main_[0];a/Main.walk_[1] 3\n"
	                           "start_thread;Compile::Compile;malloc.part.0 5\n"
	                           "[unknown_Java];I2C/C2I adapters(0xbbb) 1\n",
	                           1),
	                 0);
	assert_int_equal(samples_of("a.Main.walk"), 10);
	assert_int_equal(counts.java, 10);
	assert_int_equal(counts.samples, 16);
	assert_int_equal(counts.texts_len, 1);
}

static void test_plain_stacks_have_java_frames_too(void **state)
{
	assert_int_equal(collapsed("a.Main.main;b.Other.run 4\na.Main.main;libc.so.6 2\n"
	                           "JavaMain;std::string::find 1",
	                           0),
	                 0);
	assert_int_equal(samples_of("b.Other.run"), 4);
	assert_int_equal(samples_of("a.Main.main"), 2);
	assert_int_equal(counts.samples, 7);
}

static void test_lines_that_are_no_stacks_are_refused(void **state)
{
	static const char *const wrong[] = { "a.Main.main\n", "a.Main.main x\n", "a.Main.main 3x\n",
		                             "a.Main.main \n",
		                             "a.Main.main 99999999999999999999999\n" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_true(collapsed(wrong[i], 0) < 0);
}

static void test_perf_has_the_compiled_method(void **state)
{
	FILE *in = file_of("   1234 \n"
	                   "\t    7fc54c94849e int a.Main.walk(int)\n"
	                   "\t    7fc54c94132f Interpreter\n"
	                   "\n"
	                   " 1234 \n"
	                   "\t    7fc54c94132f Interpreter\n"
	                   "\t    7fc54c94132f int a.Main.walk(int)\n"
	                   "\n"
	                   " 1234 \n"
	                   "\t ffff8132f [unknown]\n"
	                   "\t    891f5 JavaCalls::call(JavaValue*, int)\n"
	                   "\t    7fc54c94849e void a.Main.sort(java.lang.Object[])\n"
	                   "\n"
	                   " 1235 \n"
	                   "\t    3048e0 Node::is_CFG\n");

	assert_int_equal(lc_agree_read_perf(&counts, in), 0);
	fclose(in);
	assert_int_equal(counts.samples, 4);
	assert_int_equal(samples_of("a.Main.walk"), 1);
	assert_int_equal(samples_of("a.Main.sort"), 1);
	assert_int_equal(counts.java, 2);
}

static void test_jfr_has_the_top_frame(void **state)
{
	FILE *in =
	    file_of("{\"recording\": {\"events\": ["
	            "{\"type\": \"jdk.ExecutionSample\", \"values\": {\"stackTrace\": {\"frames\": "
	            "[{\"method\": "
	            "{\"type\": {\"name\": \"java/util/HashMap\"}, \"name\": \"hash\"}}]}}},"
	            "{\"type\": \"jdk.ExecutionSample\", \"values\": {\"stackTrace\": null}}]}}");

	assert_int_equal(lc_agree_read_jfr(&counts, in), 0);
	fclose(in);
	assert_int_equal(samples_of("java.util.HashMap.hash"), 1);
	assert_int_equal(counts.samples, 2);
	in = file_of("{\"recording\": {}}");
	assert_true(lc_agree_read_jfr(&counts, in) < 0);
	fclose(in);
}

static void test_methods_are_read_as_they_were_written(void **state)
{
	char text[256] = "";
	FILE *out = fmemopen(text, sizeof(text), "w"), *in;

	lc_agree_counts_add(&counts, "a.Main.walk", 30);
	lc_agree_counts_add(&counts, "a.Main.sort", 10);
	lc_agree_counts_add(&counts, "", 60);
	lc_agree_write_methods(out, &counts);
	fclose(out);
	assert_string_equal(text, "samples 100\n30 a.Main.walk\n10 a.Main.sort\n");
	lc_agree_counts_free(&counts);
	lc_agree_counts_init(&counts);
	in = file_of(text);
	assert_int_equal(lc_agree_read_methods(&counts, in), 0);
	fclose(in);
	assert_int_equal(counts.samples, 100);
	assert_int_equal(counts.java, 40);
	assert_int_equal(samples_of("a.Main.walk"), 30);
}

static void test_damaged_methods_are_refused(void **state)
{
	static const char *const wrong[] = { "sample 100\n", "samples 10\n11 a.B.c\n",
		                             "samples 10\nx a.B.c\n", "samples 10\n3\n",
		                             "samples 10\n5 a.B.c\n6 a.B.d\n" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		FILE *in = file_of(wrong[i]);

		lc_agree_counts_free(&counts);
		lc_agree_counts_init(&counts);
		assert_true(lc_agree_read_methods(&counts, in) < 0);
		fclose(in);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_profilers_names_become_one),
		cmocka_unit_test(test_numbers_and_addresses_of_hidden_classes_are_dropped),
		cmocka_unit_test_setup_teardown(test_a_sample_is_of_its_innermost_java_method,
		                                begin, end),
		cmocka_unit_test_setup_teardown(test_plain_stacks_have_java_frames_too, begin, end),
		cmocka_unit_test_setup_teardown(test_lines_that_are_no_stacks_are_refused, begin,
		                                end),
		cmocka_unit_test_setup_teardown(test_perf_has_the_compiled_method, begin, end),
		cmocka_unit_test_setup_teardown(test_jfr_has_the_top_frame, begin, end),
		cmocka_unit_test_setup_teardown(test_methods_are_read_as_they_were_written, begin,
		                                end),
		cmocka_unit_test_setup_teardown(test_damaged_methods_are_refused, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
