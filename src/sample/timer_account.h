/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/timer_account.h - computes when a thread is sampled, and how many samples a tick of the
 * kernel counts as.
 *
 * The kernel serves a timer on a thread's CPU clock at its tick, at any moment of the thread's
 * life. So the tick samples, and stands for one tick of CPU time however short the thread lives:
 * one in twenty threads that live for a twentieth of a tick is found. The time that ticks stand for
 * is added up, and each full interval of the sum is a sample. Three rules make the samples agree
 * with the CPU clock:
 *
 * - a thread that was not switched since its last tick has run since: the tick stands for the CPU
 *   time between the two, even if the kernel folded several ticks into one signal;
 * - on a thread that has met many ticks, the next ticks pay the clock's lead over the ticks little
 *   by little;
 * - the time that a thread with few ticks had left at its end is paid in the same way by threads of
 *   its kind. The threads' names without digits tell kinds apart.
 *
 * The kernel's ticks are as regular as its clock, and so is a program that goes by that clock: each
 * tick may find it in the same place. So with jitter, a thread that has met many ticks is sampled
 * at points of its CPU time instead, one at random in each interval. At a tick or signal near to a
 * point, sample/timer_delay.h sets a second timer, which has no ticks, for the point. The signal of
 * that timer sets it for the next point, so a thread that meets few ticks is sampled as often. A
 * point that no signal has come for in time is taken at the next tick.
 */
#ifndef LC_SAMPLE_TIMER_ACCOUNT_H
#define LC_SAMPLE_TIMER_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "src/core/jitter.h"

/* One thread's account. Written by: begin, then the thread's own handlers, then end. */
struct lc_timer_account {
	uint64_t begin_ns;    /* the thread's CPU clock when sampling began; 0: it never did */
	uint64_t tick_ns;     /* ... at its last tick */
	uint64_t interval_ns; /* of CPU time between two samples */
	uint64_t credit_ns;   /* of the ticks' sum, for the next sample: < interval times stretch */
	uint32_t stretch;     /* in force at its last tick; 0: 1 */
	int64_t paid_ns;      /* sum of the time that its ticks stand for */
	int64_t switches;     /* context switches when the last tick came */
	uint32_t ticks;
	uint32_t kind; /* index of the kind of thread */

	struct lc_jitter jitter; /* used if the thread is sampled at points */
	uint64_t point_ns;       /* time of the next sample on its CPU clock; 0: by ticks */
	uint32_t intervals;      /* intervals, times the stretch, that have one point */
	uint64_t cell_ns;        /* begin of the intervals of that point */
	int64_t debt_ns;         /* time that no sample has stood for, for points to pay */
};

/* Learn how long the kernel's tick is. May be called again. Context: [attach]. */
void lc_timer_account_init(void);

/* The kernel's tick in ns, as it was measured so far. Context: any. */
uint64_t lc_timer_account_tick_ns(void);

/*
 * Take a sample for each `stretch` intervals, which counts for so many. The rest of a thread's
 * interval is stretched with it, so that each moment keeps its chance to be in the time that
 * samples stand for. Context: any.
 */
void lc_timer_account_stretch(uint32_t stretch);

/*
 * Begin for thread `tid` named `name`: a sample for each `interval_ns`, the first at random, and
 * the others too with `jitter`. No tick may come before the return. Context: [attach] [java].
 */
void lc_timer_account_begin(struct lc_timer_account *a, int32_t tid, const char *name,
                            uint64_t interval_ns, bool jitter);

/* A tick has found the calling thread: how many samples it is, 0 or more. Context: [signal]. */
uint32_t lc_timer_account_tick(struct lc_timer_account *a);

/*
 * The same for a thread whose CPU clock says `now_ns` and that was switched `switches` times so
 * far. Context: as lc_timer_account_tick(), and tests.
 */
uint32_t lc_timer_account_tick_at(struct lc_timer_account *a, uint64_t now_ns, int64_t switches);

/*
 * The CPU clock of the thread, which has met no tick, says `now_ns`: how many samples the points
 * that it has passed are, 0 or more. Context: as lc_timer_account_tick(), and tests.
 */
uint32_t lc_timer_account_points(struct lc_timer_account *a, uint64_t now_ns);

/*
 * How much the thread has to run from `now_ns` on until its next point. 0 at a `tick` where there
 * is none before a later tick. Behind another signal, or a tick that was late, no later tick is
 * certain: on a busy machine, a thread that runs for a moment at a time may meet none for 40 ms of
 * its CPU time, and more.
 * Context: as before.
 */
uint64_t lc_timer_account_to_point(const struct lc_timer_account *a, uint64_t now_ns, bool tick);

/*
 * End it, no handler running, and carry over the time that the thread has left. Returns the ns of
 * CPU time since the begin; 0 if it never began or has ended before. For a thread that has gone, it
 * is the time until the last tick. Context: [attach] [java] [writer].
 */
uint64_t lc_timer_account_end(struct lc_timer_account *a, int32_t tid);
uint64_t lc_timer_account_end_at(struct lc_timer_account *a, uint64_t now_ns); /* likewise */

/* CPU time in ns since the begin, of any thread. Context: [writer]. */
uint64_t lc_timer_account_cpu_ns(const struct lc_timer_account *a, int32_t tid);

#endif
