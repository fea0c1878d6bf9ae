/*
 * span/tasks/task_parts.h - tells a task that is a part of the task around it from a job that a
 * worker's loop executes.
 *
 * A task inside another one is a part of it where it was made inside it, or where the other one is
 * a decorator, which is given one task and executes that one. It is a task of its own where the one
 * around it is a loop that takes jobs off a queue: an execution that executes two tasks or more
 * which were made elsewhere, or one that was made later than the loop itself, and so was not given
 * to it when it was made. What is the first such task of an execution is not decided before the
 * second one begins or the execution ends: until then its counts are held back. A site whose
 * executions were once found to be loops is known as such by all threads.
 *
 * "Made inside": a creation keeps the number of the task that it is a part of (its maker), and that
 * is looked for among the tasks that go on. Owner of all but the known sites: the thread.
 */
#ifndef LC_SPAN_TASKS_TASK_PARTS_H
#define LC_SPAN_TASKS_TASK_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/span/frames/stack.h"

/* Of lc_task_frame.flags, beside LC_TRACE_. */
enum {
	LC_TASK_PARTS_UNDECIDED = 1 << 16, /* the first task from elsewhere in the one around it */
	LC_TASK_PARTS_MET = 1 << 17,       /* has executed one from elsewhere */
	LC_TASK_PARTS_LOOPS = 1 << 18      /* is a loop */
};

struct lc_task_parts_held;

/* Executions that have ended and are not decided yet, by the depth of those around them. */
struct lc_task_parts {
	struct lc_task_parts_held *items; /* malloc'ed */
	uint32_t len, cap;
};

static inline bool lc_task_parts_is_task(const struct lc_span_frame *f)
{
	return f->slot && f->kind >= LC_SPAN_TASK;
}

/*
 * The innermost task or thread around `f`; frame 0 where there is none, or where `f` works for
 * another thread's stream. Context: [hook], owner.
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

/* The maker of what the thread makes now; 0: the thread itself. Context: [hook], owner. */
uint32_t lc_task_parts_maker(const struct lc_span_thread *s);

/*
 * A task begins, which has the frame `f` with what is known of its object. Sets LC_TRACE_OWN or
 * LC_TASK_PARTS_UNDECIDED, and what tells whether others are made inside it. Context: [hook],
 * owner.
 */
void lc_task_parts_begin(struct lc_span_thread *s, struct lc_task_parts *n, struct lc_span_frame *f,
                         uint32_t maker);

/* `f` ends: decide what it holds back. Context: [hook], owner. */
void lc_task_parts_settle(struct lc_span_thread *s, struct lc_task_parts *n,
                          struct lc_span_frame *f);

/*
 * Hold back what LC_TASK_PARTS_UNDECIDED has ended: `alone`, and with all that is part of it
 * `whole`. Returns false where it is decided: by its flags now. Context: [hook], owner.
 */
bool lc_task_parts_hold(struct lc_span_thread *s, struct lc_task_parts *n, struct lc_span_frame *f,
                        const struct lc_span_ended *alone, const struct lc_span_ended *whole);

/*
 * A virtual thread leaves its carrier, whose own spans are `base`, and takes along what is held
 * back of its own; NULL: nothing, or no memory. And it has got a carrier: frees `taken`.
 * Context: [hook], owner.
 */
struct lc_task_parts *lc_task_parts_take(struct lc_task_parts *n, uint32_t base);
void lc_task_parts_put(struct lc_task_parts *n, struct lc_task_parts *taken, uint32_t base);

void lc_task_parts_free(struct lc_task_parts *n); /* Context: [hook] [writer]. */

#endif
