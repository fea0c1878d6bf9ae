/* uses: src/jvm/os/signal_frame.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_signal_frame.c - checks that a running signal handler is seen, and one that has ended is
 * not. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/jvm/os/signal_frame.h"

enum { DEEP_BYTES = 16384 };

static uint64_t top; /* of what is searched */
static volatile bool seen;

static __attribute__((noinline)) bool in_handler(void)
{
	return lc_signal_frame_between((uintptr_t)__builtin_frame_address(0), top);
}

static void on_signal(int signal)
{
	seen = in_handler();
}

/* Below the frames of a handler that runs deeper. */
static __attribute__((noinline)) void be_interrupted_deep(int signal)
{
	volatile char deep[DEEP_BYTES / 2];

	deep[0] = deep[sizeof(deep) - 1] = 0;
	assert_int_equal(raise(signal), 0);
	assert_int_equal(deep[0], 0);
}

/* An array that nobody has written holds the leftovers of an earlier handler. */
static __attribute__((noinline)) bool over_what_is_left(void)
{
	volatile char unwritten[DEEP_BYTES];
	bool found;

	unwritten[0] = 0;
	found = in_handler();
	return found || unwritten[0];
}

static int setup(void **state)
{
	struct sigaction action = { .sa_handler = on_signal };

	seen = false;
	return sigaction(SIGUSR1, &action, NULL);
}

static void a_handler_that_runs_is_seen(void **state)
{
	top = (uintptr_t)__builtin_frame_address(0);
	assert_false(in_handler());
	assert_int_equal(raise(SIGUSR1), 0);
	assert_true(seen);
}

static void a_handler_that_has_ended_is_not(void **state)
{
	top = (uintptr_t)__builtin_frame_address(0);
	be_interrupted_deep(SIGUSR1);
	assert_true(seen);
	assert_false(over_what_is_left());
}

static void too_much_or_nothing_to_search_may_have_one(void **state)
{
	assert_true(lc_signal_frame_between(0x1000, 0x800));
	assert_true(lc_signal_frame_between(0x1000, UINT64_C(1) << 40));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_handler_that_runs_is_seen, setup),
		cmocka_unit_test_setup(a_handler_that_has_ended_is_not, setup),
		cmocka_unit_test(too_much_or_nothing_to_search_may_have_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
