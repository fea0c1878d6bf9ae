/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/os/peek.c - reads memory that may be gone: where lc_peek_begin() was called by a plain copy
 * whose fault is caught, elsewhere by a system call. process_vm_readv() and process_vm_writev() are
 * bare system calls, and so async-signal-safe.
 *
 * The copy is one instruction, `rep movsb`. A fault of just that instruction, sent by the kernel,
 * makes it end early, with the bytes that are left in rcx. Other faults go to the function of
 * jvm/os/guard.h, and what that does not take to the handler that was there before ours, which is
 * the JVM's, with the mask and on the stack that it has asked for.
 *
 * The handler is put in place by the kernel's own call: libjsig keeps sigaction() for the JVM. It
 * is only used where a fault would reach it. So a thread's signals must not be blocked, since the
 * kernel ends a program that faults while they are, and the kernel must still name our handler,
 * which is asked once for each sample, and every COPIES_MAX copies: a program may put its own in
 * place at any time.
 *
 * Invariant: `faults` is written by lc_peek_catch_faults(), of each signal before its handler is in
 *            place, and `caught` after both are (release); handlers acquire it.
 */
#include "src/jvm/os/peek.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "src/core/counters.h"
#include "src/core/reset.h"

/*
 * size_t lc_peek_copy(void *to, uint64_t from, size_t bytes): copies, and returns how many bytes
 * are left. lc_peek_copy_load is the instruction that may fault, lc_peek_copy_end the one behind
 * it.
 */
__asm__(".pushsection .text\n"
        ".hidden lc_peek_copy, lc_peek_copy_load, lc_peek_copy_end\n"
        ".globl lc_peek_copy, lc_peek_copy_load, lc_peek_copy_end\n"
        ".type lc_peek_copy, @function\n"
        "lc_peek_copy:\n"
        "	.cfi_startproc\n"
        "	mov %rdx, %rcx\n"
        "lc_peek_copy_load:\n"
        "	rep movsb\n"
        "lc_peek_copy_end:\n"
        "	mov %rcx, %rax\n"
        "	ret\n"
        "	.cfi_endproc\n"
        ".size lc_peek_copy, . - lc_peek_copy\n"
        ".popsection\n");

size_t lc_peek_copy(void *to, uint64_t from, size_t bytes);
void lc_peek_copy_load(void); /* places in it, not called */
void lc_peek_copy_end(void);

enum { FAULTS = 2, KERNEL_MASK_BYTES = 8, COPIES_MAX = 64 };

/* The kernel's struct of a signal's action. */
struct kernel_action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static const int fault_signals[FAULTS] = { SIGSEGV, SIGBUS };

/* Kept: who has put a handler in front of ours goes on calling it. */
static LC_KEPT struct {
	struct kernel_action before[FAULTS];
} faults = { { { .flags = 0 } } };
static _Atomic bool caught;
static _Atomic(lc_peek_fault_fn *) other_faults;
static _Atomic uint64_t faulted, by_kernel;
static _Atomic int refused; /* the error with which the kernel refuses to read at all, or 0 */

/* How this thread reads: one of them, or one more than the copies that it makes before it asks. */
enum { BY_KERNEL, ASK_FIRST };
static _Thread_local unsigned copies __attribute__((tls_model("initial-exec")));
static _Thread_local bool in_handler __attribute__((tls_model("initial-exec"))); /* its own */

/* -- faults -------------------------------------------------------------------------------- */

static int kernel_sigaction(int sig, const struct kernel_action *to, struct kernel_action *now)
{
	return (int)syscall(SYS_rt_sigaction, sig, to, now, KERNEL_MASK_BYTES);
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	greg_t *pc = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	const struct kernel_action *before = &faults.before[sig != SIGSEGV];
	lc_peek_fault_fn *other = atomic_load_explicit(&other_faults, memory_order_acquire);

	/* A signal that somebody has sent is none of the copy's. */
	if ((uintptr_t)*pc == (uintptr_t)lc_peek_copy_load && info->si_code > 0) {
		*pc = (greg_t)(uintptr_t)lc_peek_copy_end;
		lc_count(&faulted);
		return;
	}
	if (!other || !other(sig, info, context))
		before->handler(sig, info, context);
}

/* Can the old handler be called by ours as the kernel would call it? */
static bool can_chain(const struct kernel_action *before)
{
	return (uintptr_t)before->handler != (uintptr_t)SIG_DFL &&
	       (uintptr_t)before->handler != (uintptr_t)SIG_IGN && (before->flags & SA_SIGINFO) &&
	       !(before->flags & SA_RESETHAND) && before->restorer;
}

void lc_peek_other_faults(lc_peek_fault_fn *fn)
{
	atomic_store_explicit(&other_faults, fn, memory_order_release);
}

int lc_peek_catch_faults(void)
{
	if (atomic_load_explicit(&caught, memory_order_relaxed)) /* attach only */
		return 0;
	for (size_t i = 0; i < FAULTS; i++)
		if (kernel_sigaction(fault_signals[i], NULL, &faults.before[i]) ||
		    !can_chain(&faults.before[i]))
			return -ENOTSUP;
	for (size_t i = 0; i < FAULTS; i++) {
		struct kernel_action ours = faults.before[i];

		ours.handler = on_fault; /* its mask and stack stay as the old one wants them */
		if (kernel_sigaction(fault_signals[i], &ours, NULL))
			return -errno; /* the other one passes on what comes */
	}
	atomic_store_explicit(&caught, true, memory_order_release);
	return 0;
}

