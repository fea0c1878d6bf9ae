/*
 * span/span.h - executions of streams and tasks: what is counted, and how it is handed on.
 *
 * A span is one execution on one thread. Spans of a thread nest like a stack, in which each begin of
 * LocusSpan pushes one frame and end() pops one. When a span ends it is added to a slot: one for each
 * place, kind and level, of its thread. The attribution thread takes what has come since the last time.
 */
#ifndef LC_SPAN_SPAN_H
#define LC_SPAN_SPAN_H

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/format/kinds.h" /* lc_span_kind, lc_submit_kind, histogram buckets */
#include "src/span/cycle_clock.h"

struct lc_counters;
struct lc_manifest_spans;
struct lc_options;
struct lc_span_thread; /* span/stack.h */
struct lc_tally;
struct lc_thread;

enum { LC_SPAN_TRACES_MAX = 1 << 15 }; /* single spans of a thread in a tally */

/* What a begin and an end cost, in cycles of the clock. */
struct lc_span_costs {
	uint32_t inner;     /* IC: inside the span, of its own begin and end */
	uint32_t anonymous; /* OC: what its outer span pays beside, by kind */
	uint32_t primordial;
	uint32_t support;
	uint32_t task;
	uint32_t task_inner;
};

/* What makes two spans of a thread one row. */
struct lc_span_key {
	uint8_t kind;         /* enum lc_span_kind */
	uint8_t level;        /* of nesting, from 0; LC_SPAN_LEVEL_MAX and beyond in one */
	uint8_t submit_kind;  /* tasks: enum lc_submit_kind */
	uint32_t path;        /* streams: lc_path number of the location */
	uint32_t site;        /* tasks: class and creation path; 0 for streams */
	uint32_t submit_path; /* tasks: who submitted; 0 unknown or not */
};

/* What a slot counts; all only grow. Written by the owner thread, relaxed. */
struct lc_span_counts {
	_Atomic uint64_t executions;
	_Atomic uint64_t folded; /* tasks: ended inside another one and added to it */
	_Atomic uint64_t cycles; /* measured, without nested spans */
	_Atomic int64_t compensated;
	_Atomic uint64_t negative;        /* spans whose compensated cycles are below 0 */
	_Atomic uint64_t switches;        /* context switches while it ran, nested spans included */
	_Atomic uint64_t gc_count, gc_ns; /* stop-the-world pauses inside */
	_Atomic uint64_t wait_ns; /* tasks: from submission to execution, where both were seen */
	_Atomic uint64_t waits;
	_Atomic uint64_t wall_tsc; /* from begin to end, in ticks of the TSC */
	/* Spans directly inside: anonymous (and foreign), primordial, support, task. */
	_Atomic uint64_t nested[LC_SPAN_NESTED];
	_Atomic uint32_t
	    histogram[LC_SPAN_BUCKETS]; /* of compensated cycles; tasks: with the folded ones */
};

/* Counts of one place, kind and level in one thread. */
struct lc_span_slot {
	struct lc_span_key key; /* constant */
	uint32_t number;        /* for lc_span_slot_at(); constant */
	struct lc_span_counts counts;
	_Atomic uint64_t first_tsc, last_tsc; /* of a begin and an end; 0: none yet */
	struct lc_span_counts taken;          /* attribution thread only: already written */
	uint64_t taken_first_tsc;
};

/*
 * Prepare what --spans asks for: the class LocusSpan, the clock, the costs that were calibrated.
 * Records from then on. The first time on a machine it takes seconds to measure what spans cost.
 * Returns 0, also where nothing is asked for; -errno, and then has said in one line why spans are
 * off.
 * Context: [attach], before classes are rewritten and the attribution thread runs.
 */
int lc_span_init(JNIEnv *jni, const struct lc_options *options);
void lc_span_enable(
    bool on); /* threads that have no spans yet get none while it is off. [attach] */

bool lc_span_streams(void); /* recorded? Context: any */
bool lc_span_tasks(void);

/* LC_SPAN_STREAMS and LC_SPAN_TASKS of classfile/span_rewrite.h; 0: none. Context: any. */
unsigned lc_span_what(void);

/* Not these after all, and why, in a line that lives on. Said once. Context: [attach] [java]. */
void lc_span_give_up(unsigned what, const char *reason);

/* The calling thread's spans, made when it has none; NULL when it can have none. Context: [java]. */
struct lc_span_thread *lc_span_enter(JNIEnv *jni);
/* Likewise, but none is made and the JVM is not called. Context: [hook]. */
struct lc_span_thread *lc_span_known(void);
/* Make them, for lc_span_enter() alone. */
struct lc_span_thread *lc_span_thread_open(JNIEnv *jni);
/* The calling thread has none any more; `last`: nor ever again. */
void lc_span_thread_close(bool last);

/* The calling thread ends; its slots are read a last time later. Context: [java]. */
void lc_span_thread_end(struct lc_thread *t);

/* A stop-the-world pause. Context: [gc]. */
void lc_span_gc_start(void);
void lc_span_gc_finish(void);

/* The slot in which the calling thread is now, as its number + 1; 0: none. Context: [signal]. */
uint32_t lc_span_current(const struct lc_thread *t);

/*
 * The calling thread takes a sample between these two: its cycles are no part of the span that it is in. Where it was
 * switched meanwhile they stay, since the clock has left out some of them. [signal]
 */
struct lc_span_interrupt {
	uint64_t tsc; /* 0: no spans */
	uint64_t head;
};
void lc_span_interrupted(const struct lc_thread *t, struct lc_span_interrupt *i);
void lc_span_resumed(const struct lc_thread *t, const struct lc_span_interrupt *i);

/*
 * A thread's slot number `i`, or NULL behind the last. Slots never move, and are freed with the
 * thread's record. Context: [writer].
 */
const struct lc_span_slot *lc_span_slot_at(const struct lc_thread *t, uint32_t i);

/* Add what has come since the last time to the thread's tally. Context: [writer]. */
void lc_span_take(struct lc_thread *t);
/* Pauses likewise, to whichever thread's; and single spans, more often than blocks are written. */
void lc_span_take_pauses(struct lc_tally *tally);
bool lc_span_take_traces(struct lc_thread *t); /* is a block to be written, then again? */
/* What is left of them, in the log and in the tally, will never be written. */
void lc_span_give_up_traces(const struct lc_thread *t);
/* Free all, when the last has been taken; what it counted stays in the stats. Context: [writer]. */
void lc_span_forget(struct lc_thread *t);
void lc_span_thread_free(struct lc_thread *t); /* the freeing of it alone */
uint64_t lc_span_pauses_lost(void);

struct lc_span_stats {
	uint64_t executions[LC_SPAN_KINDS]; /* written so far */
	uint64_t negative;
	uint64_t slots;
	uint64_t walks, walk_errors; /* of stacks, to find locations */
	uint64_t stale, unmatched;   /* begins without end, ends without begin */
	uint64_t too_deep, other_place;
	uint64_t traces_lost;
	uint64_t rows_lost; /* that a block cannot hold: numbers out of range, or no memory */
	uint64_t pauses_lost;
};
void lc_span_stats(struct lc_span_stats *out);  /* Context: [writer]. */
void lc_span_counters(struct lc_counters *out); /* Context: [writer]. */

/* For the manifest; NULL: no spans were asked for. Context: [writer]. */
const struct lc_manifest_spans *lc_span_manifest(void);

#endif
