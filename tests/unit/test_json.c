/* uses: analyzer/out/json.c analyzer/model/tree.c analyzer/model/path_times.c analyzer/base/table.c analyzer/base/memory.c -ljansson */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_json.c - checks that the writer of JSON sets commas, nests, escapes, and ends a program that
 * misuses it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/base/memory.h"
#include "analyzer/out/json.h"

static struct lc_json j;
static char *text;
static size_t len;

static void begin(void)
{
	lc_json_init(&j, lc_text_open(&text, &len));
}

/* The output is JSON of this text. */
static void assert_written(const char *wanted)
{
	json_t *read;

	lc_json_finish(&j);
	lc_mem_close_text(j.out);
	assert_string_equal(text, wanted);
	read = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	assert_non_null(read);
	json_decref(read);
	free(text);
	text = NULL;
}

static void commas_stand_between_values_and_nowhere_else(void **state)
{
	begin();
	lc_json_object(&j, NULL);
	lc_json_u64(&j, "a", 1);
	lc_json_array(&j, "b");
	lc_json_end_array(&j);
	lc_json_array(&j, "c");
	lc_json_u64(&j, NULL, 2);
	lc_json_object(&j, NULL);
	lc_json_end_object(&j);
	lc_json_object(&j, NULL);
	lc_json_null(&j, "d");
	lc_json_bool(&j, "e", true);
	lc_json_end_object(&j);
	lc_json_bool(&j, NULL, false);
	lc_json_end_array(&j);
	lc_json_i64(&j, "f", -3);
	lc_json_end_object(&j);
	assert_written("{\"a\":1,\"b\":[],\"c\":[2,{},{\"d\":null,\"e\":true},false],\"f\":-3}");
}

static void a_single_value_is_a_document(void **state)
{
	begin();
	lc_json_string(&j, NULL, "alone");
	assert_written("\"alone\"");
}

static void a_line_begins_behind_a_comma_only(void **state)
{
	begin();
	lc_json_array(&j, NULL);
	for (unsigned i = 0; i < 3; i++) {
		lc_json_line(&j, i);
		lc_json_array(&j, NULL);
		lc_json_u64(&j, NULL, i);
		lc_json_u64(&j, NULL, i);
		lc_json_end_array(&j);
	}
	lc_json_line(&j, 7); /* nothing follows: forgotten */
	lc_json_end_array(&j);
	assert_written("[[0,0],\n [1,1],\n  [2,2]]");
}

static void numbers_keep_all_their_digits(void **state)
{
	begin();
	lc_json_array(&j, NULL);
	lc_json_u64(&j, NULL, UINT64_MAX);
	lc_json_i64(&j, NULL, INT64_MIN);
	lc_json_real(&j, NULL, 0.1);
	lc_json_real(&j, NULL, 1e300);
	lc_json_fixed(&j, NULL, 2.5e15, 0);
	lc_json_fixed(&j, NULL, 1.25, 4);
	lc_json_thousandths(&j, NULL, 1234005);
	lc_json_thousandths(&j, NULL, -7);
	lc_json_thousandths(&j, NULL, INT64_MIN);
	lc_json_id(&j, NULL, 0xabc);
	lc_json_end_array(&j);
	lc_json_finish(&j);
	lc_mem_close_text(j.out);
	assert_string_equal(text, "[18446744073709551615,-9223372036854775808,0.10000000000000001,"
	                          "1.0000000000000001e+300,2500000000000000,1.2500,1234.005,-0.007,"
	                          "-9223372036854775.808,\"0000000000000abc\"]");
	free(text);
}

static void what_is_no_number_is_null(void **state)
{
	begin();
	lc_json_array(&j, NULL);
	lc_json_real(&j, NULL, NAN);
	lc_json_real(&j, NULL, INFINITY);
	lc_json_fixed(&j, NULL, -INFINITY, 1);
	lc_json_known(&j, NULL, -1);
	lc_json_known(&j, NULL, 0);
	lc_json_real(&j, NULL, -1);
	lc_json_string(&j, NULL, NULL);
	lc_json_end_array(&j);
	assert_written("[null,null,null,null,0,-1,null]");
}

static void text_is_escaped_in_values_and_names(void **state)
{
	begin();
	lc_json_object(&j, NULL);
	lc_json_string(&j, "quote\"back\\slash\nline", "</script>\x7f\t");
	lc_json_string(&j, "caf\xc3\xa9", "\xe2\x80\xa8 \xf0\x9f\x98\x80");
	lc_json_text(&j, "", (struct lc_text){ "a\0b", 3 });
	lc_json_text(&j, "none", (struct lc_text){ NULL, 0 });
	lc_json_end_object(&j);
	assert_written("{\"quote\\\"back\\\\slash\\u000aline\":\"\\u003c/script>\\u007f\\u0009\","
	               "\"caf\xc3\xa9\":\"\\u2028 \xf0\x9f\x98\x80\","
	               "\"\":\"a\\u0000b\",\"none\":\"\"}");
}

