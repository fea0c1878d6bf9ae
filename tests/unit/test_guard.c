/* uses: src/jvm/os/guard.c src/jvm/os/peek.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_guard.c - checks that a fault ends the guarded function only, and others' faults pass on. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cmocka.h>

#include "src/jvm/os/guard.h"
#include "src/jvm/os/peek.h"

static volatile char *gone; /* a page without access */

static sigjmp_buf passed_on;
static volatile int passed; /* faults that reached the handler that was there before */

static void old_handler(int sig, siginfo_t *info, void *context)
{
	passed++;
	siglongjmp(passed_on, 1);
}

/* The JVM's: takes faults where jvm_takes says so, by letting the page be read. */
static volatile int jvm_takes, jvm_asked;

static int jvm_handler(int sig, siginfo_t *info, void *context, int abort)
{
	assert_int_equal(abort, 0);
	jvm_asked++;
	if (jvm_takes)
		mprotect((void *)(uintptr_t)gone, 4096, PROT_READ);
	return jvm_takes;
}

static volatile bool of_the_jvm; /* whether what faults is its code */

static bool is_jvm_code(uint64_t pc)
{
	return of_the_jvm;
}

static struct sigaction ours[2]; /* as lc_peek_catch_faults() has left them */

static int begin(void **state)
{
	struct sigaction old = { .sa_sigaction = old_handler, .sa_flags = SA_SIGINFO };

	gone = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &old, NULL);
	sigaction(SIGBUS, &old, NULL);
	lc_guard_init(jvm_handler, is_jvm_code);
	if (gone == MAP_FAILED || lc_peek_catch_faults())
		return -1;
	sigaction(SIGSEGV, NULL, &ours[0]);
	sigaction(SIGBUS, NULL, &ours[1]);
	return 0;
}

/* Cmocka has handlers of its own around each test. */
static void take_over(void)
{
	sigaction(SIGSEGV, &ours[0], NULL);
	sigaction(SIGBUS, &ours[1], NULL);
}

static void reads_gone(void *arg)
{
	*(volatile int *)arg = 1;
	*(volatile int *)arg += *gone;
	*(volatile int *)arg = 2;
}

static void a_fault_ends_the_function_and_is_counted(void **state)
{
	const uint64_t before = lc_guard_faults();
	volatile int done = 0;

	take_over();
	for (int i = 1; i <= 3; i++) {
		assert_false(lc_guard_run(reads_gone, (void *)(uintptr_t)&done));
		assert_int_equal(done, 1);
		assert_int_equal(lc_guard_faults() - before, i);
	}
	assert_int_equal(passed, 0);
}

static void sets(void *arg)
{
	*(int *)arg = 7;
}

static void without_a_fault_it_is_a_call(void **state)
{
	int done = 0;

	take_over();
	assert_true(lc_guard_run(sets, &done));
	assert_int_equal(done, 7);
}

static void nests(void *arg)
{
	volatile int inner = 0;

	assert_false(lc_guard_run(reads_gone, (void *)(uintptr_t)&inner));
	*(volatile int *)arg = 1;
	*(volatile int *)arg += *gone;
	*(volatile int *)arg = 2;
}

static void the_innermost_guard_catches(void **state)
{
	volatile int done = 0;

	take_over();
	assert_false(lc_guard_run(nests, (void *)(uintptr_t)&done));
	assert_int_equal(done, 1);
}

static void outside_the_old_handler_gets_it(void **state)
{
	volatile int done = 0;
	const uint64_t before = lc_guard_faults();
	const int asked = jvm_asked;

	take_over();
	passed = 0;
	if (!sigsetjmp(passed_on, 1))
		reads_gone((void *)(uintptr_t)&done);
	assert_int_equal(passed, 1);
	assert_int_equal(jvm_asked, asked);
	assert_int_equal(lc_guard_faults(), before);
}

static void interrupted(void *arg)
{
	const void *was = lc_guard_interrupt();
	volatile int done = 0;

	if (!sigsetjmp(passed_on, 1))
		reads_gone((void *)(uintptr_t)&done);
	lc_guard_go_on(was);
	reads_gone((void *)(uintptr_t)&done);
}

static void a_handler_is_not_guarded_by_what_it_interrupts(void **state)
{
	take_over();
	passed = 0;
	assert_false(lc_guard_run(interrupted, NULL));
	assert_int_equal(passed, 1);
}

static void raises(void *arg)
{
	if (!sigsetjmp(passed_on, 1))
		raise(SIGSEGV);
}

static void a_signal_that_was_sent_is_no_fault(void **state)
{
	take_over();
	passed = 0;
	assert_true(lc_guard_run(raises, NULL));
	assert_int_equal(passed, 1);
}

static void the_mask_of_the_thread_is_kept(void **state)
{
	volatile int done = 0;
	sigset_t mask, after;

	take_over();
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	assert_false(lc_guard_run(reads_gone, (void *)(uintptr_t)&done));
	sigprocmask(SIG_SETMASK, NULL, &after);
	assert_true(sigismember(&after, SIGUSR2));
	assert_false(sigismember(&after, SIGSEGV));
	assert_false(sigismember(&after, SIGUSR1));
}

static void the_jvm_is_asked_about_its_own_code_only(void **state)
{
	volatile int done = 0;
	int asked = jvm_asked;

	take_over();
	jvm_takes = 1;
	assert_false(lc_guard_run(reads_gone, (void *)(uintptr_t)&done));
	assert_int_equal(jvm_asked, asked);
	jvm_takes = 0;
	of_the_jvm = true;
	assert_false(lc_guard_run(reads_gone, (void *)(uintptr_t)&done));
	assert_int_equal(jvm_asked, asked + 1);
	of_the_jvm = false;
}

/* Last: the page can be read from then on. */
static void a_fault_that_the_jvm_takes_is_its_own(void **state)
{
	const uint64_t before = lc_guard_faults();
	volatile int done = 0;

	take_over();
	jvm_takes = 1;
	of_the_jvm = true;
	assert_true(lc_guard_run(reads_gone, (void *)(uintptr_t)&done));
	assert_int_equal(done, 2);
	assert_int_equal(lc_guard_faults(), before);
}

int main(void)
{
#ifdef __SANITIZE_THREAD__
	/* It has handlers of its own for these signals, and this test has one thread. */
	puts("skipped");
	return 0;
#endif
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fault_ends_the_function_and_is_counted),
		cmocka_unit_test(without_a_fault_it_is_a_call),
		cmocka_unit_test(the_innermost_guard_catches),
		cmocka_unit_test(outside_the_old_handler_gets_it),
		cmocka_unit_test(a_handler_is_not_guarded_by_what_it_interrupts),
		cmocka_unit_test(a_signal_that_was_sent_is_no_fault),
		cmocka_unit_test(the_mask_of_the_thread_is_kept),
		cmocka_unit_test(the_jvm_is_asked_about_its_own_code_only),
		cmocka_unit_test(a_fault_that_the_jvm_takes_is_its_own),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
