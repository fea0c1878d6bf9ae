/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/gc_model.c - sums up what rows allocated and collections copied. */
#include "analyzer/objects/analysis/gc_model.h"

#include "analyzer/model/load.h"
#include "analyzer/objects/analysis/cpu_breakdown.h"

enum { COPIED_PERCENT_MIN = 1 }; /* of what was allocated, for the model by copies */

double lc_gc_model_bytes(const struct lc_rank_row *row)
{
	return (double)row->bytes + row->object_bytes.value;
}

int lc_gc_model_order_bytes(const void *a, const void *b)
{
	const struct lc_rank_row *const *x = a, *const *y = b;
	const double of_x = lc_gc_model_bytes(*x), of_y = lc_gc_model_bytes(*y);

	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

double lc_gc_model_copied(const struct lc_rank_row *row)
{
	return (double)row->copies.bytes + (double)row->copies.estimated_bytes;
}

void lc_gc_model_build(struct lc_gc_model *m, const struct lc_ranking *rank)
{
	const struct lc_load *l = rank->view->load;
	struct lc_cpu_breakdown bill;

	*m = (struct lc_gc_model){ 0 };
	for (size_t i = 0; i < rank->len; i++) {
		m->allocated += lc_gc_model_bytes(&rank->rows[i]);
		m->copied += lc_gc_model_copied(&rank->rows[i]);
	}
	if (l->filter || l->frames || !lc_cpu_breakdown_read(&bill, l))
		return;
	m->cpu_ns = bill.process_ns;
	m->gc_ns = bill.gc_ns;
	m->collected = lc_load_counter(l, "gc_collected");
	m->incomplete = lc_load_counter(l, "gc_incomplete");
	m->by_copies = m->copied > 0 && m->copied * 100 >= m->allocated * COPIED_PERCENT_MIN;
}

static double part(const struct lc_gc_model *m, double bytes, double all)
{
	return all > 0 ? (double)m->gc_ns * bytes / all : 0;
}

double lc_gc_model_by_allocation(const struct lc_gc_model *m, const struct lc_rank_row *row)
{
	return part(m, lc_gc_model_bytes(row), m->allocated);
}

double lc_gc_model_by_copies(const struct lc_gc_model *m, const struct lc_rank_row *row)
{
	return m->by_copies ? part(m, lc_gc_model_copied(row), m->copied) : 0;
}
