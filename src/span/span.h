/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/span.h - records executions of streams and tasks, and gives their counts to the profile.
 *
 * A span is one execution on one thread. Spans of a thread nest like a stack: each begin of
 * LocusSpan pushes one frame, and end() pops one (span/frames/stack.h). An ended span is added to a
 * slot (span/frames/slot.h), of which its thread has one for each place, kind and level. The
 * attribution thread takes the new counts from the slots.
 */
#ifndef LC_SPAN_SPAN_H
#define LC_SPAN_SPAN_H

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/format/kinds.h" /* lc_span_kind */

struct lc_manifest_spans;
struct lc_options;
struct lc_span_thread; /* span/frames/stack.h */
struct lc_tally;
struct lc_thread;

enum { LC_SPAN_TRACES_MAX = 1 << 15 }; /* single spans of a thread in a tally */

/*
 * Prepare for --spans: define the class LocusSpan, choose the clock, get the calibrated costs.
 * Records from then on. The first call on a machine takes seconds to measure the costs of spans.
 * Returns 0, also without --spans, or -errno after a line that says why spans are off. Context:
 * [attach], before classes are rewritten and the attribution thread runs.
 */
int lc_span_init(JNIEnv *jni, const struct lc_options *options);

/* While spans are off, threads without spans get none. Context: [attach]. */
void lc_span_enable(bool on);

/*
 * The recording ends before the program: hooks record nothing any more. `written`: all counts are
 * written, and each thread closes its clock at its next hook, or when it ends. Context: any but
 * [signal].
 */
void lc_span_hooks_off(bool written);

/* Are streams recorded? Are tasks? Context: any. */
bool lc_span_streams(void);
bool lc_span_tasks(void);

/* Recorded kinds: LC_SPAN_STREAMS, LC_SPAN_TASKS (classfile/span_rewrite.h). Context: any. */
unsigned lc_span_what(void);

/*
 * Turn off the recording of `what` for `reason` (constant text), and print the reason once.
 * Context: [attach] [java].
 */
void lc_span_give_up(unsigned what, const char *reason);

/* The calling thread's spans, made if it has none; NULL if it can have none. Context: [java]. */
struct lc_span_thread *lc_span_enter(JNIEnv *jni);

/* The reason why a thread last got no spans, as -errno; 0: unknown. Any context. */
int lc_span_thread_error(void);

/* The calling thread's spans, or NULL if it has none. Does not call the JVM. Context: [hook]. */
struct lc_span_thread *lc_span_known(void);

/* Make the calling thread's spans. For lc_span_enter() alone. Context: [java]. */
struct lc_span_thread *lc_span_thread_open(JNIEnv *jni);

/* Take the calling thread's spans away; `last`: it will get no new ones. Context: [java]. */
void lc_span_thread_close(bool last);

/* Throw a StackOverflowError in the method whose span begins. Context: [hook]. */
void lc_span_overflow(JNIEnv *jni);

/* The calling thread ends; its slots are read once more later. Context: [java]. */
void lc_span_thread_end(struct lc_thread *t);

/* A stop-the-world pause begins, and ends. Context: [gc]. */
void lc_span_gc_start(void);
void lc_span_gc_finish(void);

/* Add the slots' new counts, and the thread's open spans, to its tally. Context: [writer]. */
void lc_span_take(struct lc_thread *t);

/*
 * Look for open spans of all threads before the next blocks are written; `all`: also for short
 * ones. Context: [writer].
 */
void lc_span_mark_running(bool all);

/* Add the new pauses to this tally, of any thread. Context: [writer]. */
void lc_span_take_pauses(struct lc_tally *tally);

/* Add the new comparisons of streams' sources and results. Context: [writer]. */
void lc_span_take_looks(struct lc_tally *tally);

/*
 * Move single spans from the thread's log to its tally; call it more often than blocks are written.
 * Returns whether the tally is full: if so, write a block and call this again. Context: [writer].
 */
bool lc_span_take_traces(struct lc_thread *t);

/* Count the single spans that are left in the log and in the tally as lost. [writer] */
void lc_span_give_up_traces(const struct lc_thread *t);

/*
 * Free the thread's spans after the last of them were taken; its counts stay in the stats. Context:
 * [writer].
 */
void lc_span_forget(struct lc_thread *t);

/* Free the thread's spans without their counts. Context: [attach] [writer]. */
void lc_span_thread_free(struct lc_thread *t);

/* Are so many slots in use that those of ended threads should be freed soon? Context: any. */
bool lc_span_slots_crowded(void);

/* For the manifest; NULL without --spans. Context: [writer]. */
const struct lc_manifest_spans *lc_span_manifest(void);

#endif
