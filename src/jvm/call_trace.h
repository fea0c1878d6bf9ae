/* jvm/call_trace.h - walks the call path of the interrupted thread, through AsyncGetCallTrace. */
#ifndef LC_JVM_CALL_TRACE_H
#define LC_JVM_CALL_TRACE_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/jvm/unwind.h"

/* A frame as AsyncGetCallTrace fills it. */
struct lc_call_trace_frame {
	jint bci;
	jmethodID method;
};

/*
 * Find AsyncGetCallTrace in libjvm. Returns 0 or -ENOENT. `env` is the
 * calling thread's. Context: [attach].
 * The JVM answers only when the agent has ClassLoad events enabled, and names only methods whose
 * jmethodID exists (GetClassMethods at ClassPrepare).
 */
int lc_call_trace_init(JNIEnv *env);

/*
 * The calling thread's environment, or NULL where it is not attached or the JVM is not whole yet.
 * Context: any, signal handlers included.
 */
JNIEnv *lc_call_trace_env(void);

/*
 * Walk the stack of the calling thread, interrupted with `ucontext`. `pc`: where to pretend that
 * it is, in the same frame as the context's own; 0 for the context as it stands, which is also
 * tried where `pc` fails. At most `depth` frames, leaf first, to `frames` as lc_frame_pack();
 * `scratch` holds as many. Returns their number, or AsyncGetCallTrace's code (<= 0).
 * *kind says where the thread was, if AsyncGetCallTrace alone does not walk from there.
 * Context: [signal].
 */
int lc_call_trace(JNIEnv *env, const void *ucontext, uint64_t pc,
                  struct lc_call_trace_frame *scratch, uint64_t *frames, int depth,
                  enum lc_unwind_kind *kind);

#endif
