/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/waiters.h - sums samples and allocations up by the nearest method of the
 * program's own (own_code.h): the code that can be changed, whichever library it called.
 */
#ifndef LC_OBJECTS_ANALYSIS_WAITERS_H
#define LC_OBJECTS_ANALYSIS_WAITERS_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/arena.h"
#include "analyzer/objects/analysis/view.h"

/* Objects of a class that a method accessed. */
struct lc_waiter_class {
	uint32_t class; /* string */
	uint64_t samples;
};

struct lc_waiter {
	uint32_t method;
	uint64_t samples, pairs;               /* as in struct lc_weighted */
	double low, high;                      /* 95% interval of the share of all samples */
	double bytes;                          /* allocated there: counted and estimated */
	const struct lc_waiter_class *classes; /* of known objects; most samples first */
	size_t classes_len;
	/* The larger parts of its time, by what it calls outside the JDK: no sample counts twice.
	 */
	const struct lc_waiter *below;
	size_t below_len;
};

struct lc_waiters {
	struct lc_waiter *list; /* most samples first, then most bytes */
	size_t len;
	struct lc_waiter *others; /* libraries' methods nearest to samples without an own frame */
	size_t others_len;
	uint64_t
	    elsewhere; /* samples without an own frame: with those of `list`, all of the view */
	double bytes;  /* of all allocations of the view */
	struct lc_arena arena;
};

/* Free with lc_waiters_free(). The view must outlive it. */
void lc_waiters_build(struct lc_waiters *w, const struct lc_view *v);
void lc_waiters_free(struct lc_waiters *w);

#endif
