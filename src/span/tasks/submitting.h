/*
 * span/tasks/submitting.h - keeps the submissions that a thread is in the middle of.
 *
 * A method that submits may hand the object on to another one that submits: both are one
 * submission. Which methods a thread is in is told by the hooks at their start and at each way out
 * (classfile/span_rewrite.h), never by addresses on the stack: compiled code has one frame for all
 * methods that were inlined into it.
 *
 * What a task submits that is executed in the middle of a submission is no part of it: each entry
 * has the depth of the thread's stack of spans. Owner of all: the thread.
 */
#ifndef LC_SPAN_TASKS_SUBMITTING_H
#define LC_SPAN_TASKS_SUBMITTING_H

#include <stdbool.h>
#include <stdint.h>

#include "src/span/frames/stack.h"
#include "src/span/tasks/link.h"

enum { LC_SUBMITTING_MAX = 1 << 16 }; /* deeper ones are counted, and told apart no more */

struct lc_submitting {
	struct lc_link_key key; /* class 0: of no object */
	uint32_t depth;
	bool all;      /* given several tasks, of which it may submit any that waits */
	bool repeated; /* its object was submitted again inside: the next time is another submission
	                */
};

struct lc_submitting_stack {
	struct lc_submitting *items; /* malloc'ed */
	uint32_t len, cap;
	uint32_t excess; /* entered beyond the bound, and not left */
};

/* A method begins that may submit the object of `key` again. Context: [hook], owner. */
void lc_submitting_push(struct lc_submitting_stack *e, const struct lc_span_thread *s,
                        struct lc_link_key key, bool all);

/* The method that was entered last returns, or ends by an exception. Context: [hook], owner. */
void lc_submitting_pop(struct lc_submitting_stack *e, const struct lc_span_thread *s, bool refused);

/* The rest of lc_submitting_repeats(). */
bool lc_submitting_repeats_slowly(struct lc_submitting_stack *e, const struct lc_span_thread *s,
                                  struct lc_link_key key);

/* Is what is submitted now a submission that goes on already? Context: [hook], owner. */
static inline bool lc_submitting_repeats(struct lc_submitting_stack *e,
                                         const struct lc_span_thread *s, struct lc_link_key key)
{
	return __builtin_expect(e->len != 0, 0) && lc_submitting_repeats_slowly(e, s, key);
}

/*
 * A virtual thread that leaves its carrier takes along what it has entered beyond the first `len`,
 * on spans beyond the first `base`. Returns NULL where that is nothing, or without memory.
 * Context: [hook], owner.
 */
struct lc_submitting_stack *lc_submitting_take(struct lc_submitting_stack *e, uint32_t len,
                                               uint32_t base);

/* It got a carrier, whose own spans are `base`; frees `taken`, or NULL. Context: [hook], owner. */
void lc_submitting_put(struct lc_submitting_stack *e, struct lc_submitting_stack *taken,
                       uint32_t base);

void lc_submitting_free(struct lc_submitting_stack *e); /* Context: [writer]. */

#endif
