/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/frames/probe.h - measures, in the running program, the cost of recording a stream.
 *
 * The cost of a begin and an end depends on the code around them: on stores that they wait for, on
 * instructions that they keep from running ahead, on caches. So now and then a thread does not time
 * its small streams for a window of LC_PROBE_WINDOW executions. It finds and counts each of them,
 * and touches neither clock nor stack. The extra time of the windows before and after is the cost
 * of timing. To this is added the cost of counting, which the calibration knows (LC_COST_COUNTED).
 * The median of these sums replaces the calibration's cost, also for earlier spans of the thread.
 *
 * All but inner costs grow when other work shares the CPU's core. So before each round, the thread
 * takes the time of a yardstick, and scales its costs (lc_span_costs_at()). Costs of rounds are
 * kept as they would be at the calibration's speed (LC_COST_YARDSTICK).
 *
 * All executions stay counted. An untimed one has the cycles of the last timed one, in its slot and
 * for the stream around it. Only streams that never had a span inside are left out. At its first
 * inner span, an untimed stream is pushed, and timed from there on.
 *
 * Owner: the thread.
 */
#ifndef LC_SPAN_FRAMES_PROBE_H
#define LC_SPAN_FRAMES_PROBE_H

#include <stdbool.h>
#include <stdint.h>

struct lc_span_slot;
struct lc_span_thread;
struct lc_stream_context;

enum {
	LC_PROBE_WINDOW = 64,          /* executions */
	LC_PROBE_SLOTS = 64,           /* in a window */
	LC_PROBE_ROUNDS = 256,         /* latest rounds, which count */
	LC_PROBE_ROUNDS_MIN = 16,      /* rounds before a cost is used */
	LC_PROBE_FIRST = 1 << 14,      /* executions before the first round */
	LC_PROBE_CYCLES_MAX = 1 << 12, /* limit for a stream that is left out */
};

enum lc_probe_stage { LC_PROBE_RESTS = 0, LC_PROBE_BEFORE, LC_PROBE_DURING, LC_PROBE_AFTER };

/* State of one thread. */
struct lc_probe {
	uint32_t left; /* executions until the window, or the rest, ends */
	bool counting; /* streams are counted, not timed */
	bool open;     /* an untimed stream runs: the next members are about it */
	uint32_t path, level;
	uint64_t id, stack_pointer, return_address;
	struct lc_span_slot *slot;

	enum lc_probe_stage stage;
	uint32_t counted;                         /* untimed executions in this window */
	uint64_t begin, worked, switches, pauses; /* when the window began */
	uint64_t before, during;                  /* cycles of these windows */
	uint32_t slots_len;
	struct lc_span_slot *slots[LC_PROBE_SLOTS]; /* slots with untimed executions to settle */
	uint32_t random;
	uint32_t rounds_len;
	float rounds[LC_PROBE_ROUNDS]; /* cost of a begin and an end, in cycles */
	uint64_t cost; /* cost of a begin and an end that is taken off; 0: as calibrated */
};

/*
 * Let threads probe, or not: with --trace each span needs a row. Off at first. Context: [attach],
 * before the program's threads have spans.
 */
void lc_probe_enable(bool on);

/* Begin for a thread, with the costs that other threads have found. [hook] */
void lc_probe_init(struct lc_span_thread *s);

/*
 * A stream begins in an untimed window. Returns true if it is only counted, false if it must be
 * timed. Context: [hook], owner.
 */
bool lc_probe_begin(struct lc_span_thread *s, struct lc_span_slot *slot,
                    const struct lc_stream_context *stream, uint64_t stack_pointer,
                    uint64_t return_address);

/* The open untimed stream ends. Context: [hook], owner. */
void lc_probe_end(struct lc_span_thread *s);

/* The open untimed stream gets a frame after all. Context: [hook], owner. */
void lc_probe_reveal(struct lc_span_thread *s);

/* `left` executions have ended. Context: [hook], owner. */
void lc_probe_turn(struct lc_span_thread *s);

/* Settle the untimed executions, and end the window. Context: [hook], owner. */
void lc_probe_stop(struct lc_span_thread *s);

/* Count all streams without timing them, or stop that: for the calibration. [attach] */
void lc_probe_force(struct lc_span_thread *s, bool on);

/* Cycles of a fixed piece of work, which tell the current speed of the CPU, some 2000. Context:
 * any. */
uint64_t lc_probe_yardstick(void);

/* The cost of a begin and an end by the rounds so far; 0: unknown. Pure. */
double lc_probe_cost(const struct lc_probe *p);

/*
 * Set the cost of a begin and an end, in cycles, also for the executions in the thread's slots:
 * their compensated cycles change. Context: [hook], owner.
 */
void lc_probe_apply(struct lc_span_thread *s, uint32_t cost);

#endif
