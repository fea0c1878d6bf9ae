/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/signals.h - chooses the engines' signals and handles them, one at a time on each thread.
 */
#ifndef LC_SAMPLE_SIGNALS_H
#define LC_SAMPLE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

enum lc_signal {
	LC_SIGNAL_TIMER, /* timers: a real-time signal, since each expiry carries its timer */
	LC_SIGNAL_PERF,  /* wakeups of perf buffers: a standard signal. Real-time ones queue up, and
	                    where the queue is full the kernel sends SIGIO instead, which kills */
	LC_SIGNAL_TRAP,  /* SIGTRAP: breakpoints with `sigtrap` */
	LC_SIGNAL_CAUSELESS, /* SIGTRAP: debug exceptions that do not say of what */
	LC_SIGNAL_COUNT
};

/*
 * Handles a signal of ours and returns true; false leaves the signal to the old handler. [signal]
 */
typedef bool lc_signal_fn(const siginfo_t *info, void *context);

/*
 * Install `fn`, for ever; further calls change nothing. While one handler runs, the signals of all
 * are blocked. Handlers keep errno. Returns 0 or -errno. Context: [attach].
 */
int lc_signals_use(enum lc_signal which, lc_signal_fn *fn);

/* The number of the signal; valid after lc_signals_use(). Context: any. */
int lc_signals_number(enum lc_signal which);

/* Is our handler the one that the kernel would call now? Context: any. */
bool lc_signals_installed(enum lc_signal which);

/*
 * Put back what handled the signals before, where ours are still called first; where they are not,
 * they pass everything on. When no timer and no event is left. Context: a thread of ours.
 */
void lc_signals_release(void);

#endif
