/* SPDX-License-Identifier: Apache-2.0 */
/* span/frames/probe.c - turns windows of streams that are not timed on and off: see probe.h. */
#include "src/span/frames/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/counters.h"
#include "src/span/frames/stack.h"

enum {
	REST = 4096, /* executions between rounds, at least; twice as many at most beside */
	RETRY = 512, /* after a round that was disturbed */
	PERIOD_MAX =
	    1 << 13,    /* cycles from one stream to the next, beyond which nothing is to find */
	LEARN = 8,      /* rounds after which costs are reckoned anew */
	ERROR_MAX = 16, /* cycles, of the median of the rounds */
	YARD_STEPS = 32,
	YARD_TRIES = 3,
};

/* Limits of what is believed: a slower CPU was switched away. */
#define SLOWNESS_MIN 0.5
#define SLOWNESS_MAX 4

static struct {
	_Atomic bool enabled;
	_Atomic uint64_t rounds, cost, counted;
	_Atomic uint64_t slowness; /* the last thread's, in thousandths; 0: unknown */
} probe;

void lc_probe_enable(bool on)
{
	atomic_store_explicit(&probe.enabled, on, memory_order_relaxed); /* before threads start */
}

/* -- streams that are counted ------------------------------------------------------------- */

static bool has_nested(const struct lc_span_slot *slot)
{
	const struct lc_span_counts *c = &slot->counts;
	uint64_t any = 0;

	for (unsigned i = 0; i < LC_SPAN_NESTED; i++)
		any |= atomic_load_explicit(&c->nested[i], memory_order_relaxed); /* ours */
	return any;
}

bool lc_probe_begin(struct lc_span_thread *s, struct lc_span_slot *slot,
                    const struct lc_stream_context *stream, uint64_t stack_pointer,
                    uint64_t return_address)
{
	struct lc_probe *p = &s->probe;

	if (!slot || !slot->last_cycles || slot->last_cycles > LC_PROBE_CYCLES_MAX ||
	    slot->never_counted)
		return false;
	if (!slot->counted) {
		if (p->slots_len == LC_PROBE_SLOTS)
			return false;
		if (has_nested(slot)) {
			slot->never_counted = true;
			return false;
		}
		p->slots[p->slots_len++] = slot;
	}
	p->slot = slot;
	p->id = stream->id;
	p->path = stream->path;
	p->level = stream->level;
	p->stack_pointer = stack_pointer;
	p->return_address = return_address;
	atomic_signal_fence(memory_order_release); /* a handler sees `open` last */
	p->open = true;
	return true;
}

void lc_probe_end(struct lc_span_thread *s)
{
	struct lc_probe *p = &s->probe;
	struct lc_span_slot *slot = p->slot;
	struct lc_span_frame *f = s->top;
	_Atomic uint32_t *bucket = &slot->counts.histogram[slot->last_bucket];

	p->open = false;
	p->counted++;
	slot->counted++;
	lc_span_add(&slot->counts.executions, 1);
	atomic_store_explicit(bucket, atomic_load_explicit(bucket, memory_order_relaxed) + 1,
	                      memory_order_relaxed); /* ours */
	/* The stream around it pays what a span inside costs, when it ends: it has not paid that.
	 */
	f->inside += (uint64_t)(slot->last_compensated + s->counted_cost - s->outer_cost[0]);
	f->costs += s->outer_cost[0];
	f->nested[0]++;
	lc_span_inside_add(&f->within, (uint64_t)slot->last_compensated, 1);
	lc_span_place_again(s, slot->place, f, (uint64_t)slot->last_compensated, 1);
	if (--p->left == 0)
		lc_probe_turn(s);
}

void lc_probe_reveal(struct lc_span_thread *s)
{
	struct lc_probe *p = &s->probe;
	struct lc_span_slot *slot = p->slot;
	const bool full = s->full;
	struct lc_span_frame *f;
	uint64_t tsc, now;

	p->open = false;
	slot->never_counted = true;
	s->full = false; /* that is about the hook that runs */
	f = lc_span_push(s, slot->key.kind, slot);
	s->full = full;
	if (!f)
		return;
	f->number = p->id;
	f->stream = (struct lc_stream_context){ p->id, p->path, p->level };
	f->stack_pointer = p->stack_pointer;
	f->return_address = p->return_address;
	now = lc_cycles_read(&s->clock, &tsc);
	lc_span_start(s, f, now, tsc);
}

static void settle(struct lc_span_slot *slot)
{
	struct lc_span_counts *c = &slot->counts;
	uint64_t n = slot->counted, cycles = n * slot->last_cycles;

	slot->counted = 0;
	lc_span_add(&c->cycles, cycles);
	lc_span_add(&c->wall_tsc, cycles);
	atomic_store_explicit(&c->compensated,
	                      atomic_load_explicit(&c->compensated, memory_order_relaxed) +
	                          (int64_t)n * slot->last_compensated,
	                      memory_order_relaxed);
	if (slot->last_compensated < 0)
		lc_span_add(&c->negative, n);
}

