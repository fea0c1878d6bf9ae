/* SPDX-License-Identifier: Apache-2.0 */
/* span/frames/stack.c - grows the stack of spans and adds ended spans to slots. */
#include "src/span/frames/stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/spin.h"
#include "src/core/counters.h"
#include "src/core/thread.h"
#include "src/span/span.h"

/* Few, since a thread may end after one task: what it never uses is cleared for nothing. */
enum { FRAMES_MIN = 8, SLOTS_MIN = 2 };

static const struct lc_slab_kind slots = { sizeof(struct lc_span_slot), SLOTS_MIN, 16 };
static const struct lc_slab_kind places = { sizeof(struct lc_open_spans), SLOTS_MIN, 16 };

static _Atomic uint32_t slots_in_process;
/* Set before there are threads with slots. */
static uint32_t other_path, other_site;
static uint64_t (*number_of_place)(const struct lc_span_key *key);

uint32_t lc_span_slots_count(void)
{
	return atomic_load_explicit(&slots_in_process, memory_order_relaxed); /* a count */
}

bool lc_span_slots_crowded(void)
{
	return lc_span_slots_count() > LC_SPAN_SLOTS_MAX / 2;
}

static uint32_t slowed(uint32_t cost, double slowness)
{
	return (uint32_t)(cost * slowness + 0.5);
}

void lc_span_costs_at(struct lc_span_thread *s, double slowness)
{
	const struct lc_span_costs *base = &s->base;

	s->slowness = slowness;
	s->inner_cost = base->inner;
	s->task_inner_cost = base->task_inner;
	s->outer_cost[0] = slowed(base->anonymous, slowness);
	s->outer_cost[1] = slowed(base->primordial, slowness);
	s->outer_cost[2] = slowed(base->support, slowness);
	s->outer_cost[3] = slowed(base->task, slowness);
	s->counted_cost = slowed(base->counted, slowness);
	for (unsigned i = 0; i < LC_SPAN_HOOKS; i++)
		s->hook_cost[i] = slowed(base->hooks[i], slowness);
}

int lc_span_stack_init(struct lc_span_thread *s, const struct lc_span_costs *costs,
                       const struct lc_span_pauses *pauses)
{
	memset(s, 0, sizeof(*s));
	s->frames = calloc(FRAMES_MIN, sizeof(*s->frames));
	if (!s->frames)
		return -ENOMEM;
	s->top = s->frames;
	s->limit = s->frames + FRAMES_MIN;
	s->frames->kind = LC_SPAN_KINDS;
	s->frames->bottom = true;
	s->frames->stack_pointer = UINT64_MAX;
	s->pauses = pauses;
	s->ended.element_bytes = sizeof(uint64_t);
	s->base = *costs;
	lc_span_costs_at(s, 1);
	return 0;
}

void lc_span_stack_destroy(struct lc_span_thread *s)
{
	atomic_fetch_sub_explicit(&slots_in_process,
	                          atomic_load_explicit(&s->slots.len, memory_order_relaxed),
	                          memory_order_relaxed); /* a count */
	lc_slab_free(&s->slots);
	lc_slab_free(&s->places);
	free(s->ended.data);
	free(s->frames);
}

