/* uses: src/jvm/os/peek.c */
/* SPDX-License-Identifier: Apache-2.0 */
/* test_peek.c - checks that memory is copied where it exists, and that elsewhere nothing faults. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cmocka.h>

#include "src/jvm/os/handle.h"
#include "src/jvm/os/peek.h"
#include "tests/unit/counter.h"

enum { PAGE = 4096 };

static unsigned char *memory; /* two pages, the second without access */

static uint64_t at(size_t offset)
{
	return (uintptr_t)memory + offset;
}

static int map(void **state)
{
	memory = mmap(NULL, 2 * (size_t)PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	              -1, 0);
	if (memory == MAP_FAILED)
		return -1;
	for (size_t i = 0; i < PAGE; i++)
		memory[i] = (unsigned char)i;
	return mprotect(memory + PAGE, PAGE, PROT_NONE);
}

static int unmap(void **state)
{
	return munmap(memory, 2 * (size_t)PAGE);
}

static void memory_that_is_there_is_copied(void **state)
{
	unsigned char out[16];

	assert_true(lc_peek(at(PAGE - 16), out, sizeof(out)));
	assert_memory_equal(out, memory + PAGE - 16, sizeof(out));
	assert_int_equal(lc_peek_get64(out), 0xf7f6f5f4f3f2f1f0);
	assert_int_equal(lc_peek_get32(out + 1), 0xf4f3f2f1);
}

static void memory_that_ends_too_early_is_refused_and_errno_kept(void **state)
{
	unsigned char out[16];

	errno = ERANGE;
	assert_false(lc_peek(at(PAGE - 15), out, sizeof(out)));
	assert_false(lc_peek(at(PAGE), out, sizeof(out)));
	assert_false(lc_peek(0, out, sizeof(out)));
	assert_int_equal(errno, ERANGE);
}

static void parts_come_up_to_the_first_that_is_not_there(void **state)
{
	unsigned char out[24] = { 0 };
	const struct iovec into = { out, sizeof(out) };
	const struct iovec from[] = { lc_peek_part(at(8), 8), lc_peek_part(at(PAGE), 8),
		                      lc_peek_part(at(16), 8) };

	assert_int_equal(lc_peek_parts(&into, 1, from, 3), 8);
	assert_memory_equal(out, memory + 8, 8);
	assert_int_equal(out[8], 0);
	assert_int_equal(lc_peek_parts(&into, 1, from + 1, 2), 0);
}

static void all_parts_are_copied_or_it_is_said(void **state)
{
	uint64_t a = 0;
	uint32_t b = 0;
	const struct iovec into[] = { { &a, sizeof(a) }, { &b, sizeof(b) } };
	const struct iovec from[] = { lc_peek_part(at(0), sizeof(a)),
		                      lc_peek_part(at(32), sizeof(b)) };
	const struct iovec half[] = { from[0], lc_peek_part(at(PAGE - 2), sizeof(b)) };

	assert_true(lc_peek_all(into, from, 2));
	assert_int_equal(a, 0x0706050403020100);
	assert_int_equal(b, 0x23222120);
	assert_false(lc_peek_all(into, half, 2));
}

/* -- faults that are caught ---------------------------------------------------------------- */

static sigjmp_buf passed_on;
static volatile int passed; /* faults that reached the handler that was there before */

static void old_handler(int sig, siginfo_t *info, void *context)
{
	passed++;
	siglongjmp(passed_on, 1);
}

static struct sigaction ours[2]; /* as lc_peek_catch_faults() has left them */

static void take(struct sigaction *segv_and_bus)
{
	assert_int_equal(sigaction(SIGSEGV, NULL, &segv_and_bus[0]), 0);
	assert_int_equal(sigaction(SIGBUS, NULL, &segv_and_bus[1]), 0);
}

/* For each test the framework puts handlers of its own in place. */
static void put(const struct sigaction *segv_and_bus)
{
	assert_int_equal(sigaction(SIGSEGV, &segv_and_bus[0], NULL), 0);
	assert_int_equal(sigaction(SIGBUS, &segv_and_bus[1], NULL), 0);
}

static void install_old_handler(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO, .sa_sigaction = old_handler };

	sigemptyset(&action.sa_mask);
	put((struct sigaction[]){ action, action });
}

static unsigned before_begin;

