/* uses: analyzer/repeat/repeat_output.c analyzer/repeat/repeat_record.c analyzer/model/redacted.c analyzer/repeat/repeat.c analyzer/diff/diff_math.c analyzer/out/emit.c analyzer/out/json.c analyzer/base/file.c analyzer/base/replace.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/arena.c analyzer/base/memory.c analyzer/base/plain.c analyzer/base/fail.c analyzer/base/progress.c src/base/redact.c -ljansson src/format/section.c -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_repeat_output.c - checks which runs are left out for what they wrote, and that what is known
 * of runs is read as it was written, whatever stands in the file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/base/memory.h"
#include "analyzer/repeat/repeat_output.h"
#include "analyzer/repeat/repeat_record.h"

static char top[64];
static struct lc_repeat repeat;

static int begin(void **state)
{
	snprintf(top, sizeof(top), "/tmp/test-repeat-XXXXXX");
	lc_repeat_init(&repeat);
	return mkdtemp(top) ? 0 : -1;
}

static int end(void **state)
{
	static const char *const files[] = { LC_REPEAT_STDOUT, LC_REPEAT_STDERR };

	for (size_t i = 0; i < repeat.runs_len; i++) {
		for (size_t k = 0; repeat.runs[i].directory && k < 2; k++) {
			char *path = lc_mem_text("%s/%s", repeat.runs[i].directory, files[k]);

			unlink(path);
			free(path);
		}
		if (repeat.runs[i].directory)
			rmdir(repeat.runs[i].directory);
	}
	lc_repeat_free(&repeat);
	return rmdir(top);
}

static void put(const char *directory, const char *name, const char *text)
{
	char *path = lc_mem_text("%s/%s", directory, name);
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
	free(path);
}

static void add(const char *to_stdout, const char *to_stderr)
{
	struct lc_repeat_run *run = lc_repeat_add_run(&repeat);
	char *name = lc_repeat_record_name(repeat.runs_len);

	run->name = lc_mem_text("run %zu", repeat.runs_len);
	run->directory = lc_mem_text("%s/%s", top, name);
	free(name);
	assert_int_equal(mkdir(run->directory, 0700), 0);
	put(run->directory, LC_REPEAT_STDOUT, to_stdout);
	put(run->directory, LC_REPEAT_STDERR, to_stderr);
}

static void states_are(const char *expected)
{
	char got[16] = "";

	for (size_t i = 0; i < repeat.runs_len; i++)
		got[i] = repeat.runs[i].state == LC_REPEAT_COUNTED ? '+'
		         : repeat.runs[i].state == LC_REPEAT_SAID  ? 'e'
		                                                   : 'o';
	assert_string_equal(got, expected);
}

static void the_output_that_most_runs_have_is_the_right_one(void **state)
{
	add("a\nb\n", "");
	add("a\nc\n", "");
	add("a\nc\n", "");
	add("", "");
	lc_repeat_judge_output(&repeat, false, false);
	states_are("o++o");
	assert_non_null(
	    strstr(repeat.runs[0].why, "differs from that of 2 runs, first in line 2 of "));
	assert_non_null(strstr(repeat.runs[3].why, "first in line 1 of "));
	assert_true(repeat.runs[0].other_output && !repeat.runs[1].other_output);
	assert_false(repeat.all_differ);
}

static void of_equally_many_the_first_runs_output_is_the_right_one(void **state)
{
	add("a", "");
	add("b", "");
	add("b", "");
	add("a", "");
	lc_repeat_judge_output(&repeat, false, false);
	states_are("+oo+");
}

static void runs_that_all_differ_are_said_to(void **state)
{
	add("1\n", "");
	add("2\n", "");
	lc_repeat_judge_output(&repeat, false, false);
	states_are("+o");
	assert_true(repeat.all_differ);
}

static void any_output_counts_where_that_is_asked_for(void **state)
{
	add("1\n", "");
	add("2\n", "");
	add("2\n", "");
	lc_repeat_judge_output(&repeat, false, true);
	states_are("+++");
	assert_true(repeat.runs[0].other_output);
}

static void a_run_that_wrote_to_stderr_is_left_out_and_has_no_say_in_the_output(void **state)
{
	add("a\n", "warning: \x1b[1mhot\n");
	add("a\n", "x\n");
	add("b\n", "");
	lc_repeat_judge_output(&repeat, false, false);
	states_are("ee+");
	assert_string_equal(repeat.runs[0].why,
	                    "it wrote to standard error: warning: \\u001b[1mhot");
	assert_int_equal(repeat.runs[0].stderr_bytes, 17);
}

static void stderr_counts_where_that_is_asked_for(void **state)
{
	add("a\n", "warning\n");
	add("a\n", "");
	lc_repeat_judge_output(&repeat, true, false);
	states_are("++");
	assert_int_equal(repeat.runs[0].stderr_bytes, 8);
	assert_null(repeat.runs[0].why);
}

static void what_locus_says_is_kept_and_not_the_programs(void **state)
{
	add("a\n", "locus: one\nlocus: two\n");
	lc_repeat_judge_output(&repeat, false, false);
	states_are("+");
	assert_string_equal(repeat.runs[0].said, "locus: one");
	assert_int_equal(repeat.runs[0].stderr_bytes, 0);
}

static void a_run_that_failed_has_no_say_in_the_output_and_says_why(void **state)
{
	add("a\n", "no such file\nmore\n");
	add("a\n", "");
	add("b\n", "");
	lc_repeat_leave_out(&repeat.runs[0], LC_REPEAT_FAILED, lc_mem_text("status 1"));
	lc_repeat_leave_out(&repeat.runs[1], LC_REPEAT_FAILED, lc_mem_text("status 1"));
	lc_repeat_judge_output(&repeat, false, false);
	assert_int_equal(repeat.runs[2].state, LC_REPEAT_COUNTED);
	assert_int_equal(repeat.runs[0].state, LC_REPEAT_FAILED);
	assert_string_equal(repeat.runs[0].why, "status 1; on standard error: no such file");
	assert_string_equal(repeat.runs[1].why, "status 1");
}

/* ---- runs.json ---- */

