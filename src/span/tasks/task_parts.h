/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/tasks/task_parts.h - tells a part of a task from a job that a worker's loop executes.
 *
 * An inner task is a part of the task around it in three cases. It was made inside that task. Or
 * that task is a decorator, which gets one task and executes it. Or it is a composite: a task that
 * was submitted, or a part of one, executes tasks that nobody submitted and that were there when it
 * was submitted; unless it is known as a loop. An inner task is a task of its own if
 * the task around it is a loop that takes jobs off a queue. An execution is a loop if it executes
 * two or more tasks that were made elsewhere. It is also a loop if it executes one that was made
 * later than the loop itself, and so was not given to it. The first such task is undecided until
 * the second one begins or the execution ends: its counts are held back until then. All threads
 * know the sites whose executions were once loops.
 *
 * "Made inside": a creation keeps the number of the task that it is a part of (its maker), which is
 * looked for among the running tasks. Owner of all but the known sites: the thread.
 */
#ifndef LC_SPAN_TASKS_TASK_PARTS_H
#define LC_SPAN_TASKS_TASK_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/span/frames/stack.h"

/* Flags of lc_task_frame.flags, beside LC_TRACE_. */
enum {
	LC_TASK_PARTS_UNDECIDED = 1 << 16, /* the first inner task that was made elsewhere */
	LC_TASK_PARTS_MET = 1 << 17,       /* has executed a task that was made elsewhere */
	LC_TASK_PARTS_LOOPS = 1 << 18      /* is a loop */
};

struct lc_task_parts_held;

/* Executions that have ended and are undecided, by the depth of those around them. */
struct lc_task_parts {
	struct lc_task_parts_held *items; /* malloc'ed */
	uint32_t len, cap;
};

static inline bool lc_task_parts_is_task(const struct lc_span_frame *f)
{
	return f->slot && f->kind >= LC_SPAN_TASK;
}

/*
 * The innermost task or thread around `f`; frame 0 if there is none, or if `f` works for another
 * thread's stream. Context: [hook], owner.
 */
struct lc_span_frame *lc_task_parts_outer(struct lc_span_frame *frames,
                                          const struct lc_span_frame *f);

/* The number of the innermost span around `f`; 0: none. Context: [hook], owner. */
static inline uint64_t lc_task_parts_around(const struct lc_span_thread *s,
                                            const struct lc_span_frame *f)
{
	while (--f > s->frames && !f->slot)
		;
	return f > s->frames ? f->number : 0;
}

/* The task of frame `outer` has another one as its part, whose cycles are its own: not nested. */
static inline void lc_task_parts_add(struct lc_span_frame *outer, const struct lc_span_ended *part)
{
	outer->task.cycles += part->cycles;
	outer->task.compensated += (uint64_t)part->compensated;
	outer->within.cycles -= (uint64_t)part->compensated;
}

/* The maker of tasks that the thread makes now; 0: the thread itself. Context: [hook], owner. */
uint32_t lc_task_parts_maker(const struct lc_span_thread *s);

/*
 * A task begins in frame `f`, which has the data of its object. Sets LC_TRACE_OWN or
 * LC_TASK_PARTS_UNDECIDED, and the maker for tasks that are made inside. Context: [hook], owner.
 */
void lc_task_parts_begin(struct lc_span_thread *s, struct lc_task_parts *n, struct lc_span_frame *f,
                         uint32_t maker);

/* `f` ends: decide the executions that it holds back. Context: [hook], owner. */
void lc_task_parts_settle(struct lc_span_thread *s, struct lc_task_parts *n,
                          struct lc_span_frame *f);

/*
 * Hold back an ended LC_TASK_PARTS_UNDECIDED: `alone`, and `whole` with all its parts. Returns
 * false if it is decided: its flags tell. Context: [hook], owner.
 */
bool lc_task_parts_hold(struct lc_span_thread *s, struct lc_task_parts *n, struct lc_span_frame *f,
                        const struct lc_span_ended *alone, const struct lc_span_ended *whole);

/*
 * A virtual thread leaves its carrier, which has `base` own spans, and takes along its executions
 * that are held back; NULL: none, or no memory. lc_task_parts_put(): it has got a carrier; frees
 * `taken`. Context: [hook], owner.
 */
struct lc_task_parts *lc_task_parts_take(struct lc_task_parts *n, uint32_t base);
void lc_task_parts_put(struct lc_task_parts *n, struct lc_task_parts *taken, uint32_t base);

void lc_task_parts_free(struct lc_task_parts *n); /* Context: [hook] [writer]. */

#endif
