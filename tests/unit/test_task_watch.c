/* uses: src/span/tasks/task_watch.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_task_watch.c - checks which events of a class of tasks are recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/span/tasks/task_watch.h"

enum { LIMIT = LC_TASK_WATCH_LIMIT, QUIET = LC_TASK_WATCH_QUIET, CALLS = LC_TASK_WATCH_CALLS };

/* Returns the number of the event that changed the state; 0: none did. */
static unsigned create(struct lc_task_watch *w, unsigned n)
{
	for (unsigned i = 1; i <= n; i++)
		if (lc_task_watch_created(w))
			return i;
	return 0;
}

static unsigned call(struct lc_task_watch *w, unsigned n)
{
	for (unsigned i = 1; i <= n; i++)
		if (lc_task_watch_executed(w, LC_TASK_WATCH_RUN_CALL))
			return i;
	return 0;
}

static void objects_that_nobody_uses_make_a_class_quiet(void **state)
{
	struct lc_task_watch w = { 0 };

	assert_int_equal(create(&w, 2 * LIMIT), LIMIT);
	assert_int_equal(lc_task_watch_state(&w), QUIET);
	assert_int_equal(create(&w, 2 * LIMIT), 0);
}

static void executions_by_their_creators_are_calls(void **state)
{
	struct lc_task_watch w = { 0 };

	for (unsigned i = 1; i < LIMIT; i++) {
		assert_int_equal(create(&w, 1), 0);
		assert_int_equal(call(&w, 1), 0);
	}
	assert_int_equal(create(&w, 1), 0);
	assert_int_equal(call(&w, 1), 1);
	assert_int_equal(lc_task_watch_state(&w), QUIET | CALLS);
}

static void a_submission_is_for_good(void **state)
{
	static const uint8_t from[] = { 0, QUIET, QUIET | CALLS };

	for (unsigned i = 0; i < sizeof(from); i++) {
		struct lc_task_watch w = { .state = from[i] };

		assert_true(lc_task_watch_submitted(&w));
		assert_int_equal(lc_task_watch_state(&w), LC_TASK_WATCH_TASKS);
		assert_false(lc_task_watch_submitted(&w));
		assert_int_equal(create(&w, 2 * LIMIT), 0);
		assert_int_equal(call(&w, 2 * LIMIT), 0);
		assert_int_equal(lc_task_watch_state(&w), LC_TASK_WATCH_TASKS);
	}
}

static void so_is_an_execution_by_another_thread(void **state)
{
	struct lc_task_watch w = { 0 };

	assert_int_equal(create(&w, LIMIT), LIMIT);
	assert_true(lc_task_watch_executed(&w, LC_TASK_WATCH_RUN_TASK));
	assert_int_equal(lc_task_watch_state(&w), LC_TASK_WATCH_TASKS);
	assert_false(lc_task_watch_executed(&w, LC_TASK_WATCH_RUN_TASK));
}

/* All were made before the first is executed: only of the next ones it is known by whom. */
static void a_quiet_class_that_is_executed_is_watched_again_for_some_time(void **state)
{
	struct lc_task_watch w = { 0 };
	unsigned again = 0;

	while (create(&w, LIMIT) == LIMIT &&
	       lc_task_watch_executed(&w, LC_TASK_WATCH_RUN_UNKNOWN)) {
		assert_int_equal(lc_task_watch_state(&w), 0);
		again++;
	}
	assert_int_equal(again, LC_TASK_WATCH_AGAIN);
	assert_int_equal(lc_task_watch_state(&w), QUIET);
	assert_false(lc_task_watch_executed(&w, LC_TASK_WATCH_RUN_UNKNOWN));
}

/* While they are executed, their creators must be known. */
static void a_class_that_is_often_executed_does_not_become_quiet_alone(void **state)
{
	struct lc_task_watch w = { 0 };

	for (unsigned i = 0; i < 2 * LIMIT; i++) {
		assert_int_equal(create(&w, 1), 0);
		if (i % (LC_TASK_WATCH_SELDOM / 2) == 0)
			assert_int_equal(call(&w, 1), 0);
	}
	assert_int_equal(lc_task_watch_state(&w), 0);
	assert_int_not_equal(create(&w, LIMIT * LC_TASK_WATCH_SELDOM), 0);
	assert_int_equal(lc_task_watch_state(&w), QUIET);
	assert_int_not_equal(call(&w, LIMIT), 0);
	assert_int_equal(lc_task_watch_state(&w), QUIET | CALLS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_that_nobody_uses_make_a_class_quiet),
		cmocka_unit_test(executions_by_their_creators_are_calls),
		cmocka_unit_test(a_submission_is_for_good),
		cmocka_unit_test(so_is_an_execution_by_another_thread),
		cmocka_unit_test(a_quiet_class_that_is_executed_is_watched_again_for_some_time),
		cmocka_unit_test(a_class_that_is_often_executed_does_not_become_quiet_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
