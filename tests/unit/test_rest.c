/* uses: src/attribute/rest.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_rest.c - checks when the attribution thread looks, and how long it sleeps in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/attribute/rest.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)

static struct lc_rest rest;
static struct lc_rest_at at;
static unsigned wakes, looks;

static int setup(void **state)
{
	at = (struct lc_rest_at){ 7 * S, 3 * S };
	wakes = looks = 0;
	lc_rest_begin(&rest, at);
	return 0;
}

/* Like the thread: a block is written by the first look after a second. */
static void wake(bool asked)
{
	wakes++;
	if (!lc_rest_wakes(&rest, at, asked))
		return;
	looks++;
	if (at.time_ns - rest.block.time_ns >= LC_REST_BLOCK_MS * MS)
		lc_rest_writes(&rest, at);
}

/* A program that uses so many ms of CPU time a second runs for so many seconds. */
static void run(uint64_t seconds, uint64_t ms_a_second)
{
	for (const uint64_t end = at.time_ns + seconds * S; at.time_ns < end;) {
		const uint64_t sleep_ns = rest.sleep_ns;

		at.time_ns += sleep_ns;
		at.program_ns += sleep_ns * ms_a_second / 1000;
		wake(false);
	}
}

static void busy_program_is_looked_at_ten_times_a_second(void **state)
{
	run(10, 1900);
	assert_in_range(looks, 99, 101);
	assert_int_equal(wakes, looks);
}

static void idle_program_is_looked_at_every_ten_seconds(void **state)
{
	run(100, 0);
	assert_in_range(looks, 8, 10);
	assert_in_range(wakes, 100, 104);
	setup(state);
	run(100, 1); /* what an idle JVM uses */
	assert_in_range(looks, 8, 10);
}

/* So the looks cost a small part of what the program uses. */
static void each_look_is_worth_twenty_milliseconds_or_a_second(void **state)
{
	run(20, 150);
	assert_in_range(looks, 100, 151);
	setup(state);
	run(20, 50); /* in steps of a second */
	assert_in_range(looks, 19, 22);
	setup(state);
	run(20, 8);
	assert_in_range(looks, 9, 11);
}

static void wake_is_answered_at_once(void **state)
{
	run(10, 0);
	looks = 0;
	at.time_ns += MS;
	wake(true);
	assert_int_equal(looks, 1);
	assert_int_equal(rest.sleep_ns, LC_REST_LONGEST_MS * MS);
}

static void program_that_wakes_up_is_seen_within_a_second(void **state)
{
	run(20, 0);
	looks = 0;
	run(1, 1000);
	assert_int_equal(looks, 1);
	assert_int_equal(rest.sleep_ns, LC_REST_SLEEP_MS * MS);
	run(1, 1000);
	assert_int_equal(looks, 11);
}

/* The loss of a killed program. */
static void block_is_written_a_second_after_work(void **state)
{
	run(20, 0);
	at.time_ns += 100 * MS; /* in which it works, before it rests again */
	at.program_ns += 100 * MS;
	wake(false);
	run(3, 0);
	assert_true(at.program_ns - rest.block.program_ns < LC_REST_LITTLE_MS * MS);
}

static void clock_that_steps_back_does_no_harm(void **state)
{
	run(3, 100);
	at.program_ns -= 2 * S;
	looks = 0;
	run(9, 0);
	assert_in_range(looks, 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(busy_program_is_looked_at_ten_times_a_second, setup),
		cmocka_unit_test_setup(idle_program_is_looked_at_every_ten_seconds, setup),
		cmocka_unit_test_setup(each_look_is_worth_twenty_milliseconds_or_a_second, setup),
		cmocka_unit_test_setup(wake_is_answered_at_once, setup),
		cmocka_unit_test_setup(program_that_wakes_up_is_seen_within_a_second, setup),
		cmocka_unit_test_setup(block_is_written_a_second_after_work, setup),
		cmocka_unit_test_setup(clock_that_steps_back_does_no_harm, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