static void enter(int blocked)
{
	ucontext_t context = { 0 };

	if (blocked)
		sigaddset(&context.uc_sigmask, blocked);
	before_begin = lc_peek_begin(&context.uc_sigmask);
}

static void handlers_that_cannot_be_passed_on_to_are_left_alone(void **state)
{
	struct sigaction now;

	signal(SIGSEGV, SIG_DFL);
	assert_int_equal(lc_peek_catch_faults(), -ENOTSUP);
	assert_int_equal(sigaction(SIGSEGV, NULL, &now), 0);
	assert_true(now.sa_handler == SIG_DFL);
	assert_int_equal(counter("engine_loads_caught"), 0);
	install_old_handler();
	assert_int_equal(lc_peek_catch_faults(), 0);
	assert_int_equal(counter("engine_loads_caught"), 1);
	take(ours);
}

static void a_handlers_copy_ends_where_memory_does(void **state)
{
	unsigned char out[24] = { 0 };
	const struct iovec into[] = { { out, 5 }, { out + 5, 19 } };
	const struct iovec from[] = { lc_peek_part(at(8), 8), lc_peek_part(at(PAGE - 3), 8) };
	const struct iovec gap[] = { lc_peek_part(at(8), 8), lc_peek_part(at(PAGE), 8),
		                     lc_peek_part(at(16), 8) };
	const uint64_t before = counter("engine_loads_faulted");

	put(ours);
	errno = ERANGE;
	enter(0);
	assert_true(lc_peek(at(PAGE - 16), out, 16));
	assert_memory_equal(out, memory + PAGE - 16, 16);
	assert_int_equal(counter("engine_loads_faulted"), before);
	assert_false(lc_peek(at(PAGE - 15), out, 16));
	assert_false(lc_peek(0, out, 16));
	assert_false(lc_peek(UINT64_C(1) << 63, out, 16)); /* no address at all */
	assert_int_equal(counter("engine_loads_faulted"), before + 3);
	assert_int_equal(lc_peek_parts(into, 2, from, 2), 11);
	assert_memory_equal(out, memory + 8, 8);
	assert_memory_equal(out + 8, memory + PAGE - 3, 3);
	memset(out, 0, sizeof(out));
	assert_int_equal(lc_peek_parts(into, 2, gap, 3), 8);
	assert_memory_equal(out, memory + 8, 8);
	assert_int_equal(out[8], 0); /* what comes behind the gap is not copied */
	lc_peek_end(before_begin);
	assert_int_equal(counter("engine_loads_faulted"), before + 5);
	assert_false(lc_peek(at(PAGE), out, 16)); /* by the kernel again */
	assert_int_equal(counter("engine_loads_faulted"), before + 5);
	assert_int_equal(passed, 0);
	assert_int_equal(errno, ERANGE);
}

static void other_faults_and_signals_reach_the_old_handler(void **state)
{
	const int before = passed;

	put(ours);
	if (!sigsetjmp(passed_on, 1))
		*(volatile unsigned char *)(memory + PAGE) = 1;
	assert_int_equal(passed, before + 1);
	if (!sigsetjmp(passed_on, 1))
		raise(SIGBUS);
	assert_int_equal(passed, before + 2);
}

void lc_peek_copy_load(void); /* the instruction of peek.c that may fault */

static void a_signal_that_is_sent_while_a_copy_runs_is_no_fault_of_it(void **state)
{
	const uintptr_t load = (uintptr_t)lc_peek_copy_load;
	siginfo_t info = { .si_code = SI_USER };
	ucontext_t context = { 0 };
	greg_t *pc = &context.uc_mcontext.gregs[REG_RIP];
	const int before = passed;

	*pc = (greg_t)load;
	if (!sigsetjmp(passed_on, 1))
		ours[0].sa_sigaction(SIGSEGV, &info, &context);
	assert_int_equal(passed, before + 1);
	assert_int_equal(*pc, load);
	info.si_code = SEGV_MAPERR;
	ours[0].sa_sigaction(SIGSEGV, &info, &context);
	assert_int_equal(passed, before + 1);
	assert_int_not_equal(*pc, load);
}

