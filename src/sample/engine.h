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

/* Samples of all engines, and samples that found no room. Context: any. */
void lc_engines_samples(uint64_t *taken, uint64_t *lost);
void lc_sampler_tell(void); /* what could not be sampled. Context: [writer]. */

#endif
