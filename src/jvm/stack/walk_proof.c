/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/stack/walk_proof.c - counts agreements of walks with the JVM's; see walk_proof.h. */
#include "src/jvm/stack/walk_proof.h"

#include "src/core/counters.h"

enum {
	AGREE_MIN = 8,  /* walks through frames of a kind that prove it */
	DIFFER_MIN = 4, /* and that refute it: the JVM's walk of a signal is wrong at times, too */
	AGREE_TIMES = 4 /* as many agree as differ, where a kind is proved */
};

static struct lc_walk_proof in_signal, in_hook;

static uint32_t add(_Atomic uint32_t *count)
{
	return atomic_fetch_add_explicit(count, 1, memory_order_relaxed) + 1;
}

static uint32_t get(const _Atomic uint32_t *count)
{
	return atomic_load_explicit(count, memory_order_relaxed);
}

static void take(struct lc_walk_proof *p, unsigned kind, bool agrees)
{
	const uint32_t agreed = agrees ? add(&p->agreed[kind]) : get(&p->agreed[kind]);
	const uint32_t differed = agrees ? get(&p->differed[kind]) : add(&p->differed[kind]);

	if (agreed >= AGREE_MIN && agreed > differed * AGREE_TIMES)
		atomic_fetch_or_explicit(&p->proved, 1u << kind, memory_order_relaxed);
	else if (differed >= DIFFER_MIN && agreed <= differed * AGREE_TIMES)
		atomic_fetch_or_explicit(&p->refuted, 1u << kind, memory_order_relaxed);
}

void lc_walk_proof_take(struct lc_walk_proof *p, uint32_t kinds, bool agrees)
{
	const uint32_t open = kinds & ~(get(&p->proved) | get(&p->refuted));

	for (unsigned kind = 0; kind < LC_FRAME_KINDS; kind++)
		if (open & 1u << kind)
			take(p, kind, agrees);
}

bool lc_walk_steps_add(struct lc_walk_steps *s, enum lc_frame_kind kind, int at)
{
	if (s->len == LC_WALK_STEPS_MAX)
		return false;
	s->step[s->len].kind = (uint8_t)kind;
	s->step[s->len++].at = (uint8_t)at;
	return true;
}

bool lc_walk_proof_compare(struct lc_walk_proof *p, const struct lc_walk_steps *s, int len,
                           int other, int same)
{
	const bool whole = len == other && len == same;
	const bool differs = !whole && (same < other || len < other);
	uint32_t agreed = 0, differed = 0;

	for (uint32_t i = 0; i < s->len; i++) {
		const int next = i + 1 < s->len ? s->step[i + 1].at : len;

		if (whole || next < same)
			agreed |= s->step[i].kind;
		else if (differs && s->step[i].at <= same)
			differed |= s->step[i].kind;
	}
	lc_walk_proof_take(p, agreed & ~differed, true);
	lc_walk_proof_take(p, differed, false);
	return differs;
}

void lc_walk_proof_fault(struct lc_walk_proof *p)
{
	const uint32_t all = (1u << LC_FRAME_KINDS) - 1;

	atomic_fetch_or_explicit(&p->refuted, all & ~get(&p->proved), memory_order_relaxed);
}

struct lc_walk_proof *lc_walk_proof_signal(void)
{
	return &in_signal;
}

struct lc_walk_proof *lc_walk_proof_hook(void)
{
	return &in_hook;
}

bool lc_walk_proof_refuted(void)
{
	return get(&in_signal.refuted) || get(&in_hook.refuted);
}

static const struct lc_counter counters[] = {
	LC_COUNTER("walk_kinds_proved_signal", &in_signal.proved),
	LC_COUNTER("walk_kinds_refuted_signal", &in_signal.refuted),
	LC_COUNTER("walk_kinds_proved_hook", &in_hook.proved),
	LC_COUNTER("walk_kinds_refuted_hook", &in_hook.refuted),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