int lc_span_stack_grow(struct lc_span_thread *s)
{
	size_t cap = (size_t)(s->limit - s->frames), at = (size_t)(s->top - s->frames);
	struct lc_span_frame *bigger, *old = s->frames;

	if (cap >= LC_SPAN_DEPTH_MAX)
		return -ENOSPC;
	bigger = calloc(2 * cap, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	lc_spin_lock(
	    &s->lock); /* or it may be read while it is freed, or marked when it is copied */
	memcpy(bigger, old, cap * sizeof(*bigger));
	atomic_signal_fence(memory_order_seq_cst);
	s->top = bigger + at; /* a handler walks from here to a frame 0 */
	s->frames = bigger;
	s->limit = bigger + 2 * cap;
	atomic_signal_fence(memory_order_seq_cst);
	lc_spin_unlock(&s->lock);
	free(old);
	return 0;
}

void lc_span_watched_ended(struct lc_span_thread *s, struct lc_span_frame *f)
{
	if (lc_vector_push(&s->ended, &f->number))
		lc_span_add(&s->unsettled, 1);
	atomic_store_explicit(&f->watched, 0, memory_order_relaxed); /* under lock */
}

/* Slots */

struct lc_span_slot *lc_span_stack_slot(const struct lc_span_thread *s, uint32_t i)
{
	return lc_slab_get(&s->slots, &slots, i);
}

static bool same(const struct lc_span_key *a, const struct lc_span_key *b)
{
	return a->kind == b->kind && a->level == b->level && a->submit_kind == b->submit_kind &&
	       a->path == b->path && a->site == b->site && a->submit_path == b->submit_path;
}

void lc_span_slots_name_other(uint32_t path, uint32_t site)
{
	other_path = path;
	other_site = site;
}

uint32_t lc_span_slots_other_site(void)
{
	return other_site;
}

static struct lc_span_key key_of_other(uint8_t kind)
{
	return kind >= LC_SPAN_TASK ? (struct lc_span_key){ .kind = kind, .site = other_site }
	                            : (struct lc_span_key){ .kind = kind, .path = other_path };
}

static uint32_t hash(const struct lc_span_key *key)
{
	uint64_t h = (uint64_t)key->kind | (uint64_t)key->level << 8 |
	             (uint64_t)key->submit_kind << 16 | (uint64_t)key->path << 32;

	h = lc_hash_add(h, (uint64_t)key->site << 32 | key->submit_path);
	return (uint32_t)(lc_hash(h) >> 32);
}

static bool has_key(const void *slot, const void *key)
{
	return same(&((const struct lc_span_slot *)slot)->key, key);
}

void lc_span_places_by(uint64_t (*number)(const struct lc_span_key *key))
{
	number_of_place = number;
}

uint64_t lc_span_place_number(const struct lc_span_key *key)
{
	return number_of_place ? number_of_place(key) : (uint64_t)key->site << 32 | key->path;
}

static bool has_number(const void *place, const void *number)
{
	return ((const struct lc_open_spans *)place)->number == *(const uint64_t *)number;
}

static struct lc_open_spans *find_place(struct lc_span_thread *s, const struct lc_span_key *key)
{
	const uint64_t number = lc_span_place_number(key);
	const uint32_t hash = (uint32_t)(lc_hash(number) >> 32);
	struct lc_open_spans *p = lc_slab_find(&s->places, &places, hash, has_number, &number);

	if (p)
		return p;
	p = lc_slab_add(&s->places, &places, hash);
	if (!p)
		return NULL;
	p->number = number;
	lc_slab_publish(&s->places);
	return p;
}

static struct lc_span_slot *add_slot(struct lc_span_thread *s, const struct lc_span_key *key)
{
	uint32_t len = atomic_load_explicit(&s->slots.len, memory_order_relaxed); /* ours */
	struct lc_open_spans *place = find_place(s, key);
	struct lc_span_slot *slot = place ? lc_slab_add(&s->slots, &slots, hash(key)) : NULL;

	if (!slot)
		return NULL;
	slot->key = *key;
	slot->place = place;
	slot->number = len;
	lc_slab_publish(&s->slots);
	atomic_fetch_add_explicit(&slots_in_process, 1, memory_order_relaxed);
	return slot;
}

struct lc_span_slot *lc_span_slot_find(struct lc_span_thread *s, const struct lc_span_key *key)
{
	struct lc_span_slot *slot = lc_slab_find(&s->slots, &slots, hash(key), has_key, key);
	struct lc_span_key other;

	if (slot)
		return slot;
	other = key_of_other(key->kind);
	if (lc_span_slots_count() >= LC_SPAN_SLOTS_MAX && !same(key, &other))
		return lc_span_slot_find(s, &other);
	slot = add_slot(s, key);
	if (!slot)
		lc_span_add(&s->too_deep, 1);
	return slot;
}

bool lc_span_slot_is_other(const struct lc_span_slot *slot)
{
	const struct lc_span_key other = key_of_other(slot->key.kind);

	return same(&slot->key, &other);
}

bool lc_span_is_low_slowly(struct lc_span_thread *s, uint64_t stack_pointer)
{
	if (stack_pointer < s->low_end || stack_pointer - s->low_end < LC_SPAN_SHRINK_BYTES)
		return true;
	lc_span_add(&s->stale, s->low);
	s->low = 0;
	s->lossy = true;
	return false;
}

/* Take the innermost frame off: what ran inside it is known; of itself nothing is. */
static void drop_top(struct lc_span_thread *s)
{
	struct lc_span_frame *f = s->top--;

	f[-1].inside += f->inside;
	f[-1].costs += f->costs;
	lc_span_inside_add(&f[-1].within, f->within.cycles, f->within.streams);
	for (unsigned i = 0; i < LC_SPAN_NESTED; i++)
		f[-1].nested[i] += f->nested[i];
	if (f->slot)
		f->slot->place->open--;
	lc_span_add(&s->stale, 1);
	if (lc_span_is_watched(f)) {
		lc_spin_lock(&s->lock);
		lc_span_watched_ended(s, f);
		lc_spin_unlock(&s->lock);
	}
}

void lc_span_drop(struct lc_span_thread *s, uint64_t stack_pointer, uint64_t return_address)
{
	const struct lc_span_frame *same = s->top;

	while (!lc_span_empty(s) && s->top->stack_pointer < stack_pointer - LC_SPAN_SLACK_BYTES)
		drop_top(s);
	if (!return_address)
		return;
	while (same > s->frames &&
	       (same->stack_pointer != stack_pointer || same->return_address != return_address))
		same--;
	while (same > s->frames && s->top >= same)
		drop_top(s);
}

uint32_t lc_span_current(const struct lc_thread *t)
{
	const struct lc_span_thread *s =
	    t ? atomic_load_explicit(&t->spans, memory_order_relaxed) : NULL; /* own thread */
	const struct lc_span_frame *f;

	if (!s)
		return 0;
	if (s->probe.open)
		return s->probe.slot->number + 1;
	/* The frames may be another, larger array in between: a walk starts and ends in one. */
	for (f = s->top; f->slot == NULL; f--)
		if (f->bottom)
			return 0;
	return f->slot->number + 1;
}

const struct lc_span_slot *lc_span_slot_at(const struct lc_thread *t, uint32_t i)
{
	const struct lc_span_thread *s =
	    atomic_load_explicit(&t->spans, memory_order_acquire); /* S0 of span.c */

	return s ? lc_span_stack_slot(s, i) : NULL;
}

static const struct lc_counter counters[] = {
	LC_COUNTER("spans_slots", &slots_in_process),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = lc_counters_with_spans);
