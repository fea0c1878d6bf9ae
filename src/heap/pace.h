/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/pace.h - chooses the interval between sampled allocations, and remembers which interval was
 * in force.
 *
 * The interval follows the bytes that the program has allocated recently: bytes that are
 * LC_PACE_SECONDS old count for 1 / e. It makes the JVM sample about LC_PACE_PER_SECOND allocations
 * per second of a steady program, at any rate of allocation, but is never below a least interval.
 * The stretch of the budget multiplies it.
 *
 * Each sample stands for the bytes of the interval that it was drawn with. So one sample lengthens
 * the interval by at most 1 / 500, and a burst after a pause, of any rate, is sampled from
 * beginning to end: B bytes have an error of about B / sqrt(1000). (An interval chosen by the rate
 * of samples would jump within a burst, and leave most of the burst without samples.) In a pause
 * the interval shrinks by the same law, so pauses far below LC_PACE_SECONDS hardly change it.
 *
 * The JVM draws a thread's next sample point when the thread passes the last one, or starts. So a
 * new interval is in force on a thread from its next sample point on. A sample was drawn with the
 * interval that was in force at the thread's previous sample, or at its start. Given the past, a
 * point lies in each byte with the same chance, 1 / interval. So the weights are unbiased, whatever
 * changed the interval.
 *
 * HotSpot draws the distance to the next point with a logarithm of 1,024 steps an octave, and
 * counts it from the end of the sampled object (ThreadHeapSampler::pick_next_geometric_sample()).
 * So possible distances are some bytes apart, 256 to 512 with 512 KiB, and a loop that makes the
 * same objects each time has some of them sampled too often. With jitter each distance is drawn
 * with an interval of its own, from 5/6 to 5/4 of the chosen one. The inverse of the interval,
 * which is the chance of a byte, has a flat distribution around that of the chosen interval.
 *
 * Pure arithmetic. Owner: one thread at a time.
 */
#ifndef LC_HEAP_PACE_H
#define LC_HEAP_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/core/jitter.h"

enum {
	LC_PACE_PER_SECOND = 100,     /* target rate of samples, of the whole JVM */
	LC_PACE_SECONDS = 5,          /* time over which allocated bytes are averaged */
	LC_PACE_CHANGES = 128,        /* changes that are remembered */
	LC_PACE_JVM_BYTES = 512 << 10 /* HotSpot's interval before anybody sets one */
};

#define LC_PACE_BYTES_MAX (UINT64_C(1) << 30)

struct lc_pace_change {
	uint64_t time_ns;
	uint64_t interval_bytes;
};

struct lc_pace {
	uint64_t base_bytes;  /* the first interval */
	uint64_t least_bytes; /* at most base_bytes */
	bool adapt; /* follow the allocated bytes; else only the stretch changes the interval */
	uint32_t stretch;        /* 1: none */
	double recent_bytes;     /* sum of the recent samples' bytes, decayed to recent_ns */
	uint64_t recent_ns;      /* CLOCK_MONOTONIC */
	uint64_t in_force_bytes; /* the JVM's */
	uint32_t changes; /* of the chosen interval, ever; change i is at [i % LC_PACE_CHANGES] */
	struct lc_pace_change change[LC_PACE_CHANGES];
};

/* `least_bytes` 0: the interval is the base, stretched; else it follows the allocated bytes. */
void lc_pace_begin(struct lc_pace *p, uint64_t base_bytes, uint64_t least_bytes, uint64_t now_ns);

/* The chosen interval. Threads that pass a sample point get `in_force_bytes`. */
uint64_t lc_pace_interval(const struct lc_pace *p);

/* The interval that was chosen at that time, when a thread started. */
uint64_t lc_pace_interval_at(const struct lc_pace *p, uint64_t time_ns);

/*
 * A sample was taken, which was drawn with the interval `drawn_bytes`. Returns the interval that
 * should be chosen next. If it differs, set it in the JVM, and call lc_pace_change().
 */
uint64_t lc_pace_event(struct lc_pace *p, uint64_t drawn_bytes, uint64_t now_ns);

/* The same without a sample. */
uint64_t lc_pace_tick(struct lc_pace *p, uint64_t now_ns);

/* Jitter an interval for the JVM. Without jitter it is returned as it is. */
uint64_t lc_pace_jittered(uint64_t interval_bytes, struct lc_jitter *j);

/* Note that `interval_bytes` is chosen, and the JVM was given `in_force_bytes`. */
void lc_pace_change(struct lc_pace *p, uint64_t interval_bytes, uint64_t in_force_bytes,
                    uint64_t now_ns);

#endif
