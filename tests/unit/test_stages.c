/* uses: src/core/stages.c src/base/say.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_stages.c - checks what a user who waits for an attach learns of its stages. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "src/base/say.h"
#include "src/core/stages.h"

static int answer[2];

static int begin_answer(void **state)
{
	assert_int_equal(pipe2(answer, O_NONBLOCK), 0);
	lc_say_to(answer[1]);
	return 0;
}

static int end_answer(void **state)
{
	lc_say_to(-1);
	close(answer[0]);
	close(answer[1]);
	return 0;
}

/* The lines that were written since the last call. */
static const char *told(void)
{
	static char text[1000];
	const ssize_t len = read(answer[0], text, sizeof(text) - 1);

	text[len > 0 ? len : 0] = '\0';
	return text;
}

static const char *now(void)
{
	static char text[LC_STAGE_TEXT_MAX];

	lc_stages_text(text, sizeof(text));
	return text;
}

static void test_each_stage_has_words_and_is_told_at_once(void **state)
{
	for (int stage = LC_STAGE_NONE; stage < LC_STAGES; stage++) {
		lc_stages_begin((enum lc_stage)stage);
		assert_true(strlen(now()) > 5);
		assert_int_equal(strncmp(told(), "progress: ", strlen("progress: ")), 0);
	}
}

static void test_parts_are_those_of_the_current_step(void **state)
{
	lc_stages_begin(LC_STAGE_COSTS);
	assert_string_equal(now(), "measuring the cost of a span");
	lc_stages_parts(LC_STAGE_COSTS, 3, 7);
	assert_string_equal(now(), "measuring the cost of a span: 3 of 7");
	lc_stages_begin(LC_STAGE_CLASSES);
	lc_stages_parts(LC_STAGE_COSTS, 4, 7);
	assert_string_equal(now(), "instrumenting classes");
	lc_stages_parts(LC_STAGE_CLASSES, 20, 70000);
	assert_string_equal(now(), "instrumenting classes: 20 of 70000");
	lc_stages_parts(LC_STAGE_CLASSES, 0, 0);
	assert_string_equal(now(), "instrumenting classes");
}

/* Else the user's command would stop to wait, though the stage goes on. */
static void test_a_long_part_is_told_again_and_again(void **state)
{
	lc_stages_begin(LC_STAGE_COSTS);
	assert_string_equal(told(), "progress: measuring the cost of a span\n");
	for (int i = 0; i < 2; i++) {
		const char *line = "";

		while (!*line) {
			lc_stages_parts(LC_STAGE_COSTS, 3, 7);
			line = told();
		}
		assert_string_equal(line, "progress: measuring the cost of a span: 3 of 7\n");
	}
}

static void test_a_stop_is_seen(void **state)
{
	assert_false(lc_stages_stopped());
	lc_stages_stop();
	assert_true(lc_stages_stopped());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_stage_has_words_and_is_told_at_once,
		                                begin_answer, end_answer),
		cmocka_unit_test_setup_teardown(test_parts_are_those_of_the_current_step,
		                                begin_answer, end_answer),
		cmocka_unit_test_setup_teardown(test_a_long_part_is_told_again_and_again,
		                                begin_answer, end_answer),
		cmocka_unit_test(test_a_stop_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
