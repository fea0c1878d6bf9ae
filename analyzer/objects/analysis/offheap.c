/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/offheap.c - sums up blocks outside the heap. */
#include "analyzer/objects/analysis/offheap.h"

#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/table.h"
#include "analyzer/objects/analysis/view.h"
#include "src/base/order.h"

struct lc_offheap_site *lc_offheap_sites(const struct lc_tree *t, size_t *len)
{
	const struct lc_table *made = &t->offheap, *before = &t->offheap_before;
	struct lc_offheap_site *sites =
	    lc_mem_zeroed((size_t)made->count + before->count + 1, sizeof(*sites));
	struct lc_table rows;

	lc_table_init(&rows, 1, 0);
	for (uint32_t i = 0; i < made->count; i++) {
		const uint64_t *v = lc_table_values(made, i);
		const uint32_t site = lc_table_key(made, i)[LC_OFFHEAP_SITE];

		sites[lc_table_put(&rows, &site)] = (struct lc_offheap_site){
			site,
			{ .allocated = v[LC_OFFHEAP_ALLOCATED],
			  .allocated_bytes = v[LC_OFFHEAP_ALLOCATED_BYTES],
			  .freed = v[LC_OFFHEAP_FREED],
			  .freed_bytes = v[LC_OFFHEAP_FREED_BYTES] },
		};
	}
	for (uint32_t i = 0; i < before->count; i++) {
		const uint64_t *v = lc_table_values(before, i);
		const uint32_t site = lc_table_key(before, i)[LC_OFFHEAP_BEFORE_SITE];
		struct lc_offheap_site *s = &sites[lc_table_put(&rows, &site)];

		s->site = site;
		s->counts.before = v[LC_OFFHEAP_BEFORE_BLOCKS];
		s->counts.before_bytes = v[LC_OFFHEAP_BEFORE_BYTES];
	}
	*len = rows.count;
	lc_table_free(&rows);
	return sites;
}

uint64_t lc_offheap_samples(const struct lc_view *v)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < v->sites_len; i++) {
		const uint32_t *site = lc_table_key(&v->tree->sites, v->sites[i].site);

		if (v->sites[i].samples &&
		    lc_offheap_class(lc_tree_text(v->tree, site[LC_SITE_CLASS])))
			samples += v->sites[i].samples;
	}
	return samples;
}

void lc_offheap_add(struct lc_rank_offheap *sum, const struct lc_rank_offheap *o)
{
	sum->allocated += o->allocated;
	sum->allocated_bytes += o->allocated_bytes;
	sum->freed += o->freed;
	sum->freed_bytes += o->freed_bytes;
	sum->before += o->before;
	sum->before_bytes += o->before_bytes;
}

struct lc_rank_offheap lc_offheap_all(const struct lc_ranking *rank)
{
	struct lc_rank_offheap all = { 0 };

	for (size_t i = 0; i < rank->len; i++)
		lc_offheap_add(&all, &rank->rows[i].offheap);
	return all;
}

int lc_offheap_order(const void *a, const void *b)
{
	const struct lc_rank_row *const *x = a, *const *y = b;
	const struct lc_rank_offheap *o = &(*x)->offheap, *p = &(*y)->offheap;
	int order = lc_order_u64(lc_offheap_live_bytes(p), lc_offheap_live_bytes(o));

	if (!order)
		order = lc_order_u64(p->allocated_bytes, o->allocated_bytes);
	return order ? order : (*x > *y) - (*x < *y);
}
