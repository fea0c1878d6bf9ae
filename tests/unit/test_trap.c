/* uses: src/sample/trap.c src/core/fds.c src/base/limit.c src/base/say.c src/jvm/os/peek.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_trap.c - checks that only debug exceptions without a cause are kept from the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
/* cmocka.h wants the above first. */
#include <cmocka.h>

#include "src/sample/sampler.h"
#include "src/sample/trap.h"

static volatile sig_atomic_t taken, passed_on, counted;

void lc_sampler_add(enum lc_sampler_count what, uint64_t n)
{
	if (what == LC_SAMPLER_CAUSELESS)
		counted += (sig_atomic_t)n;
}

static void handle(int number, siginfo_t *info, void *context)
{
	if (lc_trap_on_causeless(info, context))
		taken++;
	else
		passed_on++;
}

static int setup(void **state)
{
	struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };

	taken = passed_on = counted = 0;
	return sigaction(SIGTRAP, &action, NULL);
}

/* The kernel sends this when the CPU has lost the cause of a hit. */
static void a_debug_exception_without_a_cause_is_taken_and_counted(void **state)
{
	siginfo_t info = { .si_signo = SIGTRAP, .si_code = TRAP_BRKPT };

	assert_int_equal(
	    syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGTRAP, &info), 0);
	assert_int_equal(taken, 1);
	assert_int_equal(counted, 1);
	assert_int_equal(passed_on, 0);
}

static void the_program_s_own_are_passed_on(void **state)
{
	__asm__ volatile("int3");
	assert_int_equal(passed_on, 1);
	raise(SIGTRAP);
	assert_int_equal(passed_on, 2);
	assert_int_equal(taken + counted, 0);
}

/* INT1 is not executed: behind some hypervisors a virtual CPU never gets past it. */
static void behind_int1_the_cause_is_int1(void **state)
{
	static const uint8_t code[] = { 0xf1, 0x90 };
	const siginfo_t info = { .si_signo = SIGTRAP, .si_code = TRAP_BRKPT };
	ucontext_t context = { 0 };

	context.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)&code[1];
	assert_false(lc_trap_has_no_cause(&info, &context));
	context.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)&code[2];
	assert_true(lc_trap_has_no_cause(&info, &context));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_debug_exception_without_a_cause_is_taken_and_counted,
		                       setup),
		cmocka_unit_test_setup(the_program_s_own_are_passed_on, setup),
		cmocka_unit_test(behind_int1_the_cause_is_int1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
