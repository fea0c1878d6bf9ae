/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/tasks/task_parts.c - decides whether a task inside another one is a part of it.
 *
 * The sites of loops are a set of numbers that only grows. The thread that adds a number stores it
 * once (relaxed: no other data depends on it).
 */
#include "src/span/tasks/task_parts.h"

#include <stdlib.h>

#include "src/base/hash.h"
#include "src/format/fold.h"
#include "src/span/tasks/task.h"

enum { ITEMS_MIN = 4, LOOPS_MAX = 1 << 12, PROBES = 16 };

struct lc_task_parts_held {
	uint32_t depth; /* of the task around it */
	uint64_t outer; /* number of the span around it */
	struct lc_span_key key;
	struct lc_span_frame frame;
	struct lc_span_ended alone, whole;
};

static _Atomic uint32_t loop_sites[LOOPS_MAX];

/* The site's slot in the set, or a free one; NULL if there is neither. */
static _Atomic uint32_t *loop_site(uint32_t site)
{
	uint32_t at = (uint32_t)(lc_hash(site) >> 32);

	for (unsigned i = 0; i < PROBES; i++, at++) {
		_Atomic uint32_t *x = &loop_sites[at % LOOPS_MAX];
		uint32_t found = atomic_load_explicit(x, memory_order_relaxed);

		if (!found || found == site)
			return x;
	}
	return NULL;
}

static bool is_loop(const struct lc_span_frame *f)
{
	const _Atomic uint32_t *x;

	if (f->task.flags & LC_TASK_PARTS_LOOPS)
		return true;
	x = loop_site(f->slot->key.site);
	return x && atomic_load_explicit(x, memory_order_relaxed);
}

static void remember_loop(uint32_t site)
{
	_Atomic uint32_t *x = loop_site(site);
	uint32_t none = 0;

	/* If another thread takes the slot for another site, the next execution adds this one. */
	if (x)
		atomic_compare_exchange_strong_explicit(x, &none, site, memory_order_relaxed,
		                                        memory_order_relaxed);
}

/* Does this frame work for a stream that another thread executes, and no frame below it? */
static bool works_for_others(const struct lc_span_frame *frames, const struct lc_span_frame *f)
{
	uint64_t stream = f->stream.id;

	if (!f->slot || f->kind != LC_SPAN_SUPPORT)
		return false;
	while (--f > frames)
		if (f->slot && f->kind == LC_SPAN_PRIMORDIAL && f->number == stream)
			return false;
	return true;
}

struct lc_span_frame *lc_task_parts_outer(struct lc_span_frame *frames,
                                          const struct lc_span_frame *f)
{
	ptrdiff_t at = f - frames;

	while (--at > 0 && !lc_task_parts_is_task(frames + at))
		if (works_for_others(frames, frames + at))
			at = 1;
	return frames + at;
}

uint32_t lc_task_parts_maker(const struct lc_span_thread *s)
{
	for (const struct lc_span_frame *f = s->top; f > s->frames; f--)
		if (lc_task_parts_is_task(f))
			return f->task.root;
	return 0;
}

/* Was the object made inside `outer` or a task around it, or by the thread's own code? */
static bool is_part(const struct lc_span_thread *s, const struct lc_span_frame *outer,
                    const struct lc_span_frame *f, uint32_t maker)
{
	if (!maker)
		return f->task.flags & LC_TRACE_SAME_THREAD &&
		       !(f->task.flags & LC_TRACE_SUBMITTED);
	for (; outer > s->frames; outer--)
		if (lc_task_parts_is_task(outer) && outer->task.root == maker)
			return true;
	return false;
}

/*
 * Is `outer` a composite that the object of `f`, which nobody submitted, was given to? That is a
 * submitted task, or a part of one, and the object was there when the task was submitted.
 */
static bool is_given(const struct lc_span_thread *s, const struct lc_span_frame *outer,
                     const struct lc_span_frame *f)
{
	const struct lc_span_frame *inner = outer;

	if (f->task.flags & LC_TRACE_SUBMITTED || !f->task.created_tsc)
		return false;
	for (; outer > s->frames; outer--) {
		if (!lc_task_parts_is_task(outer))
			continue;
		if (outer->kind != LC_SPAN_TASK || outer->task.root != inner->task.root)
			return false;
		if (outer->task.flags & LC_TRACE_SUBMITTED)
			return outer->task.submit_tsc &&
			       (int64_t)(f->task.created_tsc - outer->task.submit_tsc) <= 0;
	}
	return false;
}

/* Forget executions held back by tasks deeper than `depth`, which were lost (stack.h). */
static struct lc_task_parts_held *held_at(struct lc_task_parts *n, uint32_t depth)
{
	while (n->len && n->items[n->len - 1].depth > depth)
		n->len--;
	return n->len && n->items[n->len - 1].depth == depth ? &n->items[n->len - 1] : NULL;
}

