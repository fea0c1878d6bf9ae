/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/engine.h - runs the engines that take samples with addresses, several of them side by
 * side.
 *
 * All engines of a process share a thread's sampler: its log, its buffers for walking, and the
 * rule that one handler runs at a time. An engine is a row of the manifest's `engines`; its number
 * there is lc_sample.engine.
 */
#ifndef LC_SAMPLE_ENGINE_H
#define LC_SAMPLE_ENGINE_H

#include <jvmti.h>
#include <stddef.h>
#include <stdint.h>

#include "src/core/record.h"
#include "src/jvm/stack/unwind.h"

struct lc_counters;
struct lc_options;
struct lc_thread;

struct lc_engine_info {
	const char *name;  /* "timer", "pebs", "ibs", "fault", "watch" */
	const char *event; /* "thread-cpu-time", "MEM_LOAD_RETIRED:L1_MISS", "page-faults" */
	const char *unit;  /* "ns of thread CPU time", "misses" */
	const char
	    *reason; /* why it was chosen, "auto: no PMU (guest without one)"; NULL: asked for */
	uint64_t interval; /* in the unit, between two samples */
	uint64_t
	    tick_ns; /* of the kernel, which limits the timer; 0: it does not limit the engine */
};

struct lc_engine_stats {
	uint64_t samples;   /* taken on a registered thread */
	uint64_t lost;      /* samples without a record, since the thread's log was full */
	uint64_t overruns;  /* samples of the timer beyond one for each interrupt */
	uint64_t ring_lost; /* samples that the kernel could not put in the buffer */
	uint64_t throttled; /* times the kernel paused the event */
	uint64_t own;       /* occurrences that the handlers of samples caused; no samples */
	uint64_t
	    counted; /* accesses (watch), ns of the sampled threads' CPU time (timer); else 0 */
	uint64_t no_thread; /* threads on which the event could not be opened */
};

/* Counts of all engines together. */
struct lc_sampler_stats {
	uint64_t handler_ns; /* spent in handlers, preemption included */
	uint64_t traps_armed;
	uint64_t traps_hit;
	uint64_t trap_errors;     /* breakpoints that could not be set */
	uint64_t traps_missed;    /* not hit within a few samples of their thread */
	uint64_t foreign_signals; /* signals handed on to the handler that was there before */
	uint64_t traps_causeless; /* breakpoints that were hit, and of which nothing was told */
	uint64_t no_stack;        /* samples for which handlers had no room on their stack */
	uint64_t walk_errors[16]; /* AsyncGetCallTrace results 0, -1, .. -15, by -code */
	uint64_t walk_repaired[LC_UNWIND_KINDS]; /* paths that it alone does not find, by where */
};

/*
 * Choose the engines that options->event asks for, falling back to the timer with one line on
 * stderr where the kernel refuses; install handlers, build tables. Returns 0 or -errno.
 * Context: [attach], the VM initialised. Call paths need ClassLoad events enabled and the
 * jmethodIDs of each class made at ClassPrepare; addresses need the events of
 * jvm/code/code_cache.h.
 */
int lc_engines_start(JNIEnv *jni, const struct lc_options *options);

/*
 * The number of engines, and each engine; valid for ever. Context: any, after lc_engines_start().
 */
size_t lc_engines_count(void);
const struct lc_engine_info *lc_engines_info(size_t engine);

/*
 * From now on the timers' intervals are `stretch` times what was asked for, and a sample counts for
 * so many. Other engines stay as they are. Context: any.
 */
void lc_engines_stretch(uint32_t stretch);

/*
 * Begin sampling `t` (creates t->samples and t->sampler). May be called for another thread than
 * the caller, for threads that ran before the agent did. Returns 0, or -errno with nothing
 * created (-ESRCH: it has ended). Context: [attach] [java].
 */
int lc_engines_thread_start(struct lc_thread *t);

/*
 * Stop sampling the calling thread `t`; a pending sample is completed. Comes before
 * lc_thread_bind(NULL) and before `ended`: signals still on their way find it stopped.
 * Does nothing if the start was not called or failed. Context: [java].
 */
void lc_engines_thread_stop(struct lc_thread *t);

/*
 * Free the memory of lc_engines_thread_start(); t->samples and t->sampler are NULL afterwards. `t`
 * has ended, or was never started. Context: [writer].
 */
void lc_engines_thread_free(struct lc_thread *t);

/* Samples of `engine` on `t` that have no record, since the last call. Context: [writer]. */
uint64_t lc_engines_thread_take_lost(struct lc_thread *t, size_t engine);

/* Close descriptors that threads have not used for some seconds. Context: [writer], at times. */
void lc_engines_close_idle(void);

/* Stop all sampling; afterwards no handler of ours runs. Context: [attach]. */
void lc_engines_stop(void);

void lc_engines_stats(size_t engine, struct lc_engine_stats *out); /* Context: [writer]. */
void lc_engines_counters(struct lc_counters *out);                 /* Context: [writer]. */
void lc_sampler_stats(struct lc_sampler_stats *out);               /* Context: [writer]. */
void lc_sampler_tell(void); /* what could not be sampled. Context: [writer]. */
void lc_sampler_counters(struct lc_counters *out); /* Context: [writer]. */

#endif
