/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/stack/call_trace.h - walks the call path of the interrupted thread: by
 * jvm/stack/stack_walk.h, or where that refuses through AsyncGetCallTrace.
 */
#ifndef LC_JVM_STACK_CALL_TRACE_H
#define LC_JVM_STACK_CALL_TRACE_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/jvm/stack/frames.h"
#include "src/jvm/stack/unwind.h"

/* A frame as AsyncGetCallTrace fills it. */
struct lc_call_trace_frame {
	jint bci;
	jmethodID method;
};

/*
 * A walk that a fault has ended, in place of AsyncGetCallTrace's code. After some of them no stack
 * is walked.
 */
enum { LC_WALK_FAULT = -11 };

/* Two walks that prove each other (jvm/stack/walk_proof.h) have found other frames: neither is
 * taken. */
enum { LC_WALK_DOUBTED = -12 };

/* Catch faults before anything is read; lc_call_trace_init() does it, too. Context: [attach]. */
void lc_call_trace_catch_faults(void);

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
 * The frame at which the calling thread, which is in the JVM or in native code, left Java code.
 * Returns false if it is unknown. `env` is the thread's own. Context: [java] [hook].
 */
bool lc_call_trace_last_java(JNIEnv *env, struct lc_last_java *out);

/*
 * Is the calling thread, whose environment this is, in native code, so that it may call the JVM?
 * Context: any.
 */
bool lc_call_trace_in_native(JNIEnv *env);

/*
 * Does all between these addresses belong to the calling thread's own stack, and not to one for
 * signal handlers? False, too, if the JVM does not tell. Context: any.
 */
bool lc_call_trace_own_stack(JNIEnv *env, uint64_t low, uint64_t high);

/* How a walk was repaired. */
struct lc_repair {
	enum lc_unwind_kind kind;
	struct lc_unwound from; /* unless kind is LC_UNWIND_NONE or LC_UNWIND_ANCHOR */
};

/*
 * Walk the stack of the calling thread, interrupted with `ucontext`. `pc`: where to pretend that
 * it is, in the same frame as the context's own; 0 for the context as it stands, which is also
 * tried where `pc` fails. At most `depth` frames, leaf first, to `frames` as lc_frame_pack();
 * `scratch` holds as many. Returns their number, or AsyncGetCallTrace's code (<= 0).
 * *repair says where the thread was, if AsyncGetCallTrace alone does not walk from there.
 * Context: [signal].
 */
int lc_call_trace(JNIEnv *env, const void *ucontext, uint64_t pc,
                  struct lc_call_trace_frame *scratch, uint64_t *frames, int depth,
                  struct lc_repair *repair);

/*
 * The same of a thread to which a call has just returned, by AsyncGetCallTrace alone: the path
 * begins at the call.
 */
int lc_call_trace_resumed(JNIEnv *env, const void *ucontext, struct lc_call_trace_frame *scratch,
                          uint64_t *frames, int depth);

/* The place where the thread will go on after the current call returns, by a repaired walk. */
struct lc_resume {
	uint64_t pc;     /* the return address, and the registers then */
	uint64_t sp, fp; /* .. of which fp matters to the interpreter only */
	uint64_t slot;   /* address of the return address until then; 0: not on the stack */
	unsigned gone;   /* frames of the path that have ended then, at least */
	/* .. and the last of them is of this method; 0: there are just so many. */
	uint64_t method;
};

/*
 * The same for the walk just done, whose *repair this is: fills *out. Returns false where that is
 * not known. Context: [signal], in the handler that walked.
 */
bool lc_call_trace_resume(JNIEnv *env, const struct lc_repair *repair, struct lc_resume *out);

/*
 * A number made of the words that lead from frame to frame, above the thread that goes on at *at:
 * at most `frames_max` frames. Returns false where not all can be read. Context: [signal].
 */
bool lc_call_trace_key(JNIEnv *env, const struct lc_resume *at, unsigned frames_max, uint64_t *key);

/* Add the counters to the manifest. Context: [writer]. */

/* Say once when stacks are walked no more. Context: [writer]. */
void lc_call_trace_tell(void);

/* Let AsyncGetCallTrace walk where Locus itself did, too, and compare. Context: [attach]. */
void lc_call_trace_audit(void);

#endif
