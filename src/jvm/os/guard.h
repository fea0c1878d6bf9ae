/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/os/guard.h - survives a fault of code that reads what may not be there: of AsyncGetCallTrace,
 * and of our own walks.
 *
 * The handler of jvm/os/peek.h is in front of the JVM's. A fault of the JVM's code inside
 * lc_guard_run() is given to the JVM first, which has reads of its own that may fault; any other,
 * and what the JVM does not take, ends the guarded function there and then, like a longjmp. The JVM
 * is not asked about a fault of our code: it would take one in its polling page or a stack's guard
 * pages for a Java thread's own.
 */
#ifndef LC_JVM_OS_GUARD_H
#define LC_JVM_OS_GUARD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* The JVM's exported JVM_handle_linux_signal(): returns whether it took the signal. */
typedef int lc_guard_jvm_handler(int sig, siginfo_t *info, void *context, int abort);

/* Is it code of the JVM, compiled or its stubs? Context: [signal]. */
typedef bool lc_guard_is_jvm(uint64_t pc);

/* Guard from now on, if lc_peek_catch_faults() has succeeded. Context: [attach]. */
void lc_guard_init(lc_guard_jvm_handler *jvm, lc_guard_is_jvm *is_jvm);

/*
 * Call fn(arg). Returns false if a fault has ended it: it may have done any part of its work, and a
 * lock that it took would stay locked, so it must take none. Without a guard, the fault goes to the
 * JVM like any other. Calls may nest. Context: any; errno is fn's.
 */
bool lc_guard_run(void (*fn)(void *arg), void *arg);

/*
 * The same for a proof, which may be misled anywhere: its faults are not counted. Returns false
 * without a call after lc_guard_refuse_proofs().
 */
bool lc_guard_prove(void (*fn)(void *arg), void *arg);

/* There is no guard, and this JVM was never tested: run no proofs. Context: [attach]. */
void lc_guard_refuse_proofs(void);

/*
 * Between the two calls the guard of the interrupted code does not cover the signal handler.
 * Context: [signal].
 */
const void *lc_guard_interrupt(void);
void lc_guard_go_on(const void *interrupted);

uint64_t lc_guard_faults(void); /* how many faults were survived. Context: any. */

#endif
