/* SPDX-License-Identifier: Apache-2.0 */
/* heap/pace.c - chooses the interval between sampled allocations by the bytes allocated. */
#include "src/heap/pace.h"

#include <math.h>

enum {
	SAMPLES = LC_PACE_PER_SECOND * LC_PACE_SECONDS, /* target number, in the recent bytes */
	SMALL_CHANGE = 8, /* the JVM is not told of changes below 1 / this */
	CHANCE_ONE = 1 << 20,
	SPREAD_OF_CHANCE = 5, /* jitter makes the chance of a byte up to a fifth more or less */
};

#define SECOND_NS 1e9

void lc_pace_begin(struct lc_pace *p, uint64_t base_bytes, uint64_t least_bytes, uint64_t now_ns)
{
	*p = (struct lc_pace){
		.base_bytes = base_bytes,
		.least_bytes = least_bytes ? least_bytes : base_bytes,
		.adapt = least_bytes > 0,
		.stretch = 1,
		.recent_bytes = (double)base_bytes * SAMPLES,
		.recent_ns = now_ns,
	};
	lc_pace_change(p, base_bytes, base_bytes, now_ns);
}

uint64_t lc_pace_jittered(uint64_t interval_bytes, struct lc_jitter *j)
{
	const uint64_t chance = lc_jitter_around(j, CHANCE_ONE, CHANCE_ONE / SPREAD_OF_CHANCE);
	const uint64_t bytes = interval_bytes * CHANCE_ONE / chance;

	return bytes < 1 ? 1 : bytes > INT32_MAX ? INT32_MAX : bytes;
}

void lc_pace_change(struct lc_pace *p, uint64_t interval_bytes, uint64_t in_force_bytes,
                    uint64_t now_ns)
{
	p->in_force_bytes = in_force_bytes;
	if (p->changes && interval_bytes == lc_pace_interval(p))
		return;
	p->change[p->changes++ % LC_PACE_CHANGES] =
	    (struct lc_pace_change){ now_ns, interval_bytes };
}

uint64_t lc_pace_interval(const struct lc_pace *p)
{
	return p->change[(p->changes - 1) % LC_PACE_CHANGES].interval_bytes;
}

uint64_t lc_pace_interval_at(const struct lc_pace *p, uint64_t time_ns)
{
	const uint32_t kept = p->changes < LC_PACE_CHANGES ? p->changes : LC_PACE_CHANGES;

	for (uint32_t back = 1; back <= kept; back++) {
		const struct lc_pace_change *c = &p->change[(p->changes - back) % LC_PACE_CHANGES];

		if (c->time_ns <= time_ns)
			return c->interval_bytes;
		if (back == kept && kept < p->changes)
			return c->interval_bytes; /* the oldest change that is remembered */
	}
	return LC_PACE_JVM_BYTES;
}

/* The interval that should be in force. */
static uint64_t choose(const struct lc_pace *p)
{
	const uint64_t least = p->least_bytes * p->stretch, now = lc_pace_interval(p);
	const uint64_t most = least > LC_PACE_BYTES_MAX ? least : LC_PACE_BYTES_MAX;
	double wanted;
	uint64_t next;

	if (!p->adapt)
		return least;
	wanted = p->recent_bytes / SAMPLES * p->stretch;
	if (wanted <= (double)least)
		return least;
	next = wanted < (double)most ? (uint64_t)wanted : most;
	return next > now + now / SMALL_CHANGE || next + next / SMALL_CHANGE < now ? next : now;
}

static void forget(struct lc_pace *p, uint64_t now_ns)
{
	if (now_ns <= p->recent_ns)
		return;
	/* exp() would need glibc 2.29. */
	p->recent_bytes *=
	    1 + expm1(-(double)(now_ns - p->recent_ns) / (LC_PACE_SECONDS * SECOND_NS));
	p->recent_ns = now_ns;
}

uint64_t lc_pace_event(struct lc_pace *p, uint64_t drawn_bytes, uint64_t now_ns)
{
	forget(p, now_ns);
	p->recent_bytes += (double)drawn_bytes;
	return choose(p);
}

uint64_t lc_pace_tick(struct lc_pace *p, uint64_t now_ns)
{
	forget(p, now_ns);
	return choose(p);
}
