/* uses: src/base/say.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_say.c - checks where lines for the user go: those of a command's thread to who asked, all
 * others to stderr. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "src/base/say.h"

static char text[200];

/* The output of f on stderr. */
static const char *said_on_stderr(void (*f)(void))
{
	const int before = dup(STDERR_FILENO);
	int ends[2];
	ssize_t len;

	assert_int_equal(pipe(ends), 0);
	assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
	f();
	assert_true(dup2(before, STDERR_FILENO) >= 0);
	close(before);
	close(ends[1]);
	len = read(ends[0], text, sizeof(text) - 1);
	close(ends[0]);
	assert_true(len >= 0);
	text[len] = '\0';
	return text;
}

static void *other_thread(void *arg)
{
	lc_say("a limit is %s", "reached");
	lc_say_answer("nobody asked");
	return NULL;
}

static int answer[2];

static void answer_while_another_thread_speaks(void)
{
	pthread_t thread;

	lc_say_to(answer[1]);
	lc_say("said");
	assert_int_equal(pthread_create(&thread, NULL, other_thread, NULL), 0);
	pthread_join(thread, NULL);
	lc_say_answer("answered");
	lc_say_to(-1);
	lc_say("later");
}

static void the_answer_is_what_its_own_thread_says(void **state)
{
	char got[200];
	ssize_t len;

	assert_int_equal(pipe(answer), 0);
	assert_string_equal(said_on_stderr(answer_while_another_thread_speaks),
	                    "locus: a limit is reached\nlocus: later\n");
	len = read(answer[0], got, sizeof(got) - 1);
	assert_true(len > 0);
	got[len] = '\0';
	assert_string_equal(got, "said\nanswered\n");
	close(answer[0]);
	close(answer[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_answer_is_what_its_own_thread_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
