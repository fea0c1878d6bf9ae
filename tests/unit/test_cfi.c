/* uses: src/jvm/stack/cfi.c -lm */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cfi.c - checks that frames of native code are left as the compiler's own unwinder leaves
 * them, wherever a signal interrupts.
 */
#include <execinfo.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

#include <cmocka.h>

#include "src/jvm/stack/cfi.h"

enum { FRAMES_MAX = 64, ENOUGH = 60, ROUNDS_MAX = 4000 };

static uint64_t stack_end;
static _Atomic unsigned samples, wrong, short_of;

static struct lc_cfi_registers registers_of(const ucontext_t *c)
{
	static const int number[LC_CFI_REGISTERS] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI,
		                                      REG_RDI, REG_RBP, REG_RSP, REG_R8,  REG_R9,
		                                      REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
		                                      REG_R15, REG_RIP };
	struct lc_cfi_registers r;

	for (unsigned i = 0; i < LC_CFI_REGISTERS; i++)
		r.r[i] = (uint64_t)c->uc_mcontext.gregs[number[i]];
	return r;
}

/* The unwinder's frames from the interrupted one on: it walks through the handler's, too. */
static void on_signal(int signal, siginfo_t *info, void *context)
{
	struct lc_cfi_registers r = registers_of(context);
	void *frames[FRAMES_MAX];
	const int n = backtrace(frames, FRAMES_MAX);
	int i = 0;

	while (i < n && (uint64_t)(uintptr_t)frames[i] != r.r[LC_CFI_PC])
		i++;
	if (i >= n - 2) /* nothing to compare with */
		return;
	samples++;
	for (int first = i++; i < n - 1; i++) { /* the last frame is the process's start */
		if (!lc_cfi_step(&r, i - 1 > first, stack_end)) {
			short_of++;
			return;
		}
		if (r.r[LC_CFI_PC] != (uint64_t)(uintptr_t)frames[i]) {
			wrong++;
			return;
		}
	}
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Code of several libraries, with frames of all kinds. */
static double work(unsigned round)
{
	static int numbers[512];
	char prose[128];
	double sum = 0;
	void *p;

	for (unsigned i = 0; i < 512; i++)
		numbers[i] = (int)(i * 7919 * (round + 1) % 1009);
	qsort(numbers, 512, sizeof(*numbers), compare);
	for (unsigned i = 1; i < 100; i++)
		sum += sin(i + round) + pow(i, 1.1) + exp(1.0 / i);
	(void)snprintf(prose, sizeof(prose), "%f %s %d", sum, "abc", numbers[7]);
	p = malloc(100 + round % 5000);
	if (p)
		memset(p, (int)round, 100);
	free(p);
	return sum + (double)strlen(prose);
}

static void same_frames_as_the_unwinder(void **state)
{
	const struct itimerval each = { { 0, 2000 }, { 0, 2000 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_sigaction = on_signal,
		                    .sa_flags = SA_SIGINFO | SA_RESTART };
	volatile double sum = 0;
	void *first[4];

#ifdef __SANITIZE_THREAD__
	skip(); /* that runtime calls handlers later, from a function of its own */
#endif
	lc_cfi_init();
	(void)backtrace(first, 4); /* loads the unwinder */
	assert_int_equal(sigaction(SIGPROF, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_PROF, &each, NULL), 0);
	for (unsigned round = 0; samples < ENOUGH && round < ROUNDS_MAX * 10; round++)
		sum += work(round);
	assert_int_equal(setitimer(ITIMER_PROF, &never, NULL), 0);
	assert_true(samples >= ENOUGH);
	assert_int_equal(wrong, 0);
#ifndef __SANITIZE_ADDRESS__ /* that runtime has code of its own under every call */
	assert_int_equal(short_of, 0);
#endif
}

static void code_without_a_description_is_refused(void **state)
{
	static const uint8_t data[16];
	struct lc_cfi_registers r = { { 0 } };

	lc_cfi_init();
	r.r[LC_CFI_PC] = (uint64_t)(uintptr_t)data;
	r.r[LC_CFI_RSP] = stack_end - 4096;
	assert_false(lc_cfi_step(&r, false, stack_end));
	r.r[LC_CFI_PC] = 16;
	assert_false(lc_cfi_step(&r, true, stack_end));
}

static void a_stack_that_ends_too_early_is_refused(void **state)
{
	struct lc_cfi_registers r;
	ucontext_t here;

	lc_cfi_init();
	assert_int_equal(getcontext(&here), 0);
	r = registers_of(&here);
	assert_false(lc_cfi_step(&r, true, r.r[LC_CFI_RSP] + 8));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_frames_as_the_unwinder),
		cmocka_unit_test(code_without_a_description_is_refused),
		cmocka_unit_test(a_stack_that_ends_too_early_is_refused),
	};

	stack_end = ((uint64_t)(uintptr_t)argv) & ~UINT64_C(7); /* above every frame */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
