/* uses: src/base/limit.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_limit.c - checks that each limit is said once and kept for the manifest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "src/base/limit.h"
#include "src/base/say.h"

static char said[8][LC_LIMIT_TEXT_MAX];
static _Atomic unsigned said_len;

void lc_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(said[said_len++ % 8], LC_LIMIT_TEXT_MAX, format, args);
	va_end(args);
}

static int forget(void **state)
{
	lc_limits_forget();
	said_len = 0;
	return 0;
}

static void a_limit_is_said_once_and_kept_with_its_first_text(void **state)
{
	struct lc_limit out[LC_LIMITS_MAX];

	assert_true(lc_limit_reached("paths", "%d paths", 7));
	assert_false(lc_limit_reached("paths", "%d paths", 8));
	assert_true(lc_limit_reached("files", "no file"));
	assert_int_equal(said_len, 2);
	assert_string_equal(said[0], "7 paths");
	assert_int_equal(lc_limits(out), 2);
	assert_string_equal(out[0].kind, "paths");
	assert_string_equal(out[0].text, "7 paths");
	assert_string_equal(out[1].kind, "files");
}

static void what_is_noted_is_said_later_and_once(void **state)
{
	struct lc_limit out[LC_LIMITS_MAX];

	assert_true(lc_limit_note("queue", "full"));
	assert_int_equal(said_len, 0);
	assert_int_equal(lc_limits(out), 1);
	lc_limits_say();
	lc_limits_say();
	assert_int_equal(said_len, 1);
	assert_string_equal(said[0], "full");
	assert_false(lc_limit_reached("queue", "again"));
	assert_int_equal(said_len, 1);
	lc_limit_note("later", "too");
	lc_limits_say();
	assert_int_equal(said_len, 2);
}

static void a_new_recording_has_reached_none(void **state)
{
	struct lc_limit out[LC_LIMITS_MAX];

	lc_limit_reached("paths", "first");
	lc_limits_forget();
	assert_int_equal(lc_limits(out), 0);
	assert_true(lc_limit_reached("paths", "second"));
	assert_string_equal(said[1], "second");
}

static void more_kinds_than_there_is_room_for_are_left_out(void **state)
{
	struct lc_limit out[LC_LIMITS_MAX];
	char kind[16];

	for (int i = 0; i < LC_LIMITS_MAX + 3; i++) {
		snprintf(kind, sizeof(kind), "kind_%d", i);
		assert_int_equal(lc_limit_note(kind, "text"), i < LC_LIMITS_MAX);
	}
	assert_int_equal(lc_limits(out), LC_LIMITS_MAX);
}

static void a_long_text_is_cut(void **state)
{
	struct lc_limit out[LC_LIMITS_MAX];
	char text[LC_LIMIT_TEXT_MAX * 2];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	lc_limit_note(text, "%s", text);
	assert_int_equal(lc_limits(out), 1);
	assert_int_equal(strlen(out[0].kind), LC_LIMIT_KIND_MAX - 1);
	assert_int_equal(strlen(out[0].text), LC_LIMIT_TEXT_MAX - 1);
}

static void *reach(void *unused)
{
	for (int i = 0; i < 1000; i++)
		lc_limit_reached("shared", "text");
	return NULL;
}

static void of_many_threads_one_says_it(void **state)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, reach, NULL), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(said_len, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_limit_is_said_once_and_kept_with_its_first_text, forget),
		cmocka_unit_test_setup(what_is_noted_is_said_later_and_once, forget),
		cmocka_unit_test_setup(a_new_recording_has_reached_none, forget),
		cmocka_unit_test_setup(more_kinds_than_there_is_room_for_are_left_out, forget),
		cmocka_unit_test_setup(a_long_text_is_cut, forget),
		cmocka_unit_test_setup(of_many_threads_one_says_it, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
