/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/own_work.c - calls who keeps the time of the agent's own work: see own_work.h.
 *
 * Order: the keeper is set before there are hooks and events, and never again.
 */
#include "src/core/own_work.h"

#include <stddef.h>

#include "src/core/inside.h"
#include "src/core/thread.h"

static const struct lc_own_work_clock *keeper;

void lc_own_work_keep(const struct lc_own_work_clock *clock)
{
	keeper = clock;
}

void lc_own_work_begin(struct lc_own_work *w)
{
	const struct lc_thread *t = lc_thread_self();

	lc_inside_begin();
	w->owner = NULL;
	if (t && keeper)
		keeper->begin(t, w);
}

void lc_own_work_end(const struct lc_own_work *w)
{
	const struct lc_thread *t = lc_thread_self();

	if (w->owner && t)
		keeper->end(t, w);
	lc_inside_end();
}
