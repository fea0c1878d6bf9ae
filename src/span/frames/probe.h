/*
 * span/frames/probe.h - measures in the running program what recording a stream costs there.
 *
 * What a begin and an end cost depends on the code around them: on the stores that they wait for,
 * on the instructions that they keep from running ahead, on the caches. So now and then a thread
 * does not time its small streams for a window of LC_PROBE_WINDOW executions: each is found and
 * counted, and neither clock nor stack is touched. What the windows before and after took longer is
 * what timing costs there. To this is added what counting itself costs, which the calibration knows
 * (LC_COST_COUNTED), times how much slower the CPU is now than then (LC_COST_YARDSTICK). The median
 * of these sums replaces the calibration's, also for what the thread has counted before.
 *
 * All executions stay counted. One that was not timed has the cycles of the last one that was, in
 * its slot and for the stream around it. Only streams that have never had a span inside themselves
 * are left out; where one gets its first, it is pushed then, and timed from there on.
 *
 * Owner of all: the thread.
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
	LC_PROBE_ROUNDS = 256,         /* the latest that count */
	LC_PROBE_ROUNDS_MIN = 16,      /* before costs are believed */
	LC_PROBE_FIRST = 1 << 14,      /* executions before the first round */
	LC_PROBE_CYCLES_MAX = 1 << 12, /* of a stream that is left out */
};

enum lc_probe_stage { LC_PROBE_RESTS = 0, LC_PROBE_BEFORE, LC_PROBE_DURING, LC_PROBE_AFTER };

/* Of one thread. */
struct lc_probe {
	uint32_t left; /* executions until the window, or the rest, ends */
	bool counting; /* streams are counted, and not timed */
	bool open;     /* one is executing that is only counted: the rest is about it */
	uint32_t path, level;
	uint64_t id, stack_pointer, return_address;
	struct lc_span_slot *slot;

	enum lc_probe_stage stage;
	uint32_t counted;                         /* in this window, and not timed */
	uint64_t begin, worked, switches, pauses; /* of the thread, when the window began */
	uint64_t before, during;                  /* cycles of these windows */
	uint32_t slots_len;
	struct lc_span_slot *slots[LC_PROBE_SLOTS]; /* with counted executions to settle */
	uint32_t random;
	uint32_t rounds_len;
	float rounds[LC_PROBE_ROUNDS]; /* cycles that a begin and an end cost */
	uint64_t cost; /* of a begin and an end, as it is taken off; 0: as calibrated */
};

/*
 * May threads probe? Not with --trace, where each span has a row. Context: [attach], before the
 * program's threads have spans; until then they do not.
 */
void lc_probe_enable(bool on);

/* A thread's, when its spans begin: with the costs that another thread has found. [hook] */
void lc_probe_init(struct lc_span_thread *s);

/*
 * A stream begins in a window whose streams are counted. Returns true where this one is, else it is
 * to be timed. Context: [hook], owner.
 */
bool lc_probe_begin(struct lc_span_thread *s, struct lc_span_slot *slot,
                    const struct lc_stream_context *stream, uint64_t stack_pointer,
                    uint64_t return_address);

/* The one that is open ends. Context: [hook], owner. */
void lc_probe_end(struct lc_span_thread *s);

/* The one that is open gets a frame after all. Context: [hook], owner. */
void lc_probe_reveal(struct lc_span_thread *s);

/* `left` executions have ended. Context: [hook], owner. */
void lc_probe_turn(struct lc_span_thread *s);

/* Settle what was counted and not timed; no window goes on. Context: [hook], owner. */
void lc_probe_stop(struct lc_span_thread *s);

/* Count streams from now on and never time them, or stop that: for the calibration. [attach] */
void lc_probe_force(struct lc_span_thread *s, bool on);

/* Cycles of some work that is always the same: how fast the CPU is just now. Context: any. */
uint64_t lc_probe_yardstick(void);

/* What a begin and an end cost by the rounds so far; 0: they do not tell. Pure. */
double lc_probe_cost(const struct lc_probe *p);

/*
 * From now on a begin and an end cost `cost` cycles, and so they did for what is in the thread's
 * slots: their compensated cycles change. Context: [hook], owner.
 */
void lc_probe_apply(struct lc_span_thread *s, uint32_t cost);

struct lc_probe_stats {
	uint64_t rounds;  /* that were measured */
	uint64_t cycles;  /* what a begin and an end cost by the latest; 0: none is known */
	uint64_t counted; /* executions that were counted and not timed */
};
void lc_probe_stats(struct lc_probe_stats *out); /* Context: [writer]. */

#endif
