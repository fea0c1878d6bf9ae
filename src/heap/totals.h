/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/totals.h - sums what all threads have allocated since the recording began.
 *
 * A thread that synchronizes with another one (a lock, a Future) and takes a sum afterwards sees
 * all that the other has counted before.
 */
#ifndef LC_HEAP_TOTALS_H
#define LC_HEAP_TOTALS_H

#include <stdint.h>

struct lc_thread;

struct lc_totals {
	uint64_t
	    objects; /* counted exactly: of the least size of objects that are tracked, and more */
	uint64_t bytes;
};

/* All threads, those that have ended included. Takes the lock of the list. Context: [java]. */
void lc_totals_take(struct lc_totals *out);

/* Keep the counts of `t`, which has ended and was just unlinked. Under the list's lock. [writer] */
void lc_totals_keep(const struct lc_thread *t);

#endif
