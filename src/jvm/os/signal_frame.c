/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/os/signal_frame.c - searches the stack for a frame of the kernel's.
 *
 * A frame begins 8 bytes below a multiple of 16, as that of a called function does. It is known by
 * the code segment of user code, by the address of the saved vector registers, which lie above, and
 * by the mark that the kernel writes among them.
 */
#include "src/jvm/os/signal_frame.h"

#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	USER_CODE = 0x33, /* the code segment of 64-bit code */
	FAR_BYTES = 1 << 20,
	MARK_AT = 464, /* of the saved vector registers: software reserved bytes of FXSAVE */
};

#define MARK UINT32_C(0x46505853) /* FP_XSTATE_MAGIC1 of Linux, which musl does not declare */

/* The frame that the kernel pushes, from the return address of the handler on. */
struct frame {
	uint64_t restorer, flags, link, stack[3];
	struct {
		uint64_t registers[15], sp, pc, condition, segments, error, trap, mask, fault;
		uint64_t vectors;
		uint64_t reserved[8];
	} context;
	uint64_t blocked; /* signals of the interrupted code */
};

/* The stack is read as it is, with all that a sanitizer keeps between variables. */
#define READS_STACK __attribute__((no_sanitize("address")))

static READS_STACK bool is_frame(const struct frame *f, uint64_t high)
{
	const uint64_t vectors = f->context.vectors;

	return (f->context.segments & UINT16_MAX) == USER_CODE && vectors > (uintptr_t)f &&
	       vectors % 64 == 0 && vectors < high && high - vectors > MARK_AT + sizeof(uint32_t) &&
	       f->context.sp > vectors && *(const uint32_t *)(uintptr_t)(vectors + MARK_AT) == MARK;
}

/* Does the thread block other signals now? */
static bool is_active(uint64_t blocked)
{
	uint64_t now = 0;

	return syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &now, sizeof(now)) || now != blocked;
}

READS_STACK bool lc_signal_frame_between(uint64_t low, uint64_t high)
{
	if (high < low || high - low > FAR_BYTES)
		return true;
	for (uint64_t at = ((low + 7) & ~UINT64_C(15)) + 8;
	     at < high && high - at > sizeof(struct frame); at += 16) {
		const struct frame *f = (const struct frame *)(uintptr_t)at; /* NOLINT */

		if (is_frame(f, high) && is_active(f->blocked))
			return true;
	}
	return false;
}
