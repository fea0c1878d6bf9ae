/* uses: src/sample/signals.c src/sample/chain.c src/jvm/os/guard.c src/jvm/os/peek.c */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_signals.c - checks that the engines' signals are handled one at a time, and that others'
 * signals are passed on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/sample/sampler.h"
#include "src/sample/signals.h"

static volatile sig_atomic_t foreign, timer_calls, perf_calls, before_calls;
static bool mine = true;
static sigset_t inside;

void lc_sampler_add(enum lc_sampler_count what, uint64_t n)
{
	if (what == LC_SAMPLER_FOREIGN)
		foreign += (sig_atomic_t)n;
}

static bool on_timer(const siginfo_t *info, void *context)
{
	timer_calls += mine;
	sigprocmask(SIG_SETMASK, NULL, &inside);
	return mine;
}

static bool on_perf(const siginfo_t *info, void *context)
{
	perf_calls++;
	return true;
}

static void before(int sig)
{
	before_calls++;
}

/* The program has taken all that we would have liked: two of our signals share SIGPROF. */
static int use_both(void **state)
{
	struct sigaction theirs = { .sa_handler = before };

	sigaction(SIGPROF, &theirs, NULL);
	sigaction(SIGSTKFLT, &theirs, NULL);
	sigaction(SIGPWR, &theirs, NULL);
	for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig++)
		sigaction(sig, &theirs, NULL);
	assert_int_equal(lc_signals_use(LC_SIGNAL_TIMER, on_timer), 0);
	assert_int_equal(lc_signals_use(LC_SIGNAL_TIMER, on_timer), 0);
	assert_int_equal(lc_signals_use(LC_SIGNAL_PERF, on_perf), 0);
	return 0;
}

static void signals_may_share_a_number(void **state)
{
	assert_int_equal(lc_signals_number(LC_SIGNAL_TIMER), SIGPROF);
	assert_int_equal(lc_signals_number(LC_SIGNAL_PERF), SIGPROF);
	mine = true;
	raise(SIGPROF);
	assert_int_equal(timer_calls, 1);
	assert_int_equal(perf_calls, 0);
	mine = false;
	raise(SIGPROF);
	assert_int_equal(timer_calls, 1);
	assert_int_equal(perf_calls, 1);
	assert_int_equal(before_calls, 0);
}

static void the_others_are_blocked_in_a_handler(void **state)
{
	mine = true;
	raise(SIGPROF);
	assert_int_equal(sigismember(&inside, SIGPROF), 1);
	assert_int_equal(sigismember(&inside, SIGTRAP), 1);
#ifndef __SANITIZE_THREAD__ /* which blocks all signals in a handler */
	assert_int_equal(sigismember(&inside, SIGUSR1), 0);
#endif
}

static bool refuses(const siginfo_t *info, void *context)
{
	return false;
}

static void what_nobody_claims_goes_to_the_handler_before(void **state)
{
	struct sigaction theirs = { .sa_handler = before };

	sigaction(SIGTRAP, &theirs, NULL);
	assert_int_equal(lc_signals_use(LC_SIGNAL_TRAP, refuses), 0);
	assert_true(lc_signals_installed(LC_SIGNAL_TRAP));
	before_calls = foreign = 0;
	raise(SIGTRAP);
	assert_int_equal(before_calls, 1);
	assert_int_equal(foreign, 1);
	sigaction(SIGTRAP, &theirs, NULL);
	assert_false(lc_signals_installed(LC_SIGNAL_TRAP));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signals_may_share_a_number),
		cmocka_unit_test(the_others_are_blocked_in_a_handler),
		cmocka_unit_test(what_nobody_claims_goes_to_the_handler_before),
	};

	return cmocka_run_group_tests(tests, use_both, NULL);
}
