/* sample/trap.h - sets breakpoints on execution for the calling thread, delivered as SIGTRAP. */
#ifndef LC_SAMPLE_TRAP_H
#define LC_SAMPLE_TRAP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* One thread's breakpoint. Start with LC_TRAP_NONE. */
struct lc_trap {
	int fd; /* -1 until it is needed the first time */
};

#define LC_TRAP_NONE ((struct lc_trap){ .fd = -1 })

/*
 * Ask for one SIGTRAP when the calling thread is about to run the instruction at `pc`. An earlier
 * request of this thread is forgotten. Returns 0, or -errno. A failure that lasts (old kernel, no
 * permission) is not tried again by any thread: -ENOTSUP is returned from then on.
 * Context: [signal], with SIGTRAP blocked or unable to happen. errno kept.
 */
int lc_trap_arm(struct lc_trap *trap, uint64_t pc);

/* Withdraw the request. Context: [signal], owner thread. errno kept. */
void lc_trap_disarm(struct lc_trap *trap);

/* Give the breakpoint back. Context: any thread; the owner arms no more. */
void lc_trap_close(struct lc_trap *trap);

/* Is this SIGTRAP one that lc_trap_arm() asked for? Context: [signal]. */
bool lc_trap_is_ours(const siginfo_t *info);

#endif
