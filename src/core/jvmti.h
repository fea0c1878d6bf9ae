/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/jvmti.h - is the one home of the agent's jvmtiEnv, through which all modules ask the JVM.
 *
 * A JVMTI callback is given the same pointer and may use either.
 */
#ifndef LC_CORE_JVMTI_H
#define LC_CORE_JVMTI_H

#include <jvmti.h>
#include <stdbool.h>

/*
 * The environment that all recordings of the process use; made at the first call, NULL where it
 * cannot be. It is never disposed of: JDK 25 crashes now and then where environments are made and
 * disposed of while it collects. Context: [attach], one thread.
 */
jvmtiEnv *lc_jvmti_of(JavaVM *vm);

/*
 * The recording is over: no callback, no capability is left. All events are off. Context: a thread
 * of ours.
 */
void lc_jvmti_rest(void);

/*
 * Set it, before any module is started; it stays valid until the program ends. Context: [attach].
 */
void lc_jvmti_set(jvmtiEnv *jvmti);

/* The agent's environment, or NULL before lc_jvmti_set(). Context: any; which calls may be made on
 * it depends on the caller's context. */
jvmtiEnv *lc_jvmti(void);

/*
 * RetransformClasses. Context: that of JVMTI's function. lc_jvmti_retransforms(): is the calling
 * thread in it? If so, only the agent's hooks change in the classes.
 */
jvmtiError lc_jvmti_retransform(jint len, const jclass *classes);
bool lc_jvmti_retransforms(void);

/*
 * All loaded classes, `*len` of them: local references that are good until
 * lc_jvmti_loaded_end(), which must be called on the same thread and takes every local reference
 * back that was made since. NULL, and nothing to be taken back, when the JVM refuses. They are in a
 * frame of their own with room for them: -Xcheck:jni of JDK 17 prints a warning otherwise.
 * Context: [attach] and Java threads outside of hooks.
 */
jclass *lc_jvmti_loaded(JNIEnv *jni, jint *len);
void lc_jvmti_loaded_end(JNIEnv *jni, jclass *loaded);

#endif
