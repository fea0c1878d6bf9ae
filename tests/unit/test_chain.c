/* uses: src/sample/chain.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_chain.c - checks that a signal that is not ours ends as it would have ended without us. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/sample/chain.h"

static struct lc_chain chain;
static volatile sig_atomic_t plain_calls, info_calls, usr1_blocked, self_blocked, trap_blocked;

static void ours(int sig, siginfo_t *info, void *context)
{
	lc_chain_call(&chain, sig, info, context);
}

static void note_mask(int sig)
{
	sigset_t now;

	sigprocmask(SIG_SETMASK, NULL, &now);
	usr1_blocked = sigismember(&now, SIGUSR1);
	trap_blocked = sigismember(&now, SIGTRAP);
	self_blocked = sigismember(&now, sig);
}

static void plain(int sig)
{
	plain_calls++;
	note_mask(sig);
}

static void with_info(int sig, siginfo_t *info, void *context)
{
	if (info && context && info->si_signo == sig)
		info_calls++;
	note_mask(sig);
}

static const sigset_t *trap_only(void)
{
	static sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	return &set;
}

static void install_over(struct sigaction *before)
{
	memset(&chain, 0, sizeof(chain));
	assert_int_equal(sigaction(SIGPROF, before, NULL), 0);
	assert_int_equal(lc_chain_install(&chain, SIGPROF, ours, trap_only()), 0);
}

static void handlers_of_both_kinds_are_called(void **state)
{
	struct sigaction a = { .sa_handler = plain };
	struct sigaction b = { .sa_flags = SA_SIGINFO };

	install_over(&a);
	raise(SIGPROF);
	assert_int_equal(plain_calls, 1);
	b.sa_sigaction = with_info;
	install_over(&b);
	raise(SIGPROF);
	assert_int_equal(info_calls, 1);
	assert_int_equal(plain_calls, 1);
}

static void old_handler_runs_with_its_own_mask(void **state)
{
	struct sigaction a = { .sa_handler = plain };
	sigset_t now;

	sigaddset(&a.sa_mask, SIGUSR1);
	install_over(&a);
	raise(SIGPROF);
	assert_int_equal(usr1_blocked, 1);
	assert_int_equal(self_blocked, 1);
	assert_int_equal(trap_blocked, 0); /* only our handler asks for that */
	sigemptyset(&a.sa_mask);
	a.sa_flags = SA_NODEFER;
	install_over(&a);
	raise(SIGPROF);
	assert_int_equal(usr1_blocked, 0);
	assert_int_equal(self_blocked, 0);
	sigprocmask(SIG_SETMASK, NULL, &now);
	assert_int_equal(sigismember(&now, SIGUSR1), 0);
	assert_int_equal(sigismember(&now, SIGPROF), 0);
}

static void ignored_stays_ignored(void **state)
{
	struct sigaction a = { .sa_handler = SIG_IGN };

	install_over(&a);
	raise(SIGPROF);
	raise(SIGPROF);
}

/* The signal that ends a child which gets `times` signals over `before`, or 0. */
static int death_of_child(struct sigaction *before, int times)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		install_over(before);
		while (times--)
			raise(SIGPROF);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void default_action_still_ends_the_process(void **state)
{
	struct sigaction a = { .sa_handler = SIG_DFL };

	assert_int_equal(death_of_child(&a, 1), SIGPROF);
}

static void one_shot_handler_is_called_once_and_then_the_default(void **state)
{
	struct sigaction a = { .sa_handler = plain, .sa_flags = (int)SA_RESETHAND };

	assert_int_equal(death_of_child(&a, 1), 0);
	assert_int_equal(death_of_child(&a, 2), SIGPROF);
}

static void second_installation_is_refused(void **state)
{
	struct sigaction a = { .sa_handler = plain };

	install_over(&a);
	assert_int_equal(lc_chain_install(&chain, SIGPROF, ours, trap_only()), -EALREADY);
	assert_int_equal(lc_chain_install(&chain, SIGKILL, ours, NULL), -EINVAL);
}

static void replaced_handler_is_noticed(void **state)
{
	struct sigaction a = { .sa_handler = plain };

	install_over(&a);
	assert_true(lc_chain_installed(SIGPROF, ours));
	sigaction(SIGPROF, &a, NULL);
	assert_false(lc_chain_installed(SIGPROF, ours));
}

static void a_free_signal_is_one_that_nobody_handles(void **state)
{
	int first = lc_chain_free_signal();
	struct sigaction action = { .sa_handler = SIG_IGN }, before;

	assert_true(first > SIGRTMIN && first < SIGRTMAX - 2);
	assert_int_equal(sigaction(first, &action, &before), 0);
	assert_true(before.sa_handler == SIG_DFL);
	assert_int_not_equal(lc_chain_free_signal(), first);
	sigaction(first, &before, NULL);
	assert_int_equal(lc_chain_free_signal(), first);
}

static void a_free_standard_signal_is_never_a_real_time_one(void **state)
{
	struct sigaction handled = { .sa_handler = plain }, free_again = { .sa_handler = SIG_DFL };

	assert_int_equal(lc_chain_free_standard_signal(), SIGSTKFLT);
	sigaction(SIGSTKFLT, &handled, NULL);
	assert_int_equal(lc_chain_free_standard_signal(), SIGPWR);
	sigaction(SIGPWR, &handled, NULL);
	assert_int_equal(lc_chain_free_standard_signal(), SIGPROF);
	sigaction(SIGSTKFLT, &free_again, NULL);
	assert_int_equal(lc_chain_free_standard_signal(), SIGSTKFLT);
	sigaction(SIGPWR, &free_again, NULL);
}

static volatile sig_atomic_t trap_blocked_inside;

static void looks_at_mask(int sig, siginfo_t *info, void *context)
{
	note_mask(sig);
	trap_blocked_inside = trap_blocked;
}

static void our_handler_runs_with_the_given_signals_blocked(void **state)
{
	struct lc_chain other;

	memset(&other, 0, sizeof(other));
	assert_int_equal(lc_chain_install(&other, SIGUSR2, looks_at_mask, trap_only()), 0);
	raise(SIGUSR2);
	assert_int_equal(trap_blocked_inside, 1);
#ifndef __SANITIZE_THREAD__ /* which blocks all signals in a handler */
	assert_int_equal(usr1_blocked, 0);
#endif
	signal(SIGUSR2, SIG_DFL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_free_signal_is_one_that_nobody_handles),
		cmocka_unit_test(a_free_standard_signal_is_never_a_real_time_one),
		cmocka_unit_test(our_handler_runs_with_the_given_signals_blocked),
		cmocka_unit_test(handlers_of_both_kinds_are_called),
		cmocka_unit_test(old_handler_runs_with_its_own_mask),
		cmocka_unit_test(ignored_stays_ignored),
		cmocka_unit_test(default_action_still_ends_the_process),
		cmocka_unit_test(one_shot_handler_is_called_once_and_then_the_default),
		cmocka_unit_test(second_installation_is_refused),
		cmocka_unit_test(replaced_handler_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
