/* SPDX-License-Identifier: Apache-2.0 */
/* model/slices.c - sums up samples and allocations by thread and by epoch. */
#include "analyzer/model/slices.h"

#include <string.h>

#include "analyzer/model/tree.h"
#include "src/base/order.h"

void lc_slices_init(struct lc_slices *s)
{
	lc_table_init(&s->epochs, LC_EPOCH_KEY, LC_EPOCH_VALUES);
	lc_table_init(&s->totals, LC_TOTAL_KEY, 1);
	lc_table_init(&s->sampled, LC_SAMPLED_KEY, LC_SAMPLED_VALUES);
	lc_table_init(&s->made, LC_MADE_AT_KEY, LC_MADE_AT_VALUES);
}

void lc_slices_free(struct lc_slices *s)
{
	lc_table_free(&s->epochs);
	lc_table_free(&s->totals);
	lc_table_free(&s->sampled);
	lc_table_free(&s->made);
}

void lc_slices_of_block(struct lc_slices *s, uint32_t process, uint32_t thread,
                        const struct lc_block_header *h, uint32_t who[LC_SLICE_WHO])
{
	uint32_t key[LC_EPOCH_KEY] = { process, 0, 0 }, row;
	uint64_t *begin;

	lc_tree_wide_put(key + LC_EPOCH_END, h->t_end_ns);
	row = lc_table_put(&s->epochs, key);
	begin = &lc_table_values(&s->epochs, row)[LC_EPOCH_BEGIN_NS];
	if (!*begin || h->t_begin_ns < *begin)
		*begin = h->t_begin_ns;
	who[LC_SLICE_THREAD1] = thread + 1;
	who[LC_SLICE_EPOCH1] = row + 1;
}

void lc_slices_add_total(struct lc_slices *s, const uint32_t who[LC_SLICE_WHO], uint32_t engine,
                         uint32_t bucket, uint64_t samples)
{
	const uint32_t key[LC_TOTAL_KEY] = { who[0], who[1], engine, bucket };

	lc_sum_add(lc_table_values(&s->totals, lc_table_put(&s->totals, key)), samples);
}

/* LC_PLACE columns: engine, bucket, site, path. */
static uint64_t *sampled(struct lc_slices *s, const uint32_t *who, const uint32_t *place)
{
	const uint32_t key[LC_SAMPLED_KEY] = { who[0],   who[1],   place[0],
		                               place[1], place[2], place[3] };

	return lc_table_values(&s->sampled, lc_table_put(&s->sampled, key));
}

static void add_placement(struct lc_slices *s, const uint32_t *who, const uint32_t *key,
                          uint64_t samples)
{
	/* `key` lacks the owner, which is the first column in the tree. */
	const uint32_t from = key[LC_PLACEMENT_ACCESSING - 1], to = key[LC_PLACEMENT_OWNING - 1];
	uint64_t *values;

	if (!from || !to)
		return;
	values = sampled(s, who, key);
	lc_sum_add(&values[LC_SAMPLED_PLACED], samples);
	if (from != to)
		lc_sum_add(&values[LC_SAMPLED_REMOTE], samples);
}

void lc_slices_add(struct lc_slices *s, const uint32_t who[LC_SLICE_WHO], enum lc_section section,
                   const uint32_t *key, const uint64_t *v)
{
	const uint32_t made_key[LC_MADE_AT_KEY] = { who[0], who[1], key[0] };
	uint64_t *made;

	switch (section) {
	case LC_SECTION_ACCESSES:
		lc_sum_add(&sampled(s, who, key)[LC_SAMPLED_SAMPLES], v[LC_ACCESS_SAMPLES]);
		break;
	case LC_SECTION_METRICS:
		lc_sum_add(&sampled(s, who, key)[LC_SAMPLED_LATENCY], v[LC_METRIC_LATENCY]);
		break;
	case LC_SECTION_PLACEMENTS:
		add_placement(s, who, key, v[LC_PLACEMENT_SAMPLES]);
		break;
	case LC_SECTION_ALLOCATIONS:
		made = lc_table_values(&s->made, lc_table_put(&s->made, made_key));
		lc_sum_add(&made[LC_MADE_AT_OBJECTS], v[0]);
		lc_sum_add(&made[LC_MADE_AT_BYTES], v[1]);
		break;
	case LC_SECTION_ESTIMATES:
		made = lc_table_values(&s->made, lc_table_put(&s->made, made_key));
		lc_sum_add(&made[LC_MADE_AT_ESTIMATED_MILLI], v[LC_ESTIMATE_OBJECTS]);
		lc_sum_add(&made[LC_MADE_AT_ESTIMATED_BYTES], v[LC_ESTIMATE_BYTES]);
		break;
	default:
		break;
	}
}

/*
 * Replace sites and paths of the keys, and join rows that become equal. `path` is 0 for keys
 * without a path.
 */
static void renumber(struct lc_table *t, uint32_t site, uint32_t path, const uint32_t *paths,
                     const uint32_t *sites)
{
	struct lc_table out;
	uint32_t key[LC_SAMPLED_KEY];

	lc_table_init(&out, t->key_len, t->value_len);
	for (uint32_t row = 0; row < t->count; row++) {
		const uint64_t *from = lc_table_values(t, row);
		uint64_t *to;

		memcpy(key, lc_table_key(t, row), t->key_len * sizeof(*key));
		key[site] = sites[key[site]];
		if (path)
			key[path] = paths[key[path]];
		to = lc_table_values(&out, lc_table_put(&out, key));
		for (unsigned i = 0; i < t->value_len; i++)
			lc_sum_add(&to[i], from[i]);
	}
	lc_table_free(t);
	*t = out;
}

void lc_slices_renumber(struct lc_slices *s, const uint32_t *paths, const uint32_t *sites)
{
	renumber(&s->sampled, LC_SAMPLED_SITE, LC_SAMPLED_PATH, paths, sites);
	renumber(&s->made, LC_MADE_AT_SITE, 0, paths, sites);
}