void lc_probe_stop(struct lc_span_thread *s)
{
	struct lc_probe *p = &s->probe;

	for (uint32_t i = 0; i < p->slots_len; i++)
		settle(p->slots[i]);
	p->slots_len = 0;
	p->counting = false;
	p->stage = LC_PROBE_RESTS;
	p->left = LC_PROBE_FIRST;
}

void lc_probe_force(struct lc_span_thread *s, bool on)
{
	lc_probe_stop(s);
	s->probe.counting = on;
	s->probe.left = UINT32_MAX;
}

/* -- how fast this CPU is now ------------------------------------------------------------- */

/* Cycles of a few locked additions and stores, which is what hooks mostly wait for. */
static uint64_t walk_yard(void)
{
	_Atomic uint64_t locked = 0, stored[8];
	uint64_t begin = __rdtsc();

	for (unsigned i = 0; i < YARD_STEPS; i++) {
		for (unsigned k = 0; k < 8; k++)
			atomic_store_explicit(&stored[k], begin + i, memory_order_relaxed);
		atomic_fetch_add_explicit(&locked, 1, memory_order_seq_cst);
	}
	return __rdtsc() - begin;
}

/* The shortest of a few tries: an interrupt says nothing about the speed. */
uint64_t lc_probe_yardstick(void)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < YARD_TRIES; i++) {
		const uint64_t cycles = walk_yard();

		least = cycles < least ? cycles : least;
	}
	return least;
}

/* Scale the thread's costs to the present speed of its CPU. */
static void follow_speed(struct lc_span_thread *s)
{
	double now;

	if (!s->base.yardstick)
		return;
	now = (double)lc_probe_yardstick() / s->base.yardstick;
	now = now < SLOWNESS_MIN ? SLOWNESS_MIN : now > SLOWNESS_MAX ? SLOWNESS_MAX : now;
	lc_span_costs_at(s, (s->slowness + now) / 2);
	atomic_store_explicit(&probe.slowness, (uint64_t)(s->slowness * 1000 + 0.5),
	                      memory_order_relaxed); /* on its own */
}

/* -- what timing costs ---------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	const float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

double lc_probe_cost(const struct lc_probe *p)
{
	uint32_t n = p->rounds_len;
	float sorted[LC_PROBE_ROUNDS], middle;
	double spread;

	if (n < LC_PROBE_ROUNDS_MIN)
		return 0;
	if (n > LC_PROBE_ROUNDS)
		n = LC_PROBE_ROUNDS;
	memcpy(sorted, p->rounds, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	middle = sorted[n / 2];
	/* The middle half of a normal distribution is 1.35 standard deviations wide. */
	spread = (double)(sorted[n * 3 / 4] - sorted[n / 4]) / 1.35;
	if (middle <= 0 || 1.25 * spread / sqrt(n) > ERROR_MAX)
		return 0;
	return (double)middle;
}

/*
 * The change of the cycles of `streams` inside a span. `direct` of them are directly inside it and
 * have their outer costs in the span, the others in each other.
 */
static uint64_t correction(uint64_t streams, uint64_t direct, int64_t inner, int64_t outer)
{
	const int64_t deeper = streams > direct ? (int64_t)(streams - direct) : 0;

	return (uint64_t)(-inner * (int64_t)streams - outer * deeper);
}

static void correct(struct lc_span_slot *slot, int64_t inner, int64_t outer)
{
	struct lc_span_counts *c = &slot->counts;
	uint64_t own = slot->key.kind < LC_SPAN_TASK && slot->key.kind != LC_SPAN_PULLED
	                   ? atomic_load_explicit(&c->executions, memory_order_relaxed)
	                   : 0;
	uint64_t nested = atomic_load_explicit(&c->nested[0], memory_order_relaxed);

	atomic_store_explicit(&c->compensated,
	                      atomic_load_explicit(&c->compensated, memory_order_relaxed) -
	                          inner * (int64_t)own - outer * (int64_t)nested,
	                      memory_order_relaxed);
	lc_span_add(&c->inside,
	            correction(atomic_load_explicit(&c->inside_streams, memory_order_relaxed),
	                       nested, inner, outer));
}

/* The same for spans that have ended inside open ones. */
static void correct_open(struct lc_span_thread *s, int64_t inner, int64_t outer)
{
	for (struct lc_span_frame *f = s->frames + 1; f <= s->top; f++) {
		f->costs += (uint64_t)(outer * (int64_t)f->nested[0]);
		f->within.cycles += correction(f->within.streams, f->nested[0], inner, outer);
		f->again.cycles += correction(f->again.streams, 0, inner, outer);
	}
}

void lc_probe_apply(struct lc_span_thread *s, uint32_t cost)
{
	struct lc_span_costs *base = &s->base;
	const uint64_t before = (uint64_t)base->inner + base->anonymous;
	uint32_t inner = before ? (uint32_t)((uint64_t)cost * base->inner / before) : cost / 3;
	uint32_t outer = cost - inner;
	struct lc_span_slot *slot;

	for (uint32_t i = 0; (slot = lc_span_stack_slot(s, i)); i++)
		correct(slot, (int64_t)inner - base->inner, (int64_t)outer - base->anonymous);
	correct_open(s, (int64_t)inner - base->inner, (int64_t)outer - base->anonymous);
	base->inner = inner;
	base->anonymous = outer;
	s->probe.cost = cost;
	lc_span_costs_at(s, s->slowness);
}