static void bytes_that_are_no_utf_8_become_replacement_characters(void **state)
{
	char all[256], *bytes = all;
	json_t *read;

	for (unsigned i = 0; i < 256; i++)
		all[i] = (char)(255 - i);
	for (unsigned n = 0; n < 256; n++) { /* each end cuts another sequence */
		begin();
		lc_json_text(&j, NULL, (struct lc_text){ bytes, n });
		lc_json_finish(&j);
		lc_mem_close_text(j.out);
		read = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
		assert_non_null(read);
		assert_null(strchr(text, '<'));
		json_decref(read);
		free(text);
	}
	begin();
	lc_json_string(&j, NULL, "\xff");
	assert_written("\"\xef\xbf\xbd\"");
}

static void a_path_is_written_from_its_leaf(void **state)
{
	struct lc_tree t;
	uint32_t method[LC_METHOD_KEY], frame[LC_FRAME_KEY], path[LC_PATH_KEY] = { 0, 0 };

	lc_tree_init(&t);
	method[LC_METHOD_CLASS] = lc_tree_string(&t, "A", 1);
	method[LC_METHOD_NAME] = lc_tree_string(&t, "b", 1);
	method[LC_METHOD_SIGNATURE] = 0;
	method[LC_METHOD_FILE] = 0;
	frame[LC_FRAME_METHOD] = lc_table_put(&t.methods, method);
	for (uint32_t i = 0; i < 2; i++) {
		frame[LC_FRAME_BCI1] = 3 * i;
		frame[LC_FRAME_LINE1] = i;
		path[LC_PATH_FRAME] = lc_table_put(&t.frames, frame);
		path[LC_PATH_PARENT] = lc_table_put(&t.paths, path);
	}
	begin();
	lc_json_object(&j, NULL);
	lc_json_path(&j, "root", &t, 0);
	lc_json_path(&j, "path", &t, path[LC_PATH_PARENT]);
	lc_json_end_object(&j);
	assert_written("{\"root\":[],\"path\":["
	               "{\"class\":\"A\",\"method\":\"b\",\"line\":0,\"file\":\"\",\"bci\":2},"
	               "{\"class\":\"A\",\"method\":\"b\",\"line\":-1,\"file\":\"\",\"bci\":-1}]}");
	lc_tree_free(&t);
}

/* ---- misuse, each in a process of its own that assert() ends ---- */

static void member_without_a_name(void)
{
	lc_json_object(&j, NULL);
	lc_json_u64(&j, NULL, 1);
}

static void element_with_a_name(void)
{
	lc_json_array(&j, NULL);
	lc_json_u64(&j, "name", 1);
}

static void outermost_with_a_name(void)
{
	lc_json_u64(&j, "name", 1);
}

static void two_documents(void)
{
	lc_json_u64(&j, NULL, 1);
	lc_json_u64(&j, NULL, 2);
}

static void array_ended_as_object(void)
{
	lc_json_array(&j, NULL);
	lc_json_end_object(&j);
}

static void object_ended_as_array(void)
{
	lc_json_object(&j, NULL);
	lc_json_end_array(&j);
}

static void ended_too_often(void)
{
	lc_json_array(&j, NULL);
	lc_json_end_array(&j);
	lc_json_end_array(&j);
}

static void finished_too_early(void)
{
	lc_json_array(&j, NULL);
	lc_json_finish(&j);
}

static void finished_without_a_value(void)
{
	lc_json_finish(&j);
}

static void too_deep(void)
{
	for (unsigned i = 0; i <= LC_JSON_DEPTH; i++)
		lc_json_array(&j, NULL);
}

static bool is_aborted(void (*misuse)(void))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		signal(SIGABRT, SIG_DFL);
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		begin();
		misuse();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void as_deep_as_allowed(void)
{
	for (unsigned i = 0; i < LC_JSON_DEPTH; i++)
		lc_json_array(&j, NULL);
	for (unsigned i = 0; i < LC_JSON_DEPTH; i++)
		lc_json_end_array(&j);
	lc_json_finish(&j);
}

static void misuse_ends_the_program(void **state)
{
	assert_true(is_aborted(member_without_a_name));
	assert_true(is_aborted(element_with_a_name));
	assert_true(is_aborted(outermost_with_a_name));
	assert_true(is_aborted(two_documents));
	assert_true(is_aborted(array_ended_as_object));
	assert_true(is_aborted(object_ended_as_array));
	assert_true(is_aborted(ended_too_often));
	assert_true(is_aborted(finished_too_early));
	assert_true(is_aborted(finished_without_a_value));
	assert_true(is_aborted(too_deep));
	assert_false(is_aborted(as_deep_as_allowed));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_stand_between_values_and_nowhere_else),
		cmocka_unit_test(a_single_value_is_a_document),
		cmocka_unit_test(a_line_begins_behind_a_comma_only),
		cmocka_unit_test(numbers_keep_all_their_digits),
		cmocka_unit_test(what_is_no_number_is_null),
		cmocka_unit_test(text_is_escaped_in_values_and_names),
		cmocka_unit_test(bytes_that_are_no_utf_8_become_replacement_characters),
		cmocka_unit_test(a_path_is_written_from_its_leaf),
		cmocka_unit_test(misuse_ends_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
