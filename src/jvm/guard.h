/*
 * jvm/guard.h - survives a fault of code that reads what may not be there: of AsyncGetCallTrace,
 * and of our own walks.
 *
 * The handler of jvm/peek.h is in front of the JVM's. A fault inside lc_guard_run() is given to the
 * JVM first, which has reads of its own that may fault; what the JVM does not take ends the guarded
 * function there and then, like a longjmp.
 */
#ifndef LC_JVM_GUARD_H
#define LC_JVM_GUARD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* What a JVM exports as JVM_handle_linux_signal: it returns whether it took the signal. */
typedef int lc_guard_jvm_handler(int sig, siginfo_t *info, void *context, int abort);

/*
 * Guard from now on, if lc_peek_catch_faults() has succeeded; `jvm` may be NULL. Context: [attach].
 */
void lc_guard_init(lc_guard_jvm_handler *jvm);

/*
 * Call fn(arg). Returns false where a fault has ended it: then it may have done any part of its
 * work, and holds what it had taken, so it must take no lock. Where nothing guards, the fault goes
 * to the JVM as any other. Calls may nest. Context: any; errno is fn's.
 */
bool lc_guard_run(void (*fn)(void *arg), void *arg);

/*
 * What a signal handler does between the two is not guarded by the code that it has interrupted.
 * Context: [signal].
 */
const void *lc_guard_interrupt(void);
void lc_guard_go_on(const void *interrupted);

uint64_t lc_guard_faults(void); /* how many faults were survived. Context: any. */

#endif