static void a_stretch_asks_anew_and_one_in_another_goes_on(void **state)
{
	const uint64_t at_first_by_kernel = counter("engine_loads_refused"),
	               at_first_faulted = counter("engine_loads_faulted");
	unsigned char out[16];
	unsigned outer, inner;

	put(ours);
	outer = lc_peek_begin(NULL);
	inner = lc_peek_begin(NULL);
	assert_true(lc_peek(at(0), out, sizeof(out)));
	lc_peek_end(inner);
	assert_false(lc_peek(at(PAGE), out, sizeof(out)));
	assert_int_equal(counter("engine_loads_faulted"), at_first_faulted + 1);
	install_old_handler();
	for (unsigned i = 0; i < 100; i++) /* it asks again before long */
		assert_true(lc_peek(at(0), out, sizeof(out)));
	assert_false(lc_peek(at(PAGE), out, sizeof(out)));
	assert_int_equal(counter("engine_loads_faulted"), at_first_faulted + 1);
	assert_int_equal(counter("engine_loads_refused"), at_first_by_kernel + 1);
	enter(0); /* a handler comes in between */
	assert_false(lc_peek(at(PAGE), out, sizeof(out)));
	lc_peek_end(before_begin);
	lc_peek_end(outer);
	assert_int_equal(counter("engine_loads_refused"), at_first_by_kernel + 2);
	put(ours);
	assert_false(lc_peek(at(PAGE), out, sizeof(out))); /* outside the kernel reads */
	assert_int_equal(counter("engine_loads_faulted"), at_first_faulted + 1);
}

static void where_a_fault_would_not_be_caught_the_kernel_reads(void **state)
{
	const uint64_t before_by_kernel = counter("engine_loads_refused"),
	               before_faulted = counter("engine_loads_faulted");
	const int passed_before = passed;
	unsigned char out[16];
	unsigned inner;

	put(ours);
	enter(SIGSEGV);
	assert_false(lc_peek(at(PAGE), out, sizeof(out)));
	lc_peek_end(before_begin);
	enter(SIGBUS);
	assert_false(lc_peek(at(PAGE), out, sizeof(out)));
	inner = lc_peek_begin(NULL); /* a stretch in such a handler changes nothing */
	assert_false(lc_peek(at(PAGE), out, sizeof(out)));
	lc_peek_end(inner);
	lc_peek_end(before_begin);
	assert_int_equal(counter("engine_loads_refused"), before_by_kernel);
	assert_int_equal(counter("engine_loads_faulted"), before_faulted);
	install_old_handler(); /* a program that puts its own in place of ours */
	enter(0);
	assert_false(lc_peek(at(PAGE), out, sizeof(out)));
	assert_true(lc_peek(at(0), out, sizeof(out)));
	lc_peek_end(before_begin);
	assert_int_equal(counter("engine_loads_refused"), before_by_kernel + 1);
	assert_int_equal(counter("engine_loads_faulted"), before_faulted);
	assert_int_equal(passed, passed_before);
}

static void a_handle_leads_to_its_object_whatever_its_tag(void **state)
{
	uint64_t slot = UINT64_C(0x7f0012345678);

	for (uintptr_t tag = 0; tag < 8; tag++)
		assert_int_equal(lc_handle_address((jobject)((uintptr_t)&slot | tag)), slot);
	slot = 0;
	assert_int_equal(lc_handle_address((jobject)&slot), 0);
}

int main(void)
{
#ifdef __SANITIZE_THREAD__
	/* It has handlers of its own for these signals, and this test has one thread. */
	puts("skipped");
	return 0;
#endif
#define TEST(f) cmocka_unit_test_setup_teardown(f, map, unmap)
	const struct CMUnitTest tests[] = {
		TEST(memory_that_is_there_is_copied),
		TEST(memory_that_ends_too_early_is_refused_and_errno_kept),
		TEST(parts_come_up_to_the_first_that_is_not_there),
		TEST(all_parts_are_copied_or_it_is_said),
		TEST(handlers_that_cannot_be_passed_on_to_are_left_alone),
		TEST(a_handlers_copy_ends_where_memory_does),
		TEST(other_faults_and_signals_reach_the_old_handler),
		TEST(a_signal_that_is_sent_while_a_copy_runs_is_no_fault_of_it),
		TEST(where_a_fault_would_not_be_caught_the_kernel_reads),
		TEST(a_stretch_asks_anew_and_one_in_another_goes_on),
		TEST(a_handle_leads_to_its_object_whatever_its_tag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