static void note_round(struct lc_span_thread *s, uint64_t after)
{
	struct lc_probe *p = &s->probe;
	double timed = ((double)p->before + (double)after) / 2, cost;

	cost = (timed - (double)p->during) / p->counted + s->counted_cost;
	/* Scaled to the calibration's speed. */
	p->rounds[p->rounds_len++ % LC_PROBE_ROUNDS] =
	    (float)(s->inner_cost + (cost - s->inner_cost) / s->slowness);
	atomic_fetch_add_explicit(&probe.rounds, 1, memory_order_relaxed); /* counts */
	if (p->rounds_len % LEARN)
		return;
	cost = lc_probe_cost(p);
	if (cost <= 0)
		return;
	lc_probe_apply(s, (uint32_t)(cost + 0.5));
	atomic_store_explicit(&probe.cost, p->cost, memory_order_relaxed);
}

/* -- windows -------------------------------------------------------------------------------- */

void lc_probe_init(struct lc_span_thread *s)
{
	uint32_t cost = (uint32_t)atomic_load_explicit(&probe.cost, memory_order_relaxed);
	uint64_t slowness = atomic_load_explicit(&probe.slowness, memory_order_relaxed);

	s->probe.left = LC_PROBE_FIRST;
	s->probe.random = (uint32_t)__rdtsc();
	if (slowness)
		lc_span_costs_at(s, (double)slowness / 1000);
	else
		follow_speed(s);
	if (cost)
		lc_probe_apply(s, cost);
}

static void rest(struct lc_probe *p, uint32_t at_least)
{
	p->random = p->random * 1664525 + 1013904223 + (uint32_t)__rdtsc();
	p->stage = LC_PROBE_RESTS;
	p->left = at_least + (p->random >> 8) % (2 * at_least);
}

static uint64_t pauses(const struct lc_span_thread *s)
{
	return atomic_load_explicit(&s->pauses->count, memory_order_relaxed);
}

static bool disturbed(const struct lc_span_thread *s)
{
	const struct lc_probe *p = &s->probe;

	return p->switches != s->clock.switches || p->pauses != pauses(s);
}

/* Did the window that took `cycles` tell nothing? Its streams were long, or few were counted. */
static bool is_useless(const struct lc_probe *p, uint64_t cycles)
{
	return (p->stage == LC_PROBE_BEFORE && cycles > (uint64_t)PERIOD_MAX * LC_PROBE_WINDOW) ||
	       (p->stage == LC_PROBE_DURING && p->counted < LC_PROBE_WINDOW / 4);
}

/* The window took `cycles`: go on to the next stage. */
static void advance(struct lc_span_thread *s, uint64_t cycles)
{
	struct lc_probe *p = &s->probe;
	const bool good = p->stage == LC_PROBE_RESTS || !disturbed(s);

	p->left = LC_PROBE_WINDOW;
	if (!good) {
		rest(p, RETRY);
	} else if (p->stage == LC_PROBE_RESTS) {
		p->stage = LC_PROBE_BEFORE;
	} else if (is_useless(p, cycles)) {
		rest(p, REST);
	} else if (p->stage == LC_PROBE_BEFORE) {
		p->before = cycles;
		p->stage = LC_PROBE_DURING;
		p->counted = 0;
	} else if (p->stage == LC_PROBE_DURING) {
		p->during = cycles;
		p->stage = LC_PROBE_AFTER;
	} else {
		note_round(s, cycles);
		rest(p, REST);
	}
	p->counting = p->stage == LC_PROBE_DURING;
}

void lc_probe_turn(struct lc_span_thread *s)
{
	struct lc_probe *p = &s->probe;
	const uint64_t now = lc_cycles_now(&s->clock);

	if (p->stage == LC_PROBE_RESTS)
		follow_speed(s);
	if (!atomic_load_explicit(&probe.enabled, memory_order_relaxed)) {
		p->left = REST;
		s->top->inside += lc_cycles_now(&s->clock) - now;
		return;
	}
	if (p->stage == LC_PROBE_DURING)
		atomic_fetch_add_explicit(&probe.counted, p->counted, memory_order_relaxed);
	for (uint32_t i = 0; i < p->slots_len; i++)
		settle(p->slots[i]);
	p->slots_len = 0;
	advance(s, now - p->begin - (s->worked - p->worked));
	p->begin = lc_cycles_now(&s->clock);
	s->top->inside += p->begin - now;
	p->worked = s->worked;
	p->switches = s->clock.switches;
	p->pauses = pauses(s);
}

static const struct lc_counter counters[] = {
	LC_COUNTER("spans_probe_rounds", &probe.rounds), /* measured ones */
	/* Latest cost of a begin and an end; 0: unknown. */
	LC_COUNTER("spans_probe_cycles", &probe.cost),
	LC_COUNTER("spans_counted", &probe.counted), /* untimed executions */
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters), .begin = lc_counters_with_spans);
