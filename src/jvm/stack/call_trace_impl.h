/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/stack/call_trace_impl.h - is what jvm/stack/call_trace.c, which walks, and
 * jvm/stack/call_trace_guarded.c, which survives its faults, share. No other file includes it.
 */
#ifndef LC_JVM_STACK_CALL_TRACE_IMPL_H
#define LC_JVM_STACK_CALL_TRACE_IMPL_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "src/jvm/stack/call_trace.h"

/* A walk under way. */
struct lc_tracing {
	JNIEnv *env;
	const ucontext_t *context;
	uint64_t pc; /* where to pretend that the thread is, or 0 */
	struct lc_call_trace_frame *scratch;
	uint64_t *frames;
	int depth;
	struct lc_repair *repair;
	int walked;   /* the result */
	bool ask;     /* the JVM is to walk */
	bool doubted; /* walks that prove each other differ: the result is LC_WALK_DOUBTED */
	ucontext_t copy;
	/* Volatile: read where a fault has ended the walk. */
	volatile uint64_t hidden; /* what hide_anchor() is to put back, or 0 */
	volatile bool moved;      /* so is the anchor itself: */
	volatile struct lc_unwound stub;
};

/*
 * Walk, or have AsyncGetCallTrace walk from t->copy: `arg` is a struct lc_tracing, whose `walked`
 * is what lc_call_trace() returns. Context: [signal] [hook].
 */
void lc_tracing_walk(void *arg);
void lc_tracing_ask(void *arg);

/* After a fault: let the thread's anchor be what the JVM has put there. Context: as before. */
void lc_tracing_put_back(struct lc_tracing *t);

/* lc_call_trace_resume() and _key(), unguarded. Context: [signal]. */
bool lc_tracing_resume(JNIEnv *env, const struct lc_repair *repair, struct lc_resume *out);
bool lc_tracing_key(JNIEnv *env, const struct lc_resume *at, unsigned frames_max, uint64_t *key);

/*
 * Is it a version of the JVM on which all that is read of it, and written to a thread's anchor, was
 * tried? Context: [attach].
 */
bool lc_tracing_version_tried(void);

/* Catch faults from now on, if this JVM lets us; its library is open. Context: [attach]. */
void lc_tracing_catch_faults(void *libjvm);

#endif
