/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/os/guard.c - calls a function so that a fault in it comes back as a result.
 *
 * lc_guard_call() saves the registers that a function must keep on the stack, and where they are in
 * *sp. The handler of a fault continues the thread behind the call by way of the context that the
 * kernel restores when the handler returns: the signal mask is as it was before the fault, without
 * a system call. The handler is one of jvm/os/peek.c, which passes on what is not its own.
 *
 * A thread's innermost guard is `current`. It is read by the handler on the same thread.
 */
#include "src/jvm/os/guard.h"

#include <stdatomic.h>
#include <stddef.h>
#include <ucontext.h>

#include "src/core/counters.h"
#include "src/jvm/os/peek.h"

/*
 * int lc_guard_call(void (*fn)(void *), void *arg, uint64_t *sp): calls fn(arg); returns 0, or 1
 * where the thread has come by way of lc_guard_landing, with the stack pointer that is in *sp.
 */
__asm__(".pushsection .text\n"
        ".hidden lc_guard_call, lc_guard_landing\n"
        ".globl lc_guard_call, lc_guard_landing\n"
        ".type lc_guard_call, @function\n"
        "lc_guard_call:\n"
        "	.cfi_startproc\n"
        "	push %rbp\n"
        "	.cfi_adjust_cfa_offset 8\n"
        "	.cfi_rel_offset %rbp, 0\n"
        "	push %rbx\n"
        "	.cfi_adjust_cfa_offset 8\n"
        "	.cfi_rel_offset %rbx, 0\n"
        "	push %r12\n"
        "	.cfi_adjust_cfa_offset 8\n"
        "	.cfi_rel_offset %r12, 0\n"
        "	push %r13\n"
        "	.cfi_adjust_cfa_offset 8\n"
        "	.cfi_rel_offset %r13, 0\n"
        "	push %r14\n"
        "	.cfi_adjust_cfa_offset 8\n"
        "	.cfi_rel_offset %r14, 0\n"
        "	push %r15\n"
        "	.cfi_adjust_cfa_offset 8\n"
        "	.cfi_rel_offset %r15, 0\n"
        "	sub $8, %rsp\n" /* a call wants it at a multiple of 16 */
        "	.cfi_adjust_cfa_offset 8\n"
        "	mov %rsp, (%rdx)\n"
        "	mov %rdi, %rax\n"
        "	mov %rsi, %rdi\n"
        "	call *%rax\n"
        "	xor %eax, %eax\n"
        "	jmp 1f\n"
        "lc_guard_landing:\n"
        "	mov $1, %eax\n"
        "1:	add $8, %rsp\n"
        "	.cfi_adjust_cfa_offset -8\n"
        "	pop %r15\n"
        "	.cfi_adjust_cfa_offset -8\n"
        "	pop %r14\n"
        "	.cfi_adjust_cfa_offset -8\n"
        "	pop %r13\n"
        "	.cfi_adjust_cfa_offset -8\n"
        "	pop %r12\n"
        "	.cfi_adjust_cfa_offset -8\n"
        "	pop %rbx\n"
        "	.cfi_adjust_cfa_offset -8\n"
        "	pop %rbp\n"
        "	.cfi_adjust_cfa_offset -8\n"
        "	ret\n"
        "	.cfi_endproc\n"
        ".size lc_guard_call, . - lc_guard_call\n"
        ".popsection\n");

int lc_guard_call(void (*fn)(void *arg), void *arg, uint64_t *sp);
void lc_guard_landing(void); /* a place in it, not called */

enum { DIRECTION_FLAG = 1 << 10 }; /* of the flags; a call wants it clear */

struct guard {
	uint64_t sp; /* for lc_guard_landing */
	const struct guard *outer;
	bool proves; /* a fault is no surprise */
};

static lc_guard_jvm_handler *jvm_handler; /* both set before the handler can come */
static lc_guard_is_jvm *is_jvm_code;
static bool proofs_refused; /* set at attach */
static _Thread_local const struct guard *current __attribute__((tls_model("initial-exec")));
static _Atomic uint64_t faults;

/* For jvm/os/peek.c. Returns whether the thread can go on. Context: [signal], of the fault. */
static bool on_fault(int sig, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	const struct guard *g = current;

	if (!g || info->si_code <= 0) /* sent by somebody */
		return false;
	if (is_jvm_code((uint64_t)registers[REG_RIP]) && jvm_handler(sig, info, context, 0))
		return true;
	if (!g->proves)
		lc_count(&faults);
	registers[REG_RIP] = (greg_t)(uintptr_t)lc_guard_landing;
	registers[REG_RSP] = (greg_t)g->sp;
	registers[REG_EFL] &= ~(greg_t)DIRECTION_FLAG;
	return true;
}

void lc_guard_init(lc_guard_jvm_handler *jvm, lc_guard_is_jvm *is_jvm)
{
	jvm_handler = jvm;
	is_jvm_code = is_jvm;
	lc_peek_other_faults(on_fault);
}

static bool run(void (*fn)(void *arg), void *arg, bool proves)
{
	struct guard here = { .outer = current, .proves = proves };
	int cut;

	current = &here;
	atomic_signal_fence(memory_order_seq_cst); /* for the handler on this thread */
	cut = lc_guard_call(fn, arg, &here.sp);
	current = here.outer;
	return !cut;
}

bool lc_guard_run(void (*fn)(void *arg), void *arg)
{
	return run(fn, arg, false);
}

void lc_guard_refuse_proofs(void)
{
	proofs_refused = true;
}

bool lc_guard_prove(void (*fn)(void *arg), void *arg)
{
	return !proofs_refused && run(fn, arg, true);
}

const void *lc_guard_interrupt(void)
{
	const struct guard *interrupted = current;

	current = NULL;
	return interrupted;
}

void lc_guard_go_on(const void *interrupted)
{
	current = interrupted;
}

uint64_t lc_guard_faults(void)
{
	return atomic_load_explicit(&faults, memory_order_relaxed);
}
