/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/tasks/submitting.h - keeps a thread's submissions under way; nested ones count once.
 *
 * A method that submits may pass the object to another method that submits: both are one
 * submission. Hooks at the start and at each way out of these methods tell which of them a thread
 * is in (classfile/span_rewrite.h). Addresses on the stack cannot tell: compiled code has one frame
 * for all methods that were inlined into it.
 *
 * A task may be executed in the middle of a submission, and submit tasks itself: these are no part
 * of the first submission. So each entry has the depth of the thread's stack of spans. Owner: the
 * thread.
 */
#ifndef LC_SPAN_TASKS_SUBMITTING_H
#define LC_SPAN_TASKS_SUBMITTING_H

#include <stdbool.h>
#include <stdint.h>

#include "src/span/frames/stack.h"
#include "src/span/tasks/link.h"

enum { LC_SUBMITTING_MAX = 1 << 16 }; /* deeper ones are only counted */

struct lc_submitting {
	struct lc_link_key key; /* class 0: no object */
	uint32_t depth;
	bool all;      /* the method got several tasks, and may submit any that waits */
	bool repeated; /* the object was submitted again inside: a further one is another submission
	                */
};

struct lc_submitting_stack {
	struct lc_submitting *items; /* malloc'ed */
	uint32_t len, cap;
	uint32_t excess; /* open entries beyond the bound */
};

/* A method begins that may submit the object of `key` (`all`: any) again. Context: [hook],
 * owner. */
void lc_submitting_push(struct lc_submitting_stack *e, const struct lc_span_thread *s,
                        struct lc_link_key key, bool all);

/* The method that was entered last returns or (`refused`) throws. Context: [hook], owner. */
void lc_submitting_pop(struct lc_submitting_stack *e, const struct lc_span_thread *s, bool refused);

/* Slow path of lc_submitting_repeats(). */
bool lc_submitting_repeats_slowly(struct lc_submitting_stack *e, const struct lc_span_thread *s,
                                  struct lc_link_key key);

/* Is this submission a part of one under way? Context: [hook], owner. */
static inline bool lc_submitting_repeats(struct lc_submitting_stack *e,
                                         const struct lc_span_thread *s, struct lc_link_key key)
{
	return __builtin_expect(e->len != 0, 0) && lc_submitting_repeats_slowly(e, s, key);
}

/*
 * A virtual thread that leaves its carrier takes along its entries beyond the first `len`, on spans
 * beyond the first `base`. Returns NULL if there are none, or without memory. Context: [hook],
 * owner.
 */
struct lc_submitting_stack *lc_submitting_take(struct lc_submitting_stack *e, uint32_t len,
                                               uint32_t base);

/* It got a carrier with `base` own spans. Frees `taken` (NULL is fine). Context: [hook], owner. */
void lc_submitting_put(struct lc_submitting_stack *e, struct lc_submitting_stack *taken,
                       uint32_t base);

void lc_submitting_free(struct lc_submitting_stack *e); /* Context: [writer]. */

#endif
