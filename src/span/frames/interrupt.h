/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/frames/interrupt.h - tells a signal handler its thread's current span, and keeps the agent's
 * work on a thread out of the spans around it.
 *
 * Sampling engines know no more of spans than this file.
 */
#ifndef LC_SPAN_FRAMES_INTERRUPT_H
#define LC_SPAN_FRAMES_INTERRUPT_H

#include <stdint.h>

struct lc_own_work; /* core/own_work.h */
struct lc_thread;

/* The slot of the calling thread's current span, as its number + 1; 0: none. Context: [signal]. */
uint32_t lc_span_current(const struct lc_thread *t);

struct lc_span_interrupt {
	void *spans;  /* NULL: no spans */
	uint64_t tsc; /* 0: inside other work of the agent, which includes this */
	uint64_t head;
};

/*
 * The calling thread takes a sample between these two calls: the cycles are taken off its span. If
 * the thread was switched meanwhile, they are not taken off, since the clock has left out some of
 * them. Context: [signal].
 */
void lc_span_interrupted(const struct lc_thread *t, struct lc_span_interrupt *i);
void lc_span_resumed(const struct lc_thread *t, const struct lc_span_interrupt *i);

/*
 * The same for work outside of signal handlers, by the thread's cycle clock, so that a switch
 * meanwhile does no harm. For core/own_work.h. Context: [java] [hook], the thread `t` itself.
 */
void lc_span_work_begin(const struct lc_thread *t, struct lc_own_work *w);
void lc_span_work_end(const struct lc_thread *t, const struct lc_own_work *w);

#endif
