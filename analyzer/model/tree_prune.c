/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/tree_prune.c - sums up the counts in and below each path, relative to each total, and makes
 * a new tree of the paths that are large enough in one of them.
 */
#include "analyzer/model/tree_prune.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/groups.h"
#include "analyzer/model/tree_combine.h"

/* One kind of counts. */
struct measure {
	const struct lc_tree *t;
	uint64_t *sums; /* of each path: first its own, then with what is below */
	uint64_t total;
	bool *keep;
	double share;
};

static void begin(struct measure *m)
{
	memset(m->sums, 0, m->t->paths.count * sizeof(*m->sums));
	m->total = 0;
}

static void count(struct measure *m, uint32_t path, uint64_t v)
{
	lc_sum_add(&m->sums[path], v);
	lc_sum_add(&m->total, v);
}

/* A parent has a smaller number than its children. */
static void end(struct measure *m)
{
	const double least = m->share * (double)m->total;

	for (uint32_t path = m->t->paths.count - 1; path; path--) {
		lc_sum_add(&m->sums[lc_tree_parent(m->t, path)], m->sums[path]);
		if (m->sums[path] && (double)m->sums[path] >= least)
			m->keep[path] = true;
	}
}

static uint32_t path_of_site(const struct lc_tree *t, uint32_t site)
{
	return site ? lc_table_key(&t->sites, site)[LC_SITE_PATH] : 0;
}

/* Samples by the path of the access, and by that of the allocation of what was accessed. */
static void measure_engine(struct measure *m, uint32_t engine, bool of_sites)
{
	const struct lc_tree *t = m->t;

	begin(m);
	for (uint32_t row = 0; row < t->accesses.count; row++) {
		const uint32_t *key = lc_table_key(&t->accesses, row);

		if (key[LC_ACCESS_ENGINE] == engine)
			count(m,
			      of_sites ? path_of_site(t, key[LC_ACCESS_SITE]) : key[LC_ACCESS_PATH],
			      *lc_table_values(&t->accesses, row));
	}
	m->total = 0;
	for (unsigned b = 0; b < LC_BUCKET_COUNT; b++)
		lc_sum_add(&m->total, t->buckets[engine][b]);
	end(m);
}

static void measure_bytes(struct measure *m)
{
	const struct lc_tree *t = m->t;

	begin(m);
	for (uint32_t site = 1; site < t->sites.count; site++)
		count(m, path_of_site(t, site), lc_table_values(&t->sites, site)[LC_SITE_BYTES]);
	end(m);
	begin(m);
	for (uint32_t row = 0; row < t->estimates.count; row++)
		count(m, path_of_site(t, lc_table_key(&t->estimates, row)[LC_ESTIMATE_SITE]),
		      lc_table_values(&t->estimates, row)[LC_ESTIMATE_BYTES]);
	end(m);
}

/* Measure a stream by its place, a task by its creation and by its submission. */
static void measure_spans(struct measure *m)
{
	const struct lc_tree *t = m->t;

	for (unsigned which = 0; which < 3; which++) {
		begin(m);
		for (uint32_t row = 0; row < t->executions.count; row++) {
			const uint32_t *key = lc_table_key(&t->executions, row);
			const uint32_t paths[] = { key[LC_EXECUTION_PATH],
				                   path_of_site(t, key[LC_EXECUTION_SITE]),
				                   key[LC_EXECUTION_SUBMIT_PATH] };

			count(m, paths[which],
			      lc_table_values(&t->executions, row)[LC_EXECUTION_CYCLES]);
		}
		end(m);
	}
}

/* The frames of groups and request contexts stay, however little was counted below them. */
static void keep_outermost(struct measure *m, unsigned outermost)
{
	uint8_t *depths = lc_mem_zeroed(m->t->paths.count, 1);

	for (uint32_t path = 1; path < m->t->paths.count; path++) {
		const unsigned above = depths[lc_tree_parent(m->t, path)];

		depths[path] = (uint8_t)(above < outermost ? above + 1 : outermost + 1);
		m->keep[path] = depths[path] <= outermost || lc_group_is_context(m->t, path);
	}
	free(depths);
}

void lc_tree_prune(struct lc_tree *t, double share, unsigned outermost)
{
	struct measure m = { .t = t, .share = share };
	struct lc_tree pruned;

	m.sums = lc_mem_zeroed(t->paths.count, sizeof(*m.sums));
	m.keep = lc_mem_zeroed(t->paths.count, sizeof(*m.keep));
	m.keep[0] = true;
	keep_outermost(&m, outermost);
	for (uint32_t engine = 0; engine < LC_ENGINES_MAX; engine++) {
		bool used = false;

		for (unsigned b = 0; b < LC_BUCKET_COUNT; b++)
			used |= t->buckets[engine][b] > 0;
		for (unsigned of_sites = 0; used && of_sites < 2; of_sites++)
			measure_engine(&m, engine, of_sites);
	}
	measure_bytes(&m);
	measure_spans(&m);
	free(m.sums);
	lc_tree_init(&pruned);
	pruned.no_stretches = t->no_stretches;
	lc_tree_combine_some(&pruned, t, m.keep);
	free(m.keep);
	lc_tree_free(t);
	*t = pruned;
}
