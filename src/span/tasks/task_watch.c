/* SPDX-License-Identifier: Apache-2.0 */
/* span/tasks/task_watch.c - counts what is seen of a class until it can be told. */
#include "src/span/tasks/task_watch.h"

static bool change(struct lc_task_watch *w, uint8_t from, uint8_t to)
{
	return atomic_compare_exchange_strong(&w->state, &from, to);
}

static uint32_t count(_Atomic uint32_t *counter)
{
	uint32_t n = atomic_load_explicit(counter, memory_order_relaxed) + 1;

	atomic_store_explicit(counter, n, memory_order_relaxed);
	return n;
}

bool lc_task_watch_created_slowly(struct lc_task_watch *w)
{
	uint32_t created = count(&w->created);
	uint32_t called = atomic_load_explicit(&w->called, memory_order_relaxed);

	return created >= LC_TASK_WATCH_LIMIT && called < created / LC_TASK_WATCH_SELDOM &&
	       change(w, 0, LC_TASK_WATCH_QUIET);
}

bool lc_task_watch_submitted_slowly(struct lc_task_watch *w)
{
	return !(atomic_exchange(&w->state, LC_TASK_WATCH_TASKS) & LC_TASK_WATCH_TASKS);
}

/* Objects that were made while the class was quiet may be called: look at more of them. */
static bool watch_again(struct lc_task_watch *w)
{
	uint8_t again = atomic_load_explicit(&w->again, memory_order_relaxed);

	if (again >= LC_TASK_WATCH_AGAIN || !change(w, LC_TASK_WATCH_QUIET, 0))
		return false;
	atomic_store_explicit(&w->again, (uint8_t)(again + 1), memory_order_relaxed);
	atomic_store_explicit(&w->created, 0, memory_order_relaxed);
	return true;
}

bool lc_task_watch_executed_slowly(struct lc_task_watch *w, enum lc_task_watch_run run)
{
	switch (run) {
	case LC_TASK_WATCH_RUN_TASK:
		return lc_task_watch_submitted_slowly(w);
	case LC_TASK_WATCH_RUN_CALL:
		return count(&w->called) >= LC_TASK_WATCH_LIMIT &&
		       (change(w, 0, LC_TASK_WATCH_QUIET | LC_TASK_WATCH_CALLS) ||
		        change(w, LC_TASK_WATCH_QUIET, LC_TASK_WATCH_QUIET | LC_TASK_WATCH_CALLS));
	default:
		return watch_again(w);
	}
}
