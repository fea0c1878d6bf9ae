/*
 * span/span.h - records the executions of streams and tasks, and hands them on to the profile.
 *
 * A span is one execution on one thread. Spans of a thread nest like a stack, in which each begin
 * of LocusSpan pushes one frame and end() pops one (span/frames/stack.h). When a span ends it is
 * added to a slot (span/frames/slot.h): its thread has one for each place, kind and level. The
 * attribution thread takes from the slots what was counted since it took last.
 */
#ifndef LC_SPAN_SPAN_H
#define LC_SPAN_SPAN_H

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/format/kinds.h" /* lc_span_kind */

struct lc_counters;
struct lc_manifest_spans;
struct lc_options;
struct lc_span_thread; /* span/frames/stack.h */
struct lc_tally;
struct lc_thread;

enum { LC_SPAN_TRACES_MAX = 1 << 15 }; /* single spans of a thread in a tally */

/*
 * Prepare what --spans asks for: the class LocusSpan, the clock, the costs that were calibrated.
 * Records from then on. The first time on a machine it takes seconds to measure what spans cost.
 * Returns 0, also where nothing is asked for; -errno, and then has said in one line why spans are
 * off.
 * Context: [attach], before classes are rewritten and the attribution thread runs.
 */
int lc_span_init(JNIEnv *jni, const struct lc_options *options);

/* While it is off, threads that have no spans yet get none. Context: [attach]. */
void lc_span_enable(bool on);

/*
 * The recording ends before the program: hooks record nothing from now on. `written`: all that was
 * recorded is written, and each thread closes its clock when it meets a hook again, or ends.
 * Context: any but [signal].
 */
void lc_span_hooks_off(bool written);

/* Are streams recorded? Are tasks? Context: any. */
bool lc_span_streams(void);
bool lc_span_tasks(void);

/* What is recorded: LC_SPAN_STREAMS and LC_SPAN_TASKS of classfile/span_rewrite.h. Context: any. */
unsigned lc_span_what(void);

/*
 * Turn off the recording of `what` for `reason` (constant text), and print the reason once.
 * Context: [attach] [java].
 */
void lc_span_give_up(unsigned what, const char *reason);

/*
 * The calling thread's spans, made when it has none; NULL when it can have none. Context: [java].
 */
struct lc_span_thread *lc_span_enter(JNIEnv *jni);

/* Why the last thread that can have no spans can have none, as -errno; 0: unknown. Any context. */
int lc_span_thread_error(void);

/*
 * The calling thread's spans, or NULL when it has none yet. The JVM is not called. Context: [hook].
 */
struct lc_span_thread *lc_span_known(void);

/* Make the calling thread's spans. For lc_span_enter() alone. Context: [java]. */
struct lc_span_thread *lc_span_thread_open(JNIEnv *jni);

/* The calling thread has no spans any more; `last`: nor will it have any again. Context: [java]. */
void lc_span_thread_close(bool last);

/* Throw a StackOverflowError to the method whose span was to begin. Context: [hook]. */
void lc_span_overflow(JNIEnv *jni);

/* The calling thread ends; its slots are read a last time later. Context: [java]. */
void lc_span_thread_end(struct lc_thread *t);

/* A stop-the-world pause begins, and ends. Context: [gc]. */
void lc_span_gc_start(void);
void lc_span_gc_finish(void);

/*
 * Add to the thread's tally what its slots have counted since the last time, and its spans that are
 * open. Context: [writer].
 */
void lc_span_take(struct lc_thread *t);

/*
 * Look for spans that are open, of all threads, before the next blocks are written; `all`: however
 * short they are. Context: [writer].
 */
void lc_span_mark_running(bool all);

/* Add the pauses since the last time to this tally, of whichever thread. Context: [writer]. */
void lc_span_take_pauses(struct lc_tally *tally);

/* Add what was seen of streams' sources and results since the last time. Context: [writer]. */
void lc_span_take_looks(struct lc_tally *tally);

/*
 * Move single spans from the thread's log to its tally; call it more often than blocks are written.
 * Returns whether the tally is full: then a block is to be written, and this called again.
 * Context: [writer].
 */
bool lc_span_take_traces(struct lc_thread *t);

/* The single spans that are left in the log and in the tally are counted as lost. [writer] */
void lc_span_give_up_traces(const struct lc_thread *t);

/*
 * Free the thread's spans when the last of them have been taken; what it counted stays in the
 * stats. Context: [writer].
 */
void lc_span_forget(struct lc_thread *t);

/* Free the thread's spans, and keep nothing of them. Context: [attach] [writer]. */
void lc_span_thread_free(struct lc_thread *t);

/*
 * Are so many slots taken that those of ended threads should be freed soon? Context: any.
 */
bool lc_span_slots_crowded(void);

/* Pauses for which there was no room until they were taken. Context: any. */
uint64_t lc_span_pauses_lost(void);

struct lc_span_stats {
	uint64_t executions[LC_SPAN_KINDS]; /* written so far */
	uint64_t negative;
	uint64_t slots;
	uint64_t walks, walk_errors; /* of stacks, to find locations */
	uint64_t stale, unmatched;   /* begins without end, ends without begin */
	uint64_t too_deep;
	uint64_t other_place; /* executions for whose place there was no slot, written so far */
	uint64_t traces_lost;
	uint64_t rows_lost; /* that a block cannot hold: numbers out of range, or no memory */
	uint64_t pauses_lost;
	uint64_t running_lost; /* times that an open span found no room, or its end none */
	uint64_t probe_rounds, probe_cycles, counted; /* span/frames/probe.h */
};
void lc_span_stats(struct lc_span_stats *out);  /* Context: [writer]. */
void lc_span_counters(struct lc_counters *out); /* Context: [writer]. */

/* For the manifest; NULL: no spans were asked for. Context: [writer]. */
const struct lc_manifest_spans *lc_span_manifest(void);

#endif
