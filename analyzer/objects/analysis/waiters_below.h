/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/waiters_below.h - says what an own method that has most of the samples calls. */
#ifndef LC_OBJECTS_ANALYSIS_WAITERS_BELOW_H
#define LC_OBJECTS_ANALYSIS_WAITERS_BELOW_H

#include "analyzer/objects/analysis/waiters.h"

/* Samples at objects of a class on a path below an own method, or bytes allocated there. */
struct lc_waiter_piece {
	uint32_t method, path;
	uint32_t class; /* string; UINT32_MAX: of no known class */
	uint64_t samples, pairs;
	double bytes;
};

/* Sum pieces up, which are in the order of their classes. Sets all but `method` and `below`. */
void lc_waiter_sum(struct lc_waiters *w, const struct lc_view *v, struct lc_waiter *m,
                   const struct lc_waiter_piece *pieces, size_t len);

/* Set own->below from the method's pieces, if it has half of all samples or more. */
void lc_waiters_open(struct lc_waiters *w, const struct lc_view *v, struct lc_waiter *own,
                     const struct lc_waiter_piece *pieces, size_t len);

#endif
