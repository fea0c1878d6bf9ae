/* SPDX-License-Identifier: Apache-2.0 */
/* objects/export/pprof_nodes.c - sorts the data about threads and nodes by owner, for bisection. */
#include "analyzer/objects/export/pprof_nodes.h"

#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/view.h"
#include "src/base/order.h"

/* By what the parts belong to. */
static int order_owners(const struct lc_pprof_part *a, const struct lc_pprof_part *b)
{
	int order = lc_order_u64(a->bucket, b->bucket);

	if (!order)
		order = lc_order_u64(a->site, b->site);
	return order ? order : lc_order_u64(a->path, b->path);
}

static int order_parts(const void *a, const void *b)
{
	const struct lc_pprof_part *x = a, *y = b;
	int order = order_owners(x, y);

	if (!order)
		order = lc_order_u64(x->process, y->process);
	if (!order)
		order = lc_order_u64(x->index, y->index);
	if (!order)
		order = lc_order_u64(x->node1, y->node1);
	return order ? order : lc_order_u64(x->cpu_node1, y->cpu_node1);
}

/* Join parts that differ in the data's source only. */
static size_t sort(struct lc_pprof_part *parts, size_t len)
{
	size_t kept = 0;

	qsort(parts, len, sizeof(*parts), order_parts);
	for (size_t i = 0; i < len; i++) {
		if (kept && !order_parts(&parts[kept - 1], &parts[i]))
			parts[kept - 1].samples += parts[i].samples;
		else
			parts[kept++] = parts[i];
	}
	return kept;
}

static void set_thread(const struct lc_tree *t, struct lc_pprof_part *p, uint32_t thread)
{
	const uint32_t *key = lc_table_key(&t->threads, thread);

	p->thread = thread;
	p->process = key[LC_THREAD_PROCESS];
	p->index = key[LC_THREAD_INDEX];
	p->name = (uint32_t)lc_table_values(&t->threads, thread)[LC_THREAD_NAME];
}

void lc_pprof_nodes_build(struct lc_pprof_nodes *n, const struct lc_view *v)
{
	const struct lc_tree *t = v->tree;

	*n = (struct lc_pprof_nodes){
		.accesses = lc_mem_zeroed((size_t)t->placements.count + 1, sizeof(*n->accesses)),
		.allocations = lc_mem_zeroed((size_t)t->homes.count + 1, sizeof(*n->allocations)),
	};
	for (uint32_t i = 0; i < t->placements.count; i++) {
		const uint32_t *key = lc_table_key(&t->placements, i);
		struct lc_pprof_part *p = &n->accesses[n->accesses_len];

		if (key[LC_PLACEMENT_ENGINE] != v->engine)
			continue;
		n->accesses_len++;
		set_thread(t, p, key[LC_PLACEMENT_THREAD]);
		p->bucket = key[LC_PLACEMENT_BUCKET];
		p->site = key[LC_PLACEMENT_SITE];
		p->path = key[LC_PLACEMENT_PATH];
		p->node1 = key[LC_PLACEMENT_OWNING];
		p->cpu_node1 = key[LC_PLACEMENT_ACCESSING];
		p->samples = lc_table_values(&t->placements, i)[LC_PLACEMENT_SAMPLES];
	}
	for (uint32_t i = 0; i < t->homes.count; i++) {
		const uint32_t *key = lc_table_key(&t->homes, i);
		const uint64_t *values = lc_table_values(&t->homes, i);
		struct lc_pprof_part *p = &n->allocations[n->allocations_len++];

		set_thread(t, p, key[LC_HOME_THREAD]);
		p->site = key[LC_HOME_SITE];
		p->node1 = key[LC_HOME_NODE];
		p->bytes = values[LC_HOME_BYTES];
		p->objects = values[LC_HOME_OBJECTS];
	}
	n->accesses_len = sort(n->accesses, n->accesses_len);
	n->allocations_len = sort(n->allocations, n->allocations_len);
}

void lc_pprof_nodes_free(struct lc_pprof_nodes *n)
{
	free(n->accesses);
	free(n->allocations);
}

static const struct lc_pprof_part *find(const struct lc_pprof_part *parts, size_t count,
                                        const struct lc_pprof_part *owner, size_t *len)
{
	size_t first = 0, end = count;

	while (first < end) {
		const size_t middle = first + (end - first) / 2;

		if (order_owners(&parts[middle], owner) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	for (*len = 0; first + *len < count && !order_owners(&parts[first + *len], owner);)
		++*len;
	return parts + first;
}

const struct lc_pprof_part *lc_pprof_accesses(const struct lc_pprof_nodes *n, uint32_t bucket,
                                              uint32_t site, uint32_t path, size_t *len)
{
	const struct lc_pprof_part owner = { .bucket = bucket, .site = site, .path = path };

	return find(n->accesses, n->accesses_len, &owner, len);
}

const struct lc_pprof_part *lc_pprof_allocations(const struct lc_pprof_nodes *n, uint32_t site,
                                                 size_t *len)
{
	const struct lc_pprof_part owner = { .site = site };

	return find(n->allocations, n->allocations_len, &owner, len);
}
