/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/budget.h - lengthens the intervals of samples where samples cost more than the budget.
 *
 * Every ten seconds the CPU time of handlers and of sampled allocations is compared with that of
 * the process. If it is more than the budget, the intervals become longer by a factor, the stretch,
 * and shorter again when the cost has fallen. Nothing else that Locus uses stretches the intervals:
 * longer ones would not make it less. Counts are exact and are never throttled.
 */
#ifndef LC_ATTRIBUTE_BUDGET_H
#define LC_ATTRIBUTE_BUDGET_H

#include <stddef.h>
#include <stdint.h>

enum { LC_BUDGET_STRETCH_MAX = 16, LC_BUDGET_CHANGES_MAX = 64 };

/* Time used so far. */
struct lc_budget_use {
	uint64_t now_ns;     /* CLOCK_MONOTONIC */
	uint64_t process_ns; /* CPU time */
	uint64_t
	    counts_ns; /* CPU time of hooks, events and pauses: the intervals do not change it */
	uint64_t samples_ns; /* CPU time of samples and sampled allocations: the intervals do */
};

struct lc_budget {
	uint64_t ppm; /* of the process's CPU time; 0: no limit */
	uint32_t stretch;
	uint64_t exceeded; /* times that counts alone cost more than the budget */
	struct lc_budget_use begin;
};

void lc_budget_begin(struct lc_budget *b, uint64_t ppm, const struct lc_budget_use *use);

/* Look at what was used since the last look that changed or ended a stretch of ten seconds. */
uint32_t lc_budget_look(struct lc_budget *b, const struct lc_budget_use *use);

/* A change of the intervals, as the manifest has it. */
struct lc_budget_change {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t stretch;
};

/*
 * The budget of the running profile. lc_budget_tick() looks, some times in ten seconds. Context:
 * [writer].
 */
void lc_budget_start(uint64_t ppm);
void lc_budget_tick(uint64_t now_ns);

/* The first changes of the intervals, at most LC_BUDGET_CHANGES_MAX. Returns how many. */
size_t lc_budget_changes(const struct lc_budget_change **out);

#endif
