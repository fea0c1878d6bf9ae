/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks/retry_thread.h - runs hooks/retry.h and hooks/track_hot.h on a thread of its own.
 *
 * The JVM exchanges classes when every thread of the program has stopped, and a thread that fills a
 * large array stops only when the array is full. The attribution thread must not wait for that,
 * since nobody would empty the logs of samples meanwhile.
 */
#ifndef LC_HOOKS_RETRY_THREAD_H
#define LC_HOOKS_RETRY_THREAD_H

#include <jni.h>

/* Allow the thread to start. Context: [attach]. */
void lc_retry_thread_open(JavaVM *vm);

/* Start the thread if there is anything to do, and it does not run. Never waits. Context: [writer].
 */
void lc_retry_thread_tick(void);

/*
 * Wait for the thread if it runs, and let it start no more. It ends after the batch of classes that
 * the JVM works on. Context: [attach].
 */
void lc_retry_thread_close(void);

#endif
