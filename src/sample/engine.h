/* sample/engine.h - one interface for everything that takes samples with addresses. */
#ifndef LC_SAMPLE_ENGINE_H
#define LC_SAMPLE_ENGINE_H

#include <jvmti.h>
#include <stddef.h>
#include <stdint.h>

#include "record.h"

struct lc_options;
struct lc_thread;

struct lc_engine_stats {
	uint64_t samples;    /* handlers that ran on a registered thread */
	uint64_t lost;       /* of these, records that found the log full */
	uint64_t overruns;   /* expirations folded by the kernel */
	uint64_t handler_ns; /* spent in handlers of timers, preemption included */
	uint64_t traps_armed;
	uint64_t traps_hit;
	uint64_t trap_errors;     /* breakpoint could not be set */
	uint64_t traps_missed;    /* not hit within a few samples of their thread */
	uint64_t foreign_signals; /* handed on to the handler that was there before */
	uint64_t walk_errors[16]; /* AsyncGetCallTrace results 0, -1, .. -15, by -code */
};

struct lc_engine {
	const char *name;  /* "timer" */
	const char *event; /* "thread-cpu-time" */
	const char *unit;  /* "ns of thread CPU time" */

	/*
	 * Probe, install handlers, build tables. Returns 0 or -errno. Context: [attach], the VM
	 * initialised. Call paths need ClassLoad events enabled and the jmethodIDs of each class
	 * made at ClassPrepare; addresses need the events of sample/code.h.
	 */
	int (*start)(const struct lc_options *options);

	/*
	 * Begin sampling `t` (creates t->samples and t->sampler). May be called for another
	 * thread than the caller, for threads that ran before the agent did.
	 * Returns 0, or -errno with nothing created (-ESRCH: it has ended). Context: [attach] [java].
	 */
	int (*thread_start)(struct lc_thread *t);

	/*
	 * Stop sampling the calling thread `t`; a pending sample is completed. Comes before
	 * lc_thread_bind(NULL) and before `ended`: signals still on their way find it stopped.
	 * Nothing where thread_start was not called or failed. Context: [java].
	 */
	void (*thread_stop)(struct lc_thread *t);

	/*
	 * Free what thread_start made; t->samples and t->sampler are NULL afterwards. `t` has
	 * ended, or was never started. Context: [writer].
	 */
	void (*thread_free)(struct lc_thread *t);

	/* Stop all sampling; afterwards no handler of ours runs. Context: [attach]. */
	void (*stop)(void);

	void (*stats)(struct lc_engine_stats *out); /* Context: [writer]. */
};

const struct lc_engine *lc_engine_timer(void);

/*
 * `wake` is called when a thread's sample log is half full; async-signal-safe, errno kept
 * (sem_post() will do). NULL for none. Context: [attach]; `wake` runs in [signal].
 */
void lc_sampler_wakeup_set(void (*wake)(void));

#endif
