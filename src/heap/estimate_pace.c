/* heap/estimate_pace.c - chooses the interval between sampled allocations by their rate. */
#include "src/heap/estimate_pace.h"

enum {
	LOOK_EVENTS = 50, /* the rate is looked at after so many samples */
	SHRINK_MOST = 4,  /* a look makes the interval shorter by this factor at most */
	CHANCE_ONE = 1 << 20,
	SPREAD_OF_CHANCE = 5, /* jitter makes the chance of a byte up to a fifth more or less */
};

#define SECOND_NS UINT64_C(1000000000)

void lc_pace_begin(struct lc_pace *p, uint64_t base_bytes, uint64_t least_bytes, uint64_t now_ns)
{
	*p = (struct lc_pace){
		.base_bytes = base_bytes,
		.least_bytes = least_bytes ? least_bytes : base_bytes,
		.adapt = least_bytes > 0,
		.stretch = 1,
		.wanted_bytes = base_bytes,
		.begin_ns = now_ns,
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
			return c->interval_bytes; /* before all that is remembered */
	}
	return LC_PACE_JVM_BYTES;
}

static uint64_t between(uint64_t bytes, uint64_t low)
{
	const uint64_t high = low > LC_PACE_BYTES_MAX ? low : LC_PACE_BYTES_MAX;

	return bytes < low ? low : bytes > high ? high : bytes;
}

/* What is to be in force now. Small changes are not worth it. */
static uint64_t choose(const struct lc_pace *p)
{
	const uint64_t stretched = between(p->base_bytes * p->stretch, p->base_bytes);
	const uint64_t low = p->stretch > 1 ? stretched : p->least_bytes;
	const uint64_t now = lc_pace_interval(p), next = between(p->wanted_bytes, low);

	return next > now + now / 4 || next + next / 4 < now || next == low ? next : now;
}

/* So many samples came since the last look: the interval with which it would be the right number.
 */
static void look(struct lc_pace *p, uint64_t now_ns)
{
	const uint64_t now = lc_pace_interval(p), took_ns = now_ns - p->begin_ns;
	const double rate = (double)p->events * (double)SECOND_NS / (double)(took_ns | 1);
	const double next = (double)now * rate / LC_PACE_PER_SECOND;
	const uint64_t least = between(now / SHRINK_MOST, p->least_bytes);

	p->wanted_bytes =
	    next > (double)LC_PACE_BYTES_MAX ? LC_PACE_BYTES_MAX : between((uint64_t)next, least);
	p->events = 0;
	p->begin_ns = now_ns;
}

uint64_t lc_pace_event(struct lc_pace *p, uint64_t now_ns)
{
	p->events++;
	if (p->adapt && p->events >= LOOK_EVENTS)
		look(p, now_ns);
	return choose(p);
}

uint64_t lc_pace_tick(struct lc_pace *p, uint64_t now_ns)
{
	if (p->adapt && now_ns - p->begin_ns >= SECOND_NS)
		look(p, now_ns);
	return choose(p);
}
