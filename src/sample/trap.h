/* sample/trap.h - execute breakpoints of the calling thread, delivered as SIGTRAP. */
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
 * SIGTRAP is to come once, when the calling thread is about to run the instruction at `pc`.
 * An earlier wish of this thread is forgotten. Returns 0, or -errno: what it cannot mend
 * (old kernel, no permission) is not tried again by any thread and gives -ENOTSUP from then on.
 * Context: [signal], with SIGTRAP blocked or unable to happen. errno kept.
 */
int lc_trap_arm(struct lc_trap *trap, uint64_t pc);

/* Forget the wish. Context: [signal], owner thread. errno kept. */
void lc_trap_disarm(struct lc_trap *trap);

/* Give the breakpoint back. Context: any thread; the owner arms no more. */
void lc_trap_close(struct lc_trap *trap);

/* Is this SIGTRAP one that lc_trap_arm() asked for? Context: [signal]. */
bool lc_trap_is_ours(const siginfo_t *info);

#endif
