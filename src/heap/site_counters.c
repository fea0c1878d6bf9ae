/* SPDX-License-Identifier: Apache-2.0 */
/* heap/site_counters.c - makes and finds the counters of sites. */
#include "src/heap/site_counters.h"

#include "src/base/hash.h"
#include "src/core/memory.h"

static const struct lc_slab_kind kind = { sizeof(struct lc_site_counter), 64, LC_SLAB_BLOCKS };

static uint32_t hash(uint32_t site)
{
	return (uint32_t)(lc_hash(site) >> 32);
}

static bool has_site(const void *counter, const void *site)
{
	return ((const struct lc_site_counter *)counter)->site == *(const uint32_t *)site;
}

void lc_site_counters_free(struct lc_site_counters *c)
{
	lc_slab_free(&c->slab);
	lc_memory_give(LC_MEMORY_COUNTERS, c->taken_bytes);
	c->taken_bytes = 0;
}

struct lc_site_counter *lc_site_counters_of(struct lc_site_counters *c, uint32_t site)
{
	struct lc_site_counter *x = lc_slab_find(&c->slab, &kind, hash(site), has_site, &site);

	size_t bytes;

	if (x)
		return x;
	bytes = lc_slab_next_bytes(&c->slab, &kind);
	/* The first ones are so few that every thread has them. */
	if (!c->slab.block[0])
		lc_memory_have(LC_MEMORY_COUNTERS, bytes);
	else if (bytes && !lc_memory_take(LC_MEMORY_COUNTERS, bytes))
		return NULL;
	x = lc_slab_add(&c->slab, &kind, hash(site));
	if (!x) {
		lc_memory_give(LC_MEMORY_COUNTERS, bytes);
		return NULL;
	}
	c->taken_bytes += bytes;
	x->site = site;
	lc_slab_publish(&c->slab);
	return x;
}

struct lc_site_counter *lc_site_counters_at(const struct lc_site_counters *c, uint32_t i)
{
	return lc_slab_get(&c->slab, &kind, i);
}
