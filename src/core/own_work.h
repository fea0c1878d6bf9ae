/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/own_work.h - marks the work that the agent does on a thread of the program, so that the
 * spans around it are not charged for it.
 *
 * Work that may take longer than a hook's usual path stands between a begin and an end: events of
 * the JVM, walks, learning a place. Pairs may nest, and signal handlers may run in between: the
 * outermost pair counts. Outside of spans a pair costs a few loads.
 */
#ifndef LC_CORE_OWN_WORK_H
#define LC_CORE_OWN_WORK_H

#include <stdint.h>

struct lc_thread;

/* Work that has begun and not ended; on the stack of the function that does it. */
struct lc_own_work {
	void *owner;    /* owner of the numbers; NULL: there is nothing to end */
	uint64_t begin; /* cycles */
};

struct lc_own_work_clock {
	void (*begin)(const struct lc_thread *t, struct lc_own_work *w);
	void (*end)(const struct lc_thread *t, const struct lc_own_work *w);
};

/* Set the clock that keeps the time; static. Until then there is none. Context: [attach]. */
void lc_own_work_keep(const struct lc_own_work_clock *clock);

/*
 * The calling thread begins and ends work of the agent's own. No span begins or ends in between.
 * Context: any but [signal], which has span/frames/interrupt.h.
 */
void lc_own_work_begin(struct lc_own_work *w);
void lc_own_work_end(const struct lc_own_work *w);

#endif
