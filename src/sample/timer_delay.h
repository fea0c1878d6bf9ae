/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/timer_delay.h - signals a thread at a point of its CPU time that no tick falls on.
 *
 * The kernel serves CPU clocks at its tick, so the timer goes by the wall clock. It is set when a
 * signal finds the thread running shortly before the point. If the thread has not run for that long
 * when the timer expires, the timer is set again for the rest. It is not set again if the thread
 * has waited meanwhile: the thread may be waiting again, and must not be woken twice. In that case
 * the next tick sets the timer.
 */
#ifndef LC_SAMPLE_TIMER_DELAY_H
#define LC_SAMPLE_TIMER_DELAY_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Written by: the thread's own handlers, then end. All 0: none was used. */
struct lc_timer_delay {
	int64_t waits; /* the thread's waits when the timer was set */
	int32_t timer; /* the kernel's number, if `made` */
	bool made;
	bool refused; /* the kernel had none */
};

/*
 * Signal the calling thread, `tid`, in `ns`, with the signal of *info. The first call makes the
 * timer. If the kernel refuses it, no signal comes. Context: [signal], errno kept by the caller.
 */
void lc_timer_delay_set(struct lc_timer_delay *d, uint64_t ns, int32_t tid, const siginfo_t *info);

/* Did its timer send the signal? Context: as before. */
bool lc_timer_delay_sent(const struct lc_timer_delay *d, const siginfo_t *info);

/* Has the calling thread waited for something since the timer was set? Context: as before. */
bool lc_timer_delay_waited(const struct lc_timer_delay *d);

/* No handler runs any more. Context: any but [signal]. */
void lc_timer_delay_end(struct lc_timer_delay *d);

#endif
