/* sample/signals.h - the signals of the engines: numbers, handlers, and one at a time. */
#ifndef LC_SAMPLE_SIGNALS_H
#define LC_SAMPLE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

enum lc_signal {
	LC_SIGNAL_TIMER, /* timers: a real-time signal, since each expiry carries its timer */
	LC_SIGNAL_PERF,  /* wakeups of perf buffers: a standard signal. Real-time ones queue up, and
	                    where the queue is full the kernel sends SIGIO instead, which kills */
	LC_SIGNAL_TRAP,  /* SIGTRAP: breakpoints with `sigtrap` */
	LC_SIGNAL_COUNT
};

/* Handle what is ours and return true; false leaves the signal to whoever had it before. [signal] */
typedef bool lc_signal_fn(const siginfo_t *info, void *context);

/*
 * Install `fn`, for ever; once it is, further calls change nothing. While one handler runs the signals
 * of all are blocked. errno is kept. Returns 0 or -errno. Context: [attach].
 */
int lc_signals_use(enum lc_signal which, lc_signal_fn *fn);

/* Its number; valid after lc_signals_use(). Context: any. */
int lc_signals_number(enum lc_signal which);

/* Is our handler the one that the kernel would call now? Context: any. */
bool lc_signals_installed(enum lc_signal which);

#endif
