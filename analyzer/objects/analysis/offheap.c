/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/offheap.c - sums up blocks outside the heap. */
#include "analyzer/objects/analysis/offheap.h"

#include <string.h>

#include "analyzer/objects/analysis/view.h"
#include "src/base/order.h"
#include "src/format/kinds.h"

bool lc_offheap_class(struct lc_text class)
{
	return lc_text_ends(class, LC_OFFHEAP_SUFFIX);
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

struct lc_rank_offheap lc_offheap_all(const struct lc_ranking *rank)
{
	struct lc_rank_offheap all = { 0 };

	for (size_t i = 0; i < rank->len; i++) {
		const struct lc_rank_offheap *o = &rank->rows[i].offheap;

		all.allocated += o->allocated;
		all.allocated_bytes += o->allocated_bytes;
		all.freed += o->freed;
		all.freed_bytes += o->freed_bytes;
	}
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
