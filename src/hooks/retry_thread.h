/*
 * hooks/retry_thread.h - transforms classes of a program that runs on a thread of its own.
 *
 * The JVM exchanges classes when every thread of the program has stopped, and a thread that fills a
 * large array stops only when the array is full. The attribution thread must not wait for that:
 * meanwhile nobody would empty the logs of samples.
 */
#ifndef LC_HOOKS_RETRY_THREAD_H
#define LC_HOOKS_RETRY_THREAD_H

#include <jni.h>

/* From now on the thread may be started. Context: [attach]. */
void lc_retry_thread_open(JavaVM *vm);

/* Start the thread where classes are due, and none runs. Never waits. Context: [writer]. */
void lc_retry_thread_tick(void);

/* Wait for the thread, if it runs; it is not started any more. Context: [attach]. */
void lc_retry_thread_close(void);

#endif
