/*
 * core/own_work.h - marks the work that the agent does on a thread of the program, so that the
 * spans around it are not charged for it.
 *
 * Whatever may take longer than a hook does on its usual path stands between a begin and an end:
 * events of the JVM, walks, learning a place. Pairs may lie in each other, and signal handlers may
 * come in between: the outermost pair counts. Where the thread is in no span a pair costs a few
 * loads.
 */
#ifndef LC_CORE_OWN_WORK_H
#define LC_CORE_OWN_WORK_H

#include <stdint.h>

struct lc_thread;

/* Begun and not yet ended; on the stack of who does the work. */
struct lc_own_work {
	void *owner;    /* whose the numbers are; NULL: nothing is to be ended */
	uint64_t begin; /* cycles */
};

struct lc_own_work_clock {
	void (*begin)(const struct lc_thread *t, struct lc_own_work *w);
	void (*end)(const struct lc_thread *t, const struct lc_own_work *w);
};

/* Who keeps the time from now on; static. Before, nobody does. Context: [attach]. */
void lc_own_work_keep(const struct lc_own_work_clock *clock);

/*
 * The calling thread begins and ends work of the agent's own. No span begins or ends in between.
 * Context: any but [signal], whose own is span/frames/interrupt.h.
 */
void lc_own_work_begin(struct lc_own_work *w);
void lc_own_work_end(const struct lc_own_work *w);

#endif
