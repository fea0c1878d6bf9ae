/* heap/site_counters.c - makes and finds the counters of sites. */
#include "src/heap/site_counters.h"

#include "src/base/hash.h"

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
}

struct lc_site_counter *lc_site_counters_of(struct lc_site_counters *c, uint32_t site)
{
	struct lc_site_counter *x = lc_slab_find(&c->slab, &kind, hash(site), has_site, &site);

	if (x)
		return x;
	x = lc_slab_add(&c->slab, &kind, hash(site));
	if (!x)
		return NULL;
	x->site = site;
	lc_slab_publish(&c->slab);
	return x;
}

struct lc_site_counter *lc_site_counters_at(const struct lc_site_counters *c, uint32_t i)
{
	return lc_slab_get(&c->slab, &kind, i);
}
