/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/tasks/task_watch.h - decides how much of a class of tasks is worth recording.
 *
 * Many classes are Runnable or Callable, and nobody hands their objects to another thread: each
 * function of Clojure, each operator of Reactor. So a class starts with all its events recorded.
 * After LC_TASK_WATCH_LIMIT objects that nobody submits or executes, the class is quiet: creations
 * are not recorded. After as many executions by the thread that made the object, without a
 * submission, its executions are calls: neither they nor creations are recorded, and their cycles
 * stay with the code around. The first submission, or execution by another thread than the
 * object's creator, makes the class one of tasks for good. A submission comes before the execution,
 * so no submitted task is missed.
 *
 * Counters are written by all threads without locks and may lose some counts: only the order of
 * magnitude matters. `state` changes atomically, and TASKS stays.
 */
#ifndef LC_SPAN_TASKS_TASK_WATCH_H
#define LC_SPAN_TASKS_TASK_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	LC_TASK_WATCH_TASKS = 1, /* everything is recorded for good */
	LC_TASK_WATCH_QUIET = 2, /* creations are not */
	LC_TASK_WATCH_CALLS = 4  /* executions are not */
};

enum {
	LC_TASK_WATCH_LIMIT = 1 << 15,
	/* Quiet classes that are executed are watched again, so often. */
	LC_TASK_WATCH_AGAIN = 4,
	/* A class with fewer executions for each creation may become quiet. */
	LC_TASK_WATCH_SELDOM = 16
};

/* All zero at first. */
struct lc_task_watch {
	_Atomic uint32_t created, called;
	_Atomic uint8_t state; /* LC_TASK_WATCH_TASKS ... */
	_Atomic uint8_t again;
};

/* An execution says of its class: */
enum lc_task_watch_run {
	LC_TASK_WATCH_RUN_TASK,   /* submitted, or made by another thread */
	LC_TASK_WATCH_RUN_CALL,   /* made by the same thread, and not submitted */
	LC_TASK_WATCH_RUN_UNKNOWN /* nothing is known of the object's creation */
};

/* Context: any. */
static inline uint8_t lc_task_watch_state(const struct lc_task_watch *w)
{
	return atomic_load_explicit(&w->state, memory_order_relaxed);
}

/*
 * An object was created, submitted, or is executed. Returns whether that changes the class's state.
 * Context: [hook].
 */
bool lc_task_watch_created_slowly(struct lc_task_watch *w);
bool lc_task_watch_submitted_slowly(struct lc_task_watch *w);
bool lc_task_watch_executed_slowly(struct lc_task_watch *w, enum lc_task_watch_run run);

static inline bool lc_task_watch_created(struct lc_task_watch *w)
{
	return !(lc_task_watch_state(w) & LC_TASK_WATCH_TASKS) && lc_task_watch_created_slowly(w);
}

static inline bool lc_task_watch_submitted(struct lc_task_watch *w)
{
	return !(lc_task_watch_state(w) & LC_TASK_WATCH_TASKS) && lc_task_watch_submitted_slowly(w);
}

static inline bool lc_task_watch_executed(struct lc_task_watch *w, enum lc_task_watch_run run)
{
	return !(lc_task_watch_state(w) & LC_TASK_WATCH_TASKS) &&
	       lc_task_watch_executed_slowly(w, run);
}

#endif
