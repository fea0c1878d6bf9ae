/* sample/chain.h - signal handlers that leave what is not theirs to the handler before them. */
#ifndef LC_SAMPLE_CHAIN_H
#define LC_SAMPLE_CHAIN_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

/* The disposition that was there before ours. One per signal, static. */
struct lc_chain {
	struct sigaction before;
	_Atomic bool spent; /* written by: handlers; SA_RESETHAND had its one call */
};

/*
 * Install `handler` for `sig`, blocking `also_blocked` (NULL: none) while it runs. It stays
 * installed for ever: another handler may have chained to it. Returns 0 or -errno.
 * Context: [attach].
 */
int lc_chain_install(struct lc_chain *chain, int sig,
                     void (*handler)(int sig, siginfo_t *info, void *context),
                     const sigset_t *also_blocked);

/*
 * Do what would have happened without us: call the handler that was there with its own mask and
 * flags, ignore, or take the default action. A default that kills takes effect when the caller's
 * handler returns. Must be the last thing that the handler does.
 * Context: [signal].
 */
void lc_chain_call(struct lc_chain *chain, int sig, siginfo_t *info, void *context);

/* Is `handler` what the kernel would call for `sig` now? Context: any, [signal] included. */
bool lc_chain_installed(int sig, void (*handler)(int sig, siginfo_t *info, void *context));

/*
 * A signal for the agent's own timers: a real-time one that nobody handles, or SIGPROF where there is
 * none. SIGPROF would do until the program takes it for itself: one that resets it to its default
 * action would be ended by the next timer. Context: [attach].
 */
int lc_chain_free_signal(void);

/*
 * A signal for what may come faster than it is handled: a standard one that nobody handles, of which
 * the kernel keeps one at a time; SIGPROF where there is none. Context: [attach].
 */
int lc_chain_free_standard_signal(void);

#endif
