/* SPDX-License-Identifier: Apache-2.0 */
/* attribute/budget.c - compares the CPU time of samples with the budget, and sets the stretch. */
#include "src/attribute/budget.h"

#include <string.h>

#include "src/base/time.h"
#include "src/core/counters.h"
#include "src/core/own_cost.h"
#include "src/heap/estimate.h"
#include "src/sample/engine.h"

#define SECOND_NS UINT64_C(1000000000)

enum {
	LOOK_SECONDS = 10,
	COMES_BACK_PERCENT = 80, /* of the budget: shorter intervals must keep below it */
};

void lc_budget_begin(struct lc_budget *b, uint64_t ppm, const struct lc_budget_use *use)
{
	*b = (struct lc_budget){ .ppm = ppm, .stretch = 1, .begin = *use };
}

static uint32_t longer(uint32_t stretch, uint64_t samples_ns, uint64_t limit_ns)
{
	const uint64_t factor =
	    limit_ns ? (samples_ns + limit_ns - 1) / limit_ns : LC_BUDGET_STRETCH_MAX;
	const uint64_t next = stretch * (factor < 2 ? 2 : factor);

	return next < LC_BUDGET_STRETCH_MAX ? (uint32_t)next : LC_BUDGET_STRETCH_MAX;
}

uint32_t lc_budget_look(struct lc_budget *b, const struct lc_budget_use *use)
{
	const uint64_t process_ns = use->process_ns - b->begin.process_ns;
	const uint64_t counts_ns = use->counts_ns - b->begin.counts_ns;
	const uint64_t samples_ns = use->samples_ns - b->begin.samples_ns;
	const uint64_t limit_ns = (uint64_t)((double)process_ns * (double)b->ppm / 1e6);

	/* An idle program's CPU time is too little to measure a share of it. */
	if (!b->ppm || use->now_ns - b->begin.now_ns < LOOK_SECONDS * SECOND_NS ||
	    process_ns < SECOND_NS)
		return b->stretch;
	b->begin = *use;
	b->exceeded += counts_ns > limit_ns;
	if (samples_ns > limit_ns)
		b->stretch = longer(b->stretch, samples_ns, limit_ns);
	else if (b->stretch > 1 && samples_ns * 2 < limit_ns * COMES_BACK_PERCENT / 100)
		b->stretch /= 2;
	return b->stretch;
}

static struct {
	struct lc_budget budget;
	struct lc_budget_change changes[LC_BUDGET_CHANGES_MAX];
	uint64_t changes_len; /* ever */
} state;

static struct lc_budget_use use_so_far(uint64_t now_ns)
{
	return (struct lc_budget_use){
		.now_ns = now_ns,
		.process_ns = lc_own_cost_process(),
		.counts_ns = lc_own_cost_of(LC_OWN_HOOKS) + lc_own_cost_of(LC_OWN_EVENTS) +
		             lc_own_cost_of(LC_OWN_PAUSES) + lc_own_cost_of(LC_OWN_WALKS),
		.samples_ns = lc_own_cost_of(LC_OWN_SAMPLES),
	};
}

void lc_budget_start(uint64_t ppm)
{
	const struct lc_budget_use use = use_so_far(lc_time_now_ns());

	lc_budget_begin(&state.budget, ppm, &use);
	for (unsigned i = 0; i < lc_engines_count(); i++)
		if (!strcmp(lc_engines_info(i)->name, "timer"))
			lc_own_cost_engine(i, lc_engines_info(i)->interval);
}

void lc_budget_tick(uint64_t now_ns)
{
	const uint32_t before = state.budget.stretch;
	const struct lc_budget_use use = use_so_far(now_ns);
	const uint32_t stretch = lc_budget_look(&state.budget, &use);

	if (stretch == before)
		return;
	lc_engines_stretch(stretch);
	lc_estimate_stretch(stretch);
	if (state.changes_len < LC_BUDGET_CHANGES_MAX)
		state.changes[state.changes_len] = (struct lc_budget_change){ now_ns, stretch };
	state.changes_len++;
}

size_t lc_budget_changes(const struct lc_budget_change **out)
{
	*out = state.changes;
	return state.changes_len < LC_BUDGET_CHANGES_MAX ? state.changes_len
	                                                 : LC_BUDGET_CHANGES_MAX;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("budget_stretch", &state.budget.stretch),
	LC_COUNTER("budget_changes", &state.changes_len),
	LC_COUNTER("budget_exceeded", &state.budget.exceeded),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
