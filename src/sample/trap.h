/* SPDX-License-Identifier: Apache-2.0 */
/* sample/trap.h - sets breakpoints for the calling thread, delivered as SIGTRAP. */
#ifndef LC_SAMPLE_TRAP_H
#define LC_SAMPLE_TRAP_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Uses of a breakpoint: a thread may have one of each. */
enum lc_trap_use { LC_TRAP_FOR_ADDRESS /* of a sample */, LC_TRAP_FOR_WALK /* walk_audit.h */ };

/*
 * One thread's breakpoint. Start with LC_TRAP_NONE or LC_TRAP_WALK. A user of the descriptor takes
 * it out and puts it back, so another thread may close an idle one at any time.
 */
struct lc_trap {
	_Atomic int fd; /* -1: not open, or in use */
	enum lc_trap_use use;
	_Atomic bool armed; /* written by: owner */
	_Atomic bool used;  /* since the last lc_trap_close_idle() */
};

#define LC_TRAP_NONE ((struct lc_trap){ .fd = -1, .use = LC_TRAP_FOR_ADDRESS })
#define LC_TRAP_WALK ((struct lc_trap){ .fd = -1, .use = LC_TRAP_FOR_WALK })

/*
 * Ask for one SIGTRAP when the calling thread is about to run the instruction at `pc`. An earlier
 * request of this thread is forgotten. Returns 0, or -errno. A failure that lasts (old kernel, no
 * permission) is not tried again by any thread: -ENOTSUP is returned from then on.
 * Context: [signal], with SIGTRAP blocked or unable to happen. errno kept.
 */
int lc_trap_arm(struct lc_trap *trap, uint64_t pc);

/*
 * Ask for a SIGTRAP whenever the calling thread has read or written the 8 bytes at `address`, until
 * that is withdrawn. Else as lc_trap_arm().
 */
int lc_trap_watch(struct lc_trap *trap, uint64_t address);

/* Withdraw the request. Context: [signal], owner thread. errno kept. */
void lc_trap_disarm(struct lc_trap *trap);

/*
 * Close the breakpoint if it was not used since the last call; it is opened again when it is
 * needed. Context: [writer].
 */
void lc_trap_close_idle(struct lc_trap *trap);

/* Give the breakpoint back. Context: any thread; the owner arms no more. */
void lc_trap_close(struct lc_trap *trap);

/* Does this SIGTRAP come from a breakpoint of ours? If so, *use is its use. Context: [signal]. */
bool lc_trap_is_ours(const siginfo_t *info, enum lc_trap_use *use);

/*
 * Is this SIGTRAP a debug exception whose cause the CPU did not tell? Virtual machines lose it now
 * and then: the breakpoint was hit, its event was not counted, and the kernel takes the exception
 * for an INT1 instruction of the program's. Context: [signal].
 */
bool lc_trap_has_no_cause(const siginfo_t *info, const void *context);

/*
 * For lc_signals_use(): counts the exceptions that have no cause, and keeps them from ending the
 * program. Context: [signal].
 */
bool lc_trap_on_causeless(const siginfo_t *info, void *context);

#endif
