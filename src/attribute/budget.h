/*
 * attribute/budget.h - lengthens the intervals of samples where Locus costs more than its budget.
 *
 * Every ten seconds Locus's own CPU time is compared with the process's. What depends on the
 * intervals (handlers and sampled allocations) is made
 * less by a stretch: the intervals are so many times what was asked for. It becomes shorter again
 * when the cost has fallen. Counts are exact and are never throttled.
 */
#ifndef LC_ATTRIBUTE_BUDGET_H
#define LC_ATTRIBUTE_BUDGET_H

#include <stddef.h>
#include <stdint.h>

struct lc_counters;

enum { LC_BUDGET_STRETCH_MAX = 16, LC_BUDGET_CHANGES_MAX = 64 };

/* What has been used so far. */
struct lc_budget_use {
	uint64_t now_ns;     /* CLOCK_MONOTONIC */
	uint64_t process_ns; /* CPU time */
	uint64_t fixed_ns;   /* Locus's, which the intervals do not change */
	uint64_t elastic_ns; /* ... which they change */
};

struct lc_budget {
	uint64_t ppm; /* of the process's CPU time; 0: no limit */
	uint32_t stretch;
	uint64_t
	    exceeded; /* times that counts and the rest that is fixed passed the budget alone */
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

/* The budget of the running profile. Context: [attach]; the others [writer]. */
void lc_budget_start(uint64_t ppm);
void lc_budget_tick(uint64_t now_ns);
void lc_budget_counters(struct lc_counters *out);

/* The first changes of the intervals, at most LC_BUDGET_CHANGES_MAX. Returns how many. */
size_t lc_budget_changes(const struct lc_budget_change **out);

#endif
