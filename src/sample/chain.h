/* SPDX-License-Identifier: Apache-2.0 */
/* sample/chain.h - puts signal handlers in front of those that the program or the JVM installed. */
#ifndef LC_SAMPLE_CHAIN_H
#define LC_SAMPLE_CHAIN_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

/* The disposition that a signal had before ours. One per signal, in static storage. */
struct lc_chain {
	struct sigaction before;
	_Atomic bool spent; /* written by: handlers; a handler with SA_RESETHAND was called once */
};

/*
 * Install `handler` for `sig`, blocking `also_blocked` (NULL: none) while it runs. It stays
 * installed until lc_chain_remove(), or for ever: another handler may have chained to it. Returns 0
 * or -errno. Context: [attach].
 */
int lc_chain_install(struct lc_chain *chain, int sig,
                     void (*handler)(int sig, siginfo_t *info, void *context),
                     const sigset_t *also_blocked);

/*
 * Do what would have happened without the agent: call the handler that was there with its own mask
 * and flags, ignore, or take the default action. A default that kills takes effect when the
 * caller's handler returns. Must be the last thing that the handler does. Context: [signal].
 */
void lc_chain_call(struct lc_chain *chain, int sig, siginfo_t *info, void *context);

/*
 * Put back what was there, if `handler` is what the kernel would call, or lc_chain_flush() has been
 * called. Context: a thread of ours.
 */
void lc_chain_remove(struct lc_chain *chain, int sig,
                     void (*handler)(int sig, siginfo_t *info, void *context));

/* Throw away what of the signal has been sent and not delivered. Context: as above. */
void lc_chain_flush(int sig);

/* Is `handler` what the kernel would call for `sig` now? Context: any, [signal] included. */
bool lc_chain_installed(int sig, void (*handler)(int sig, siginfo_t *info, void *context));

/*
 * Find a signal for the agent's own timers: a real-time signal that nobody handles, or SIGPROF if
 * there is none. SIGPROF is the last choice since a program may use it: one that resets it to its
 * default action would be ended by the next timer. Context: [attach].
 */
int lc_chain_free_signal(void);

/*
 * Find a signal for events that may come faster than they are handled: a standard signal that
 * nobody handles, since the kernel queues only one at a time of those; SIGPROF if there is none.
 * Context: [attach].
 */
int lc_chain_free_standard_signal(void);

#endif
