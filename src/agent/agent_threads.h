/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/agent_threads.h - declares how Java threads come to the agent and leave it.
 *
 * A thread gets its record when it starts, when the agent finds it running, or with the first hook
 * that finds it without one (lc_thread_enter()).
 */
#ifndef LC_AGENT_AGENT_THREADS_H
#define LC_AGENT_AGENT_THREADS_H

#include <jvmti.h>
#include <stdbool.h>

struct lc_options;

/*
 * Prepare, lc_thread_enter() included; `options` stays the caller's and alive. Returns 0, or
 * -ENOTSUP where a java.lang.Thread does not say which thread of the system it is. Context:
 * [attach].
 */
int lc_agent_threads_init(JNIEnv *jni, const struct lc_options *options);

/* Do threads that start get records? Not before the first call. Context: [attach]. */
void lc_agent_threads_open(bool open);

/*
 * The calling thread begins to measure what spans cost, or has ended that: meanwhile it is not
 * sampled, since its time is none of the program's. Context: [attach].
 */
void lc_agent_threads_calibrate(bool begin);

/* Give all threads that run already their records. Context: [attach]. */
void lc_agent_threads_add_running(JNIEnv *jni);

/* JVMTI's events. Context: [java], the thread that starts or ends. */
void JNICALL lc_agent_threads_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread);
void JNICALL lc_agent_threads_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread);

#endif
