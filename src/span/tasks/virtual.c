/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/tasks/virtual.c - keeps the frames of virtual threads that wait.
 *
 * Frames that wait are in a table by thread ID, in shards with a lock each, which is held for a few
 * instructions and never across a call into the JVM. A virtual thread gets a carrier only after it
 * has left the one before, so its frames are put and taken in turns.
 */
#include "src/span/tasks/virtual.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/spin.h"
#include "src/core/counters.h"
#include "src/core/reset.h"
#include "src/span/tasks/submitting.h"
#include "src/span/tasks/task.h"
#include "src/span/tasks/task_parts.h"

enum {
	SHARDS = 64,
	CHAINS = 256,         /* in a shard */
	FRAMES_MAX = 1 << 17, /* that wait, in all; some 30 MB */
};

/* The frames of one virtual thread. All that counts up in the carrier is relative to now. */
struct waiting {
	struct waiting *next;
	uint64_t id;
	uint64_t excess; /* begun without a frame */
	uint32_t len;
	struct lc_span_frame *frames;
	struct lc_submitting_stack *entered; /* NULL: it is in no submission */
	struct lc_task_parts *held;          /* NULL: no task of it is undecided */
	struct lc_span_key keys[];           /* of the frames' slots; LC_SPAN_KINDS: transparent */
};

struct shard {
	_Alignas(64) _Atomic uint32_t lock;
	struct waiting *chains[CHAINS];
};

static struct shard shards[SHARDS];
static _Atomic uint64_t frames_waiting, threads_waiting, moved, lost;

/* The virtual thread on the calling thread. */
static _Thread_local struct {
	uint64_t id;        /* 0: nothing */
	uint32_t recording; /* that the rest is of */
	uint64_t excess, low;
	uint32_t base;    /* the carrier's own frames, beyond frame 0 */
	uint32_t entered; /* the carrier's own submissions */
} carried __attribute__((tls_model("initial-exec")));

uint64_t lc_virtual_mounted(void)
{
	return carried.recording == lc_recording() ? carried.id : 0;
}

static void add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed); /* a count */
}

static struct shard *shard_of(uint64_t id)
{
	return &shards[id % SHARDS];
}

static struct waiting **chain_of(uint64_t id)
{
	return &shard_of(id)->chains[id / SHARDS % CHAINS];
}

static void lock(struct shard *s)
{
	lc_spin_lock(&s->lock);
}

static void unlock(struct shard *s)
{
	lc_spin_unlock(&s->lock);
}

static void put(struct waiting *w)
{
	struct waiting **chain = chain_of(w->id);

	lock(shard_of(w->id));
	w->next = *chain;
	*chain = w;
	unlock(shard_of(w->id));
	add(&threads_waiting, 1);
}

static struct waiting *take(uint64_t id)
{
	struct waiting **at = chain_of(id), *found;

	lock(shard_of(id));
	while (*at && (*at)->id != id)
		at = &(*at)->next;
	found = *at;
	if (found)
		*at = found->next;
	unlock(shard_of(id));
	if (found)
		add(&threads_waiting, UINT64_MAX); /* minus one */
	return found;
}

bool lc_virtual_has_frames(uint64_t id)
{
	const struct waiting *w;

	lock(shard_of(id));
	for (w = *chain_of(id); w && w->id != id; w = w->next)
		;
	unlock(shard_of(id));
	return w != NULL;
}

void lc_virtual_each(void (*visit)(void *of, struct lc_span_frame *frames,
                                   const struct lc_span_key *keys, uint32_t len),
                     void *of)
{
	if (!atomic_load_explicit(&threads_waiting, memory_order_relaxed)) /* a count */
		return;
	for (struct shard *s = shards; s < shards + SHARDS; s++) {
		lock(s);
		for (size_t i = 0; i < CHAINS; i++)
			for (struct waiting *w = s->chains[i]; w; w = w->next)
				if (w->len)
					visit(of, w->frames, w->keys, w->len);
		unlock(s);
	}
}

/*
 * The cycles that the frames would add inside the carrier's own frame if they all ended now. Like
 * in lc_span_pop(), a transparent frame hands on the cycles of ended spans in it. `begin` of
 * `frames` is the elapsed time.
 */
static uint64_t cycles_inside(const struct lc_span_frame *frames, uint32_t len)
{
	uint64_t inside = 0;

	for (uint32_t i = 0; i < len; i++) {
		if (frames[i].kind != LC_SPAN_KINDS)
			return inside + frames[i].begin;
		inside += frames[i].inside;
	}
	return inside;
}

/* Turn what counts up in the carrier into what was added since the frame began, and back. */
static void make_relative(struct lc_span_thread *s, struct lc_span_frame *f, uint64_t now)
{
	f->begin = now - f->begin;
	f->switches = s->clock.switches - f->switches;
	f->gc_count = atomic_load_explicit(&s->pauses->count, memory_order_relaxed) - f->gc_count;
	f->gc_ns = atomic_load_explicit(&s->pauses->ns, memory_order_relaxed) - f->gc_ns;
}