static void what_is_known_of_runs_is_read_as_it_was_written(void **state)
{
	char *command[] = { "java", "-cp", "a b", NULL };
	struct lc_repeat_request q = { .command = command, .directory = top };
	char *record = lc_mem_text("%s/" LC_REPEAT_RECORD, top);
	struct lc_repeat read;

	add("", "");
	add("", "");
	repeat.asked = 7;
	repeat.runs[0].wall_ns = 1.5e9;
	repeat.runs[0].cpu_ns = 2e9;
	lc_repeat_leave_out(&repeat.runs[1], LC_REPEAT_TIMED_OUT, lc_mem_text("too long"));
	assert_false(lc_repeat_record_in(top));
	assert_int_equal(lc_repeat_record_write(&repeat, &q), 0);
	assert_true(lc_repeat_record_in(top));
	lc_repeat_init(&read);
	assert_int_equal(lc_repeat_record_read(&read, top), 0);
	assert_int_equal(read.runs_len, 2);
	assert_int_equal(read.asked, 7);
	assert_string_equal(read.command, "java -cp a b");
	assert_true(read.runs[0].wall_ns == 1.5e9 && read.runs[0].cpu_ns == 2e9);
	assert_true(read.runs[1].wall_ns < 0);
	assert_int_equal(read.runs[0].state, LC_REPEAT_COUNTED);
	assert_int_equal(read.runs[1].state, LC_REPEAT_TIMED_OUT);
	assert_string_equal(read.runs[1].why, "too long");
	assert_string_equal(read.runs[1].directory, repeat.runs[1].directory);
	lc_repeat_free(&read);
	unlink(record);
	free(record);
}

static void a_record_that_is_none_is_refused_and_odd_values_are_unknown(void **state)
{
	static const char *const bad[] = { "", "[]", "{\"format\":2,\"runs\":[]}",
		                           "{\"format\":1,\"runs\":3}", "{\"format\":1" };
	char *path = lc_mem_text("%s/" LC_REPEAT_RECORD, top);
	struct lc_repeat read;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		put(top, LC_REPEAT_RECORD, bad[i]);
		lc_repeat_init(&read);
		assert_int_equal(lc_repeat_record_read(&read, top), 1);
		assert_int_equal(read.runs_len, 0);
		lc_repeat_free(&read);
	}
	put(top, LC_REPEAT_RECORD,
	    "{\"format\":1,\"asked\":-5,\"command\":[1,\"x\"],\"runs\":"
	    "[{\"wall_ns\":-3,\"cpu_ns\":\"2\",\"state\":7},7,{\"state\":\"failed\"}]}");
	lc_repeat_init(&read);
	assert_int_equal(lc_repeat_record_read(&read, top), 0);
	assert_int_equal(read.runs_len, 3);
	assert_int_equal(read.asked, 0);
	assert_true(read.runs[0].wall_ns < 0 && read.runs[0].cpu_ns < 0);
	assert_int_equal(read.runs[2].state, LC_REPEAT_FAILED);
	assert_string_equal(read.runs[2].why, "failed");
	lc_repeat_free(&read);
	unlink(path);
	free(path);
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILES(the_output_that_most_runs_have_is_the_right_one),
		WITH_FILES(of_equally_many_the_first_runs_output_is_the_right_one),
		WITH_FILES(runs_that_all_differ_are_said_to),
		WITH_FILES(any_output_counts_where_that_is_asked_for),
		WITH_FILES(a_run_that_wrote_to_stderr_is_left_out_and_has_no_say_in_the_output),
		WITH_FILES(stderr_counts_where_that_is_asked_for),
		WITH_FILES(what_locus_says_is_kept_and_not_the_programs),
		WITH_FILES(a_run_that_failed_has_no_say_in_the_output_and_says_why),
		WITH_FILES(what_is_known_of_runs_is_read_as_it_was_written),
		WITH_FILES(a_record_that_is_none_is_refused_and_odd_values_are_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
