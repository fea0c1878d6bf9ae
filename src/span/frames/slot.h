/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/frames/slot.h - holds the counts of one thread's spans of one place, kind and level.
 *
 * A span that ends is added to its slot. The thread writes the counts. The attribution thread reads
 * them at any time, and remembers the part that it has written. Slots never move.
 */
#ifndef LC_SPAN_FRAMES_SLOT_H
#define LC_SPAN_FRAMES_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/format/kinds.h" /* lc_span_kind, lc_submit_kind, histogram buckets */

struct lc_thread;

/* The key of a slot: a thread's spans with equal keys are one row. */
struct lc_span_key {
	uint8_t kind;         /* enum lc_span_kind */
	uint8_t level;        /* of nesting, from 0; LC_SPAN_LEVEL_MAX: that and deeper */
	uint8_t submit_kind;  /* tasks: enum lc_submit_kind */
	uint32_t path;        /* streams: lc_path number of the location */
	uint32_t site;        /* tasks: class and creation path; 0 for streams */
	uint32_t submit_path; /* tasks: path of the submission; 0: unknown or none */
};

/* Counts of a slot; all only grow. Written by the owner thread, relaxed. */
struct lc_span_counts {
	_Atomic uint64_t executions;
	_Atomic uint64_t folded; /* tasks: ended inside another one and added to it */
	_Atomic uint64_t cycles; /* measured, without nested spans */
	_Atomic int64_t compensated;
	_Atomic uint64_t negative;        /* spans whose compensated cycles are below 0 */
	_Atomic uint64_t switches;        /* context switches while it ran, nested spans included */
	_Atomic uint64_t gc_count, gc_ns; /* stop-the-world pauses inside */
	_Atomic uint64_t wait_ns; /* tasks: from submission to execution, if both were seen */
	_Atomic uint64_t waits;
	_Atomic uint64_t wall_tsc; /* from begin to end, in ticks of the TSC */
	/*
	 * Compensated cycles of spans at other places inside these, at any depth. If a span of the
	 * same place is around, that one has them. A correction of the costs may make them fewer.
	 */
	_Atomic uint64_t inside;
	_Atomic uint64_t inside_streams; /* sequential streams among these spans */
	/* Spans directly inside: anonymous (and foreign), primordial, support, task. */
	_Atomic uint64_t nested[LC_SPAN_NESTED];
	_Atomic uint32_t
	    histogram[LC_SPAN_BUCKETS]; /* of compensated cycles; tasks: including folded ones */
};

/* The open spans of a thread at one place, of any kind and level. Owner only. */
struct lc_open_spans {
	uint64_t number;    /* lc_span_place_number(); constant */
	uint32_t open;      /* frames */
	uint32_t outermost; /* index of the outermost one's frame, if any is open */
};

/* Counts of one place, kind and level in one thread. */
struct lc_span_slot {
	struct lc_span_key key;      /* constant */
	struct lc_open_spans *place; /* constant */
	uint32_t number;             /* for lc_span_slot_at(); constant */
	struct lc_span_counts counts;
	_Atomic uint64_t first_tsc, last_tsc; /* first begin and last end; 0: none */
	/* Owner only, see probe.h: the last timed execution, and the untimed ones. */
	uint64_t last_cycles;
	int64_t last_compensated;
	uint32_t last_bucket;
	uint32_t counted; /* untimed executions that are not in `cycles` yet */
	bool never_counted;
	struct lc_span_counts taken; /* attribution thread only: already written */
	uint64_t taken_first_tsc;
};

/*
 * A number for the place of spans with this key. Spans with equal numbers are at one place: their
 * cycles count once in what the outermost of them has inside. Context: [hook] [writer].
 */
uint64_t lc_span_place_number(const struct lc_span_key *key);

/*
 * A thread's slot number `i`, or NULL after the last. Slots never move, and are freed with the
 * thread's record. Context: [writer].
 */
const struct lc_span_slot *lc_span_slot_at(const struct lc_thread *t, uint32_t i);

#endif
