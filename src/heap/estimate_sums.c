/* SPDX-License-Identifier: Apache-2.0 */
/* heap/estimate_sums.c - adds up sampled allocations without bias, and their variances. */
#include "src/heap/estimate_sums.h"

#include <math.h>
#include <stdlib.h>

#include "src/base/hash.h"

double lc_estimate_chance(uint64_t size_bytes, uint64_t interval_bytes)
{
	return -expm1(-(double)size_bytes / (double)interval_bytes);
}

static struct lc_estimate_sum *slot_of(struct lc_estimate_sum *slots, size_t cap, uint32_t thread,
                                       uint32_t site)
{
	uint64_t hash = lc_hash((uint64_t)thread << 32 | site);
	size_t at = (size_t)(hash ^ hash >> 32) & (cap - 1);

	while (slots[at].site && (slots[at].site != site || slots[at].thread != thread))
		at = (at + 1) & (cap - 1);
	return &slots[at];
}

static struct lc_estimate_sum *grow(struct lc_estimate_sums *s)
{
	size_t cap = s->cap ? s->cap * 2 : 256;
	struct lc_estimate_sum *bigger = calloc(cap, sizeof(*bigger));

	if (!bigger)
		return NULL;
	for (size_t i = 0; i < s->cap; i++) {
		const struct lc_estimate_sum *old = &s->slots[i];

		if (old->site)
			*slot_of(bigger, cap, old->thread, old->site) = *old;
	}
	free(s->slots);
	s->slots = bigger;
	s->cap = cap;
	return bigger;
}

struct lc_estimate_sum *lc_estimate_sum_of(struct lc_estimate_sums *s, uint32_t thread,
                                           uint32_t site)
{
	struct lc_estimate_sum *x;

	if (s->len * 2 >= s->cap && !grow(s))
		return NULL;
	x = slot_of(s->slots, s->cap, thread, site);
	if (!x->site) {
		x->thread = thread;
		x->site = site;
		s->len++;
	}
	return x;
}

void lc_estimate_sum_add(struct lc_estimate_sum *x, uint64_t size_bytes, double chance)
{
	double bytes = (double)size_bytes, of_one = (1 - chance) / (chance * chance);

	x->sampled++;
	x->objects += 1 / chance;
	x->objects_variance += of_one;
	x->bytes += bytes / chance;
	x->bytes_variance += bytes * bytes * of_one;
}

static uint64_t nearest(double v)
{
	return (uint64_t)llround(v);
}

struct lc_block_estimate lc_estimate_sum_row(const struct lc_estimate_sum *x)
{
	struct lc_block_estimate row = {
		.site = x->site,
		.sampled = x->sampled,
		.objects_milli = nearest(1000 * x->objects),
		.objects_variance_milli = (uint64_t)ceil(1000 * x->objects_variance),
		.bytes = nearest(x->bytes),
		.bytes_variance_mib = (uint64_t)ceil(ldexp(x->bytes_variance, -20)),
	};

	for (unsigned i = 0; i < LC_LIVE_COLUMNS; i++)
		row.live_milli[i] = nearest(1000 * x->live[i]);
	return row;
}

void lc_estimate_sums_free(struct lc_estimate_sums *s)
{
	free(s->slots);
	*s = (struct lc_estimate_sums){ 0 };
}