/* Count the execution that `outer` holds back, as a task of its own or as a part of it. */
static void decide(struct lc_span_thread *s, struct lc_task_parts *n, struct lc_span_frame *outer,
                   bool own)
{
	struct lc_task_parts_held *h = held_at(n, (uint32_t)(outer - s->frames));

	if (!h)
		return;
	n->len--;
	h->frame.slot = lc_span_slot_find(s, &h->key);
	if (!h->frame.slot)
		return;
	h->frame.task.flags |= own ? LC_TRACE_OWN : LC_TRACE_FOLDED;
	if (own) {
		lc_span_place_again(s, h->frame.slot->place, outer, (uint64_t)h->whole.compensated,
		                    0);
		lc_span_slot_add(h->frame.slot, &h->frame, &h->whole);
	} else {
		lc_task_parts_add(outer, &h->whole);
		lc_span_add(&h->frame.slot->counts.folded, 1);
	}
	if (__builtin_expect(s->traces != NULL, 0))
		lc_task_trace(s, &h->frame, h->outer, &h->alone);
}

void lc_task_parts_begin(struct lc_span_thread *s, struct lc_task_parts *n, struct lc_span_frame *f,
                         uint32_t maker)
{
	struct lc_span_frame *outer = lc_task_parts_outer(s->frames, f);
	unsigned kind = outer == s->frames
	                    ? (unsigned)LC_SPAN_THREAD
	                    : lc_fold_outer(outer->kind, outer->task.flags, f->task.flags);

	f->task.root = f->kind == LC_SPAN_THREAD ? 0 : (uint32_t)(lc_hash(f->number) >> 32) | 1;
	if (!lc_fold_into_outer(f->kind, kind, f->task.flags, f->task.creator != 0))
		return;
	if (kind == LC_SPAN_THREAD || f->kind == LC_SPAN_THREAD || !f->task.creator ||
	    is_part(s, outer, f, maker) || (!is_loop(outer) && is_given(s, outer, f))) {
		f->task.root = outer == s->frames ? 0 : outer->task.root;
		return;
	}
	if (!(outer->task.flags & LC_TASK_PARTS_MET) && !is_loop(outer) &&
	    !(outer->task.created_tsc &&
	      (int64_t)(f->task.created_tsc - outer->task.created_tsc) > 0)) {
		outer->task.flags |= LC_TASK_PARTS_MET;
		f->task.flags |= LC_TASK_PARTS_UNDECIDED;
		return;
	}
	f->task.flags |= LC_TRACE_OWN;
	if (outer->task.flags & LC_TASK_PARTS_LOOPS)
		return;
	outer->task.flags |= LC_TASK_PARTS_LOOPS;
	remember_loop(outer->slot->key.site);
	if (outer->task.flags & LC_TASK_PARTS_MET)
		decide(s, n, outer, true);
}

void lc_task_parts_settle(struct lc_span_thread *s, struct lc_task_parts *n,
                          struct lc_span_frame *f)
{
	if (f->task.flags & LC_TASK_PARTS_MET && !(f->task.flags & LC_TASK_PARTS_LOOPS))
		decide(s, n, f, is_loop(f));
}

static bool grow(struct lc_task_parts *n, uint32_t len)
{
	uint32_t cap = n->cap ? n->cap : ITEMS_MIN;
	struct lc_task_parts_held *items;

	while (cap < len)
		cap *= 2;
	if (cap == n->cap)
		return true;
	items = realloc(n->items, cap * sizeof(*items));
	if (!items)
		return false;
	n->items = items;
	n->cap = cap;
	return true;
}

bool lc_task_parts_hold(struct lc_span_thread *s, struct lc_task_parts *n, struct lc_span_frame *f,
                        const struct lc_span_ended *alone, const struct lc_span_ended *whole)
{
	struct lc_span_frame *outer = lc_task_parts_outer(s->frames, f);

	if (!(f->task.flags & LC_TASK_PARTS_UNDECIDED) || outer == s->frames)
		return false;
	if (is_loop(outer)) { /* since another thread has found that out meanwhile */
		f->task.flags |= LC_TRACE_OWN;
		return false;
	}
	(void)held_at(n, (uint32_t)(outer - s->frames));
	if (!grow(n, n->len + 1))
		return false;
	n->items[n->len++] = (struct lc_task_parts_held){ .depth = (uint32_t)(outer - s->frames),
		                                          .outer = lc_task_parts_around(s, f),
		                                          .key = f->slot->key,
		                                          .frame = *f,
		                                          .alone = *alone,
		                                          .whole = *whole };
	return true;
}

struct lc_task_parts *lc_task_parts_take(struct lc_task_parts *n, uint32_t base)
{
	uint32_t from = n->len;
	struct lc_task_parts *taken;

	while (from && n->items[from - 1].depth > base)
		from--;
	if (from == n->len)
		return NULL;
	taken = calloc(1, sizeof(*taken));
	if (taken && grow(taken, n->len - from)) {
		for (uint32_t i = from; i < n->len; i++) {
			taken->items[taken->len] = n->items[i];
			taken->items[taken->len++].depth -= base;
		}
	} else {
		free(taken);
		taken = NULL;
	}
	n->len = from;
	return taken;
}

void lc_task_parts_put(struct lc_task_parts *n, struct lc_task_parts *taken, uint32_t base)
{
	if (!taken)
		return;
	if (grow(n, n->len + taken->len))
		for (uint32_t i = 0; i < taken->len; i++) {
			n->items[n->len] = taken->items[i];
			n->items[n->len++].depth += base;
		}
	lc_task_parts_free(taken);
	free(taken);
}

void lc_task_parts_free(struct lc_task_parts *n)
{
	free(n->items);
	*n = (struct lc_task_parts){ 0 };
}
