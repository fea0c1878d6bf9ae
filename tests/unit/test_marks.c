/* uses: src/agent/marks.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_marks.c - checks which marks a recording has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/agent/agent_end.h"
#include "src/agent/marks.h"
#include "src/base/limit.h"
#include "src/base/time.h"
#include "src/core/reset.h"
#include "src/core/wake.h"

static bool records = true, answers = true;
static uint64_t placed_ns;
static unsigned limits;
static struct lc_program_mark marks[LC_MARKS_MAX + 1];

bool lc_agent_records(void)
{
	return records;
}

/* The same as the attribution thread. */
void lc_wake(void)
{
	if (!answers)
		return;
	placed_ns = lc_time_now_ns();
	assert_true(lc_marks_place(placed_ns));
	lc_marks_divided();
}

bool lc_limit_reached(const char *kind, const char *format, ...)
{
	assert_string_equal(kind, "marks");
	limits++;
	return true;
}

static int next_recording(void **state)
{
	atomic_fetch_add(&lc_reset_recording, 1);
	records = answers = true;
	limits = 0;
	return 0;
}

static void marks_come_in_their_order_with_their_times(void **state)
{
	assert_true(lc_marks_add("one"));
	assert_true(lc_marks_add(""));
	assert_int_equal(lc_marks_copy(marks, LC_MARKS_MAX), 2);
	assert_string_equal(marks[0].name, "one");
	assert_string_equal(marks[1].name, "");
	assert_true(marks[0].time_ns && marks[0].time_ns <= marks[1].time_ns);
	assert_true(marks[1].time_ns == placed_ns);
	assert_false(lc_marks_place(placed_ns + 1));
}

static void a_mark_that_has_no_time_yet_is_in_no_profile(void **state)
{
	const uint64_t begin_ns = lc_time_now_ns();

	answers = false;
	assert_true(lc_marks_add("late"));
	assert_true(lc_time_now_ns() - begin_ns < UINT64_C(10000000000));
	assert_int_equal(lc_marks_copy(marks, LC_MARKS_MAX), 0);
	assert_true(lc_marks_place(77));
	lc_marks_divided();
	assert_int_equal(lc_marks_copy(marks, LC_MARKS_MAX), 1);
	assert_true(marks[0].time_ns == 77);
}

static void without_a_recording_there_are_none(void **state)
{
	records = false;
	assert_false(lc_marks_add("one"));
	assert_int_equal(lc_marks_copy(marks, LC_MARKS_MAX), 0);
}

static void another_recording_begins_without_any(void **state)
{
	assert_true(lc_marks_add("one"));
	next_recording(NULL);
	assert_int_equal(lc_marks_copy(marks, LC_MARKS_MAX), 0);
	assert_true(lc_marks_add("two"));
	assert_int_equal(lc_marks_copy(marks, LC_MARKS_MAX), 1);
	assert_string_equal(marks[0].name, "two");
}

static void a_long_name_is_cut_where_a_character_begins(void **state)
{
	char name[200] = "";

	memset(name, 'x', 119);
	strcat(name, "\xc3\xbc"); /* its second byte is the 121st */
	assert_true(lc_marks_add(name));
	name[119] = '\0';
	assert_true(lc_marks_add(name));
	strcat(name, "y");
	assert_true(lc_marks_add(name));
	strcat(name, "z");
	assert_true(lc_marks_add(name));
	assert_int_equal(lc_marks_copy(marks, LC_MARKS_MAX), 4);
	assert_int_equal(strlen(marks[0].name), 119);
	assert_int_equal(strlen(marks[1].name), 119);
	assert_int_equal(strlen(marks[2].name), 120);
	assert_int_equal(strlen(marks[3].name), 120);
	assert_true(marks[3].name[119] == 'y');
}

static void marks_without_room_are_said_to_be_missing(void **state)
{
	for (unsigned i = 0; i < LC_MARKS_MAX; i++)
		assert_true(lc_marks_add("mark"));
	assert_int_equal(lc_marks_copy(marks, LC_MARKS_MAX), LC_MARKS_MAX);
	assert_int_equal(limits, 0);
	assert_false(lc_marks_add("one more"));
	assert_int_equal(lc_marks_copy(marks, LC_MARKS_MAX), LC_MARKS_MAX);
	assert_int_equal(limits, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(marks_come_in_their_order_with_their_times, next_recording),
		cmocka_unit_test_setup(a_mark_that_has_no_time_yet_is_in_no_profile,
		                       next_recording),
		cmocka_unit_test_setup(without_a_recording_there_are_none, next_recording),
		cmocka_unit_test_setup(another_recording_begins_without_any, next_recording),
		cmocka_unit_test_setup(a_long_name_is_cut_where_a_character_begins, next_recording),
		cmocka_unit_test_setup(marks_without_room_are_said_to_be_missing, next_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
