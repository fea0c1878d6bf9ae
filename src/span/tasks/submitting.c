/* SPDX-License-Identifier: Apache-2.0 */
/* span/tasks/submitting.c - keeps a stack of methods that submit, beside the stack of spans. */
#include "src/span/tasks/submitting.h"

#include <stdlib.h>

enum { ITEMS_MIN = 8 };

static uint32_t depth_of(const struct lc_span_thread *s)
{
	return (uint32_t)(s->top - s->frames) + (uint32_t)(s->excess + s->low);
}

static bool grow(struct lc_submitting_stack *e)
{
	uint32_t cap = e->cap ? 2 * e->cap : ITEMS_MIN;
	struct lc_submitting *items;

	if (cap > LC_SUBMITTING_MAX)
		return false;
	items = realloc(e->items, cap * sizeof(*items));
	if (!items)
		return false;
	e->items = items;
	e->cap = cap;
	return true;
}

/* Forget the entries of spans that have ended: their ends were lost (span/frames/stack.h). */
static void settle(struct lc_submitting_stack *e, uint32_t depth)
{
	while (e->len && e->items[e->len - 1].depth > depth)
		e->len--;
}

void lc_submitting_push(struct lc_submitting_stack *e, const struct lc_span_thread *s,
                        struct lc_link_key key, bool all)
{
	uint32_t depth = depth_of(s);

	settle(e, depth);
	if (e->excess || (e->len == e->cap && !grow(e))) {
		e->excess++;
		return;
	}
	e->items[e->len++] = (struct lc_submitting){ .key = key, .depth = depth, .all = all };
}

static bool same_key(struct lc_link_key a, struct lc_link_key b)
{
	return a.hash == b.hash && a.class == b.class;
}

/* Does a method that was entered at that depth execute a task? Streams are no tasks. */
static bool executes(const struct lc_span_thread *s, uint32_t depth)
{
	for (const struct lc_span_frame *f = s->frames + depth + 1; f <= s->top; f++)
		if (!f->slot || f->kind >= LC_SPAN_TASK)
			return true;
	return false;
}

/* The innermost entry from `from` down that the object's submission would repeat; NULL: none. */
static struct lc_submitting *find(struct lc_submitting_stack *e, const struct lc_span_thread *s,
                                  uint32_t from, struct lc_link_key key)
{
	for (uint32_t i = from; i-- && !executes(s, e->items[i].depth);) {
		struct lc_submitting *x = &e->items[i];

		if (x->all ? lc_link_pending(key) : same_key(x->key, key))
			return x;
	}
	return NULL;
}

void lc_submitting_pop(struct lc_submitting_stack *e, const struct lc_span_thread *s, bool refused)
{
	uint32_t depth = depth_of(s);
	struct lc_submitting *outer;

	settle(e, depth);
	if (e->excess) {
		e->excess--;
		return;
	}
	if (!e->len || e->items[e->len - 1].depth != depth)
		return;
	e->len--;
	if (!refused || !e->items[e->len].key.class)
		return;
	/* The method refused its object: the caller may try another method. */
	outer = find(e, s, e->len, e->items[e->len].key);
	if (outer)
		outer->repeated = false;
}

bool lc_submitting_repeats_slowly(struct lc_submitting_stack *e, const struct lc_span_thread *s,
                                  struct lc_link_key key)
{
	struct lc_submitting *outer;
	bool again;

	settle(e, depth_of(s));
	outer = find(e, s, e->len, key);
	if (!outer || outer->all)
		return outer != NULL;
	again = outer->repeated;
	outer->repeated = true;
	return !again;
}

struct lc_submitting_stack *lc_submitting_take(struct lc_submitting_stack *e, uint32_t len,
                                               uint32_t base)
{
	uint32_t more = e->len > len ? e->len - len : 0;
	struct lc_submitting_stack *taken = more ? calloc(1, sizeof(*taken)) : NULL;

	if (e->len > len)
		e->len = len;
	if (!taken)
		return NULL;
	while (taken->cap < more)
		if (!grow(taken)) {
			lc_submitting_free(taken);
			free(taken);
			return NULL;
		}
	for (; taken->len < more; taken->len++) {
		taken->items[taken->len] = e->items[len + taken->len];
		taken->items[taken->len].depth -= base;
	}
	return taken;
}

void lc_submitting_put(struct lc_submitting_stack *e, struct lc_submitting_stack *taken,
                       uint32_t base)
{
	if (!taken)
		return;
	for (uint32_t i = 0; i < taken->len && (e->len < e->cap || grow(e)); i++) {
		e->items[e->len] = taken->items[i];
		e->items[e->len++].depth += base;
	}
	lc_submitting_free(taken);
	free(taken);
}

void lc_submitting_free(struct lc_submitting_stack *e)
{
	free(e->items);
	*e = (struct lc_submitting_stack){ 0 };
}
