/*
 * heap/pace.h - chooses the interval between sampled allocations, and knows which interval
 * was in force.
 *
 * The interval follows the bytes that the program has allocated recently: bytes that are
 * LC_PACE_SECONDS old count for 1 / e. It is such that the JVM samples some LC_PACE_PER_SECOND
 * allocations in a second of a steady program, whether that allocates much or little, but for a
 * least interval. The stretch of the budget multiplies it.
 *
 * Each sample stands for the bytes of the interval that it was drawn with. So a sample makes the
 * interval longer by 1 / 500 of that at most, and a burst after a pause, of any rate, has samples
 * from its beginning to its end: B bytes have an error of some B / sqrt(1000). An interval that was
 * chosen by the rate of samples jumped within a burst, and most of the burst had no sample. In a
 * pause the interval becomes shorter by the same law, and pauses far below LC_PACE_SECONDS leave it
 * alone.
 *
 * The JVM draws where a thread's next sample point is when the thread has passed the last one, or
 * starts. So a new interval is in force on a thread from its next sample point on, and a sample was
 * taken with the interval that was in force at the sample before, or at the thread's start. Given
 * what came before, a point lies in each byte with the same chance, 1 / interval, so the weights
 * that follow from it are unbiased whatever made the interval change.
 *
 * HotSpot draws the distance to the next point with a logarithm of 1,024 steps an octave, and
 * counts it from the end of the object that was sampled
 * (ThreadHeapSampler::pick_next_geometric_sample()). So the distances of one interval are some
 * bytes apart, 256 to 512 with 512 KiB, and a loop that makes the same objects each time has some
 * of them sampled too often. With jitter each distance is drawn with an interval of its own, from
 * 5/6 to 5/4 of the chosen one. Its inverse, which is the chance of a byte, has a flat
 * distribution, whose mean is that of the chosen interval.
 *
 * Pure arithmetic. Owner: one thread at a time.
 */
#ifndef LC_HEAP_PACE_H
#define LC_HEAP_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/core/jitter.h"

enum {
	LC_PACE_PER_SECOND = 100,     /* samples that are aimed at, of the whole JVM */
	LC_PACE_SECONDS = 5,          /* over which allocated bytes are averaged */
	LC_PACE_CHANGES = 128,        /* the last changes that are remembered */
	LC_PACE_JVM_BYTES = 512 << 10 /* HotSpot's interval before anybody sets one */
};

#define LC_PACE_BYTES_MAX (UINT64_C(1) << 30)

struct lc_pace_change {
	uint64_t time_ns;
	uint64_t interval_bytes;
};

struct lc_pace {
	uint64_t base_bytes;     /* where it begins */
	uint64_t least_bytes;    /* at most base_bytes */
	bool adapt;              /* to the allocated bytes; else the stretch alone counts */
	uint32_t stretch;        /* 1: none */
	double recent_bytes;     /* for which the recent samples stand, at recent_ns */
	uint64_t recent_ns;      /* CLOCK_MONOTONIC */
	uint64_t in_force_bytes; /* the JVM's */
	uint32_t changes; /* of the chosen one, ever; the last are at [i % LC_PACE_CHANGES] */
	struct lc_pace_change change[LC_PACE_CHANGES];
};

/* It adapts itself to the bytes if `least_bytes` is not 0; else it is the base, stretched. */
void lc_pace_begin(struct lc_pace *p, uint64_t base_bytes, uint64_t least_bytes, uint64_t now_ns);

/* The interval that is chosen. Threads that pass a sample point now have `in_force_bytes`. */
uint64_t lc_pace_interval(const struct lc_pace *p);

/* The interval that was chosen when a thread started, at that time. */
uint64_t lc_pace_interval_at(const struct lc_pace *p, uint64_t time_ns);

/*
 * A sample was taken that was drawn with the interval `drawn_bytes`. Returns the interval that
 * should be chosen from now on: where it is another one, the JVM is to be told, then
 * lc_pace_change().
 */
uint64_t lc_pace_event(struct lc_pace *p, uint64_t drawn_bytes, uint64_t now_ns);

/* The same where no sample may have come for long. */
uint64_t lc_pace_tick(struct lc_pace *p, uint64_t now_ns);

/* What the JVM is to be told in place of an interval: the same where nothing is random. */
uint64_t lc_pace_jittered(uint64_t interval_bytes, struct lc_jitter *j);

/* From now on the interval is chosen, and the JVM's is `in_force_bytes`. */
void lc_pace_change(struct lc_pace *p, uint64_t interval_bytes, uint64_t in_force_bytes,
                    uint64_t now_ns);

#endif