/* Frames above the carrier's own, into *w (NULL: no room for it). */
static void save(struct lc_span_thread *s, struct waiting *w, uint32_t len, uint64_t now)
{
	struct lc_span_frame *from = s->frames + carried.base + 1;

	for (uint32_t i = 0; i < len; i++) {
		make_relative(s, &from[i], now);
		if (from[i].slot)
			from[i].slot->place->open--;
		if (w && w->frames) {
			w->keys[i].kind = LC_SPAN_KINDS;
			if (from[i].slot)
				w->keys[i] = from[i].slot->key;
			w->frames[i] = from[i];
			w->frames[i].slot = NULL;
			w->frames[i].stack_pointer = UINT64_MAX; /* it will lie elsewhere */
			if (atomic_load_explicit(&from[i].watched, memory_order_relaxed)) {
				atomic_store_explicit(&w->frames[i].watched, 1,
				                      memory_order_relaxed);
				atomic_store_explicit(&from[i].watched, 0, memory_order_relaxed);
			}
		} else if (atomic_load_explicit(&from[i].watched, memory_order_relaxed)) {
			lc_span_watched_ended(s, &from[i]); /* nothing more will be known of it */
		}
	}
	s->frames[carried.base].inside += cycles_inside(from, len);
	s->frames[carried.base].within.cycles += cycles_inside(from, len);
}

static struct waiting *make_waiting(uint64_t id, uint32_t len)
{
	bool room = atomic_load_explicit(&frames_waiting, memory_order_relaxed) + len <= FRAMES_MAX;
	uint32_t kept = room ? len : 0;
	size_t keys = (kept * sizeof(struct lc_span_key) + 7) & ~(size_t)7;
	struct waiting *w = malloc(sizeof(*w) + keys + kept * sizeof(struct lc_span_frame));

	if (!w)
		return NULL;
	w->id = id;
	w->len = kept;
	w->frames = kept ? (struct lc_span_frame *)(void *)((char *)(w + 1) + keys) : NULL;
	return w;
}

void lc_virtual_unmount(struct lc_span_thread *s, uint64_t id, uint64_t now)
{
	struct lc_submitting_stack *entered = NULL;
	struct lc_task_parts *held = NULL;
	uint64_t excess;
	struct waiting *w;
	uint32_t len;

	if (!lc_virtual_mounted())
		return;
	carried.id = 0;
	if (!s || s->top < s->frames + carried.base)
		return;
	len = (uint32_t)(s->top - s->frames) - carried.base;
	excess = s->excess - carried.excess + s->low - carried.low;
	if (s->tasks) {
		entered = lc_submitting_take(lc_task_entered_stack(s->tasks), carried.entered,
		                             carried.base);
		held = lc_task_parts_take(lc_task_nest(s->tasks), carried.base);
	}
	if (!len && !excess && !entered && !held)
		return;
	w = make_waiting(id, len);
	lc_spin_lock(&s->lock); /* the frames move: running.h */
	save(s, w, len, now);
	atomic_signal_fence(memory_order_seq_cst);
	s->top = s->frames + carried.base;
	lc_spin_unlock(&s->lock);
	s->excess = carried.excess;
	s->low = carried.low;
	lc_task_frames_changed(s);
	if (!w || w->len < len)
		add(&lost, 1);
	if (!w) {
		if (entered)
			lc_submitting_free(entered);
		free(entered);
		if (held)
			lc_task_parts_free(held);
		free(held);
		return;
	}
	w->entered = entered;
	w->held = held;
	w->excess = excess + (len - w->len); /* their ends will come all the same */
	add(&frames_waiting, w->len);
	put(w);
}

/* Put the frames on top of the carrier's. */
static void restore(struct lc_span_thread *s, struct waiting *w, uint64_t now)
{
	uint32_t done = 0;

	while (w->len >= s->limit - s->top && !lc_span_stack_grow(s))
		;
	lc_spin_lock(&s->lock);
	for (; done < w->len; done++) {
		struct lc_span_frame *f = s->top + 1;

		if (f == s->limit)
			break;
		*f = w->frames[done];
		make_relative(s, f, now); /* the other way round */
		if (w->keys[done].kind != LC_SPAN_KINDS)
			f->slot = lc_span_slot_find(s, &w->keys[done]);
		if (f->slot)
			lc_span_place_open(s, f);
		else
			f->kind = LC_SPAN_KINDS;
		atomic_signal_fence(memory_order_release);
		s->top = f;
	}
	s->frames[carried.base].inside -= cycles_inside(w->frames, done);
	s->frames[carried.base].within.cycles -= cycles_inside(w->frames, done);
	for (uint32_t i = done; i < w->len; i++)
		if (atomic_load_explicit(&w->frames[i].watched, memory_order_relaxed))
			lc_span_watched_ended(s, &w->frames[i]);
	lc_spin_unlock(&s->lock);
	s->excess += w->excess + (w->len - done);
	if (done < w->len)
		add(&lost, 1);
}

void lc_virtual_mount(struct lc_span_thread *s, uint64_t id, uint64_t now)
{
	struct waiting *w;

	carried.id = id;
	carried.recording = lc_recording();
	carried.base = s ? (uint32_t)(s->top - s->frames) : 0;
	carried.excess = s ? s->excess : 0;
	carried.low = s ? s->low : 0;
	carried.entered = s && s->tasks ? lc_task_entered_stack(s->tasks)->len : 0;
	if (!s)
		return;
	w = take(id);
	if (!w)
		return;
	restore(s, w, now);
	if (w->entered && s->tasks)
		lc_submitting_put(lc_task_entered_stack(s->tasks), w->entered, carried.base);
	if (w->held && s->tasks)
		lc_task_parts_put(lc_task_nest(s->tasks), w->held, carried.base);
	lc_task_frames_changed(s);
	add(&frames_waiting, -(uint64_t)w->len);
	add(&moved, 1);
	free(w);
}

static const struct lc_counter counters[] = {
	/* Virtual threads whose frames wait. */
	LC_COUNTER("spans_virtual_waiting", &threads_waiting),
	LC_COUNTER("spans_virtual_moved", &moved), /* times that frames were put on a carrier */
	LC_COUNTER("spans_virtual_lost", &lost),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = lc_counters_with_spans);