void lc_peek_release_faults(void)
{
	struct kernel_action now;

	if (!atomic_exchange(&caught, false))
		return;
	for (size_t i = 0; i < FAULTS; i++)
		if (!kernel_sigaction(fault_signals[i], NULL, &now) && now.handler == on_fault)
			(void)kernel_sigaction(fault_signals[i], &faults.before[i], NULL);
}

static bool in_place(void)
{
	const int saved = errno;
	struct kernel_action now;
	bool ours = true;

	for (size_t i = 0; i < FAULTS && ours; i++)
		ours = !kernel_sigaction(fault_signals[i], NULL, &now) && now.handler == on_fault;
	errno = saved;
	return ours;
}

unsigned lc_peek_begin(const sigset_t *blocked)
{
	const unsigned before = copies << 1 | in_handler;
	bool may;

	if (!blocked && (copies != BY_KERNEL || in_handler))
		return before; /* it has begun, or its handler must not */
	in_handler |= blocked != NULL;
	may = atomic_load_explicit(&caught, memory_order_acquire);
	for (size_t i = 0; blocked && i < FAULTS; i++)
		may &= !sigismember(blocked, fault_signals[i]);
	copies = may ? ASK_FIRST : BY_KERNEL;
	return before;
}

void lc_peek_end(unsigned before)
{
	copies = before >> 1;
	in_handler = before & 1;
}

bool lc_peek_in_handler(void)
{
	return in_handler;
}

/* -- reading ------------------------------------------------------------------------------- */

static size_t copy_parts(const struct iovec *into, size_t into_len, const struct iovec *from,
                         size_t from_len)
{
	size_t total = 0, filled = 0, in = 0;

	for (size_t i = 0; i < from_len; i++) {
		uint64_t at = (uint64_t)(uintptr_t)from[i].iov_base;
		size_t left = from[i].iov_len;

		while (left) {
			size_t n, short_by;

			while (in < into_len && filled == into[in].iov_len) {
				in++;
				filled = 0;
			}
			if (in == into_len)
				return total;
			n = into[in].iov_len - filled;
			n = n < left ? n : left;
			short_by = lc_peek_copy((char *)into[in].iov_base + filled, at, n);
			total += n - short_by;
			if (short_by)
				return total;
			at += n;
			left -= n;
			filled += n;
		}
	}
	return total;
}

static size_t read_parts(const struct iovec *into, size_t into_len, const struct iovec *from,
                         size_t from_len)
{
	const int saved = errno;
	const ssize_t got = process_vm_readv(getpid(), into, into_len, from, from_len, 0);

	if (got < 0 && (errno == EPERM || errno == ENOSYS || errno == EACCES))
		atomic_store_explicit(&refused, errno, memory_order_relaxed);
	errno = saved;
	return got > 0 ? (size_t)got : 0;
}

/* May a thread that has not begun to copy do so, since the kernel refuses to read for it? */
static bool must_copy(void)
{
	return atomic_load_explicit(&refused, memory_order_relaxed) && !in_handler &&
	       atomic_load_explicit(&caught, memory_order_acquire) && in_place();
}

int lc_peek_refused(void)
{
	return atomic_load_explicit(&refused, memory_order_relaxed);
}

size_t lc_peek_parts(const struct iovec *into, size_t into_len, const struct iovec *from,
                     size_t from_len)
{
	if (copies == ASK_FIRST) {
		copies = in_place() ? ASK_FIRST + COPIES_MAX : BY_KERNEL;
		if (copies == BY_KERNEL)
			lc_count(&by_kernel);
	}
	if (copies == BY_KERNEL) {
		const size_t got = read_parts(into, into_len, from, from_len);

		return got || !must_copy() ? got : copy_parts(into, into_len, from, from_len);
	}
	copies--;
	return copy_parts(into, into_len, from, from_len);
}

bool lc_peek_all(const struct iovec *into, const struct iovec *from, size_t len)
{
	size_t want = 0;

	for (size_t i = 0; i < len; i++)
		want += from[i].iov_len;
	return lc_peek_parts(into, len, from, len) == want;
}

bool lc_peek(uint64_t at, void *out, size_t bytes)
{
	const struct iovec into = { out, bytes }, from = lc_peek_part(at, bytes);

	return lc_peek_all(&into, &from, 1);
}

bool lc_peek_poke(uint64_t at, const void *bytes, size_t len)
{
	const struct iovec from = { (void *)(uintptr_t)bytes, len }; /* NOLINT: only read */
	const struct iovec to = lc_peek_part(at, len);
	const int saved = errno;
	const ssize_t put = process_vm_writev(getpid(), &from, 1, &to, 1, 0);

	errno = saved;
	return put == (ssize_t)len;
}

/* -- counters ------------------------------------------------------------------------------ */

static const struct lc_counter counters[] = {
	LC_COUNTER("engine_loads_caught", &caught),   /* 1: faults of copies are caught */
	LC_COUNTER("engine_loads_faulted", &faulted), /* copies that were cut short by a fault */
	/* Stretches that found somebody else's handler. */
	LC_COUNTER("engine_loads_refused", &by_kernel),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
