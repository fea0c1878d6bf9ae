/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/view_rows.c - adds fields, references, measurements, estimates and splits to a
 * view. The file is longer than 600 lines: it has a part for each list of the view.
 */
#include "analyzer/objects/analysis/view.h"
#include "src/base/order.h"
#include "src/format/kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/poisson.h"
#include "analyzer/base/wilson.h"

#define Z95 1.959964 /* 95% of a normal distribution lie within so many deviations */

enum { SPLIT_ERROR_PERCENT = 25 }; /* HITS with a larger half-width give way to LIVE */

/* ---- fields ---- */

struct field_row {
	uint32_t bucket, site, path;
	struct lc_view_field field;
};

static int order_field_keys(const void *a, const void *b)
{
	const struct field_row *x = a, *y = b;
	int order = lc_order_u64(x->bucket, y->bucket);

	if (!order)
		order = lc_order_u64(x->site, y->site);
	if (!order)
		order = lc_order_u64(x->path, y->path);
	if (!order)
		order = lc_order_u64(x->field.name, y->field.name);
	if (!order)
		order = lc_order_u64(x->field.first, y->field.first);
	return order ? order : lc_order_u64(x->field.last, y->field.last);
}

static int order_fields(const void *a, const void *b, void *context)
{
	const struct lc_view_field *x = a, *y = b;
	int order = lc_order_u64(y->samples, x->samples);

	if (!order)
		order = lc_tree_order_text(context, x->name, y->name);
	if (!order)
		order = lc_order_u64(x->first, y->first);
	return order ? order : lc_order_u64(x->last, y->last);
}

/* Sum up rows of the same key, which are neighbours. Returns how many are left. */
static size_t sum_fields(struct field_row *rows, size_t len)
{
	size_t kept = 0;

	qsort(rows, len, sizeof(*rows), order_field_keys);
	for (size_t i = 1; i < len; i++) {
		if (order_field_keys(&rows[kept], &rows[i])) {
			rows[++kept] = rows[i];
			continue;
		}
		rows[kept].field.samples += rows[i].field.samples;
		rows[kept].field.loads += rows[i].field.loads;
		rows[kept].field.stores += rows[i].field.stores;
		rows[kept].field.pairs += rows[i].field.pairs;
		rows[kept].field.store_pairs += rows[i].field.store_pairs;
	}
	return len ? kept + 1 : 0;
}

/* Append rows, which are sorted and summed, to the view: a group for each bucket, site and path. */
static void add_field_groups(struct lc_view *v, const struct field_row *rows, size_t len,
                             size_t *fields_len)
{
	for (size_t from = 0, to; from < len; from = to) {
		const uint32_t key[3] = { rows[from].bucket, rows[from].site, rows[from].path };
		uint64_t *group =
		    lc_table_values(&v->field_groups, lc_table_put(&v->field_groups, key));

		group[0] = *fields_len;
		for (to = from; to < len && rows[to].bucket == key[0] && rows[to].site == key[1] &&
		                rows[to].path == key[2];
		     to++)
			v->fields[(*fields_len)++] = rows[to].field;
		group[1] = to - from;
		qsort_r(v->fields + group[0], group[1], sizeof(*v->fields), order_fields,
		        (void *)(uintptr_t)v->tree);
	}
}

void lc_view_build_fields(struct lc_view *v)
{
	const struct lc_table *table = &v->tree->fields;
	struct field_row *rows = lc_mem_zeroed(table->count, sizeof(*rows));
	size_t len = 0, fields_len = 0;

	lc_table_init(&v->field_groups, 3, 2);
	for (uint32_t i = 0; i < table->count; i++) {
		const uint32_t *key = lc_table_key(table, i);
		const uint64_t samples = lc_table_values(table, i)[LC_FIELD_SAMPLES];
		const uint64_t pairs = lc_table_values(table, i)[LC_FIELD_PAIRS];

		if (key[LC_FIELD_ENGINE] != v->engine || !key[LC_FIELD_SITE])
			continue;
		rows[len++] = (struct field_row){
			.bucket = key[LC_FIELD_BUCKET],
			.site = key[LC_FIELD_SITE],
			.path = key[LC_FIELD_PATH],
			.field = {
				.name = key[LC_FIELD_NAME],
				.first = lc_tree_wide(key + LC_FIELD_FIRST),
				.last = lc_tree_wide(key + LC_FIELD_LAST),
				.samples = samples,
				.loads = key[LC_FIELD_TOUCH] & LC_TOUCH_LOAD ? samples : 0,
				.stores = key[LC_FIELD_TOUCH] & LC_TOUCH_STORE ? samples : 0,
				.pairs = pairs,
				.store_pairs = key[LC_FIELD_TOUCH] & LC_TOUCH_STORE ? pairs : 0,
			},
		};
	}
	len = sum_fields(rows, len);
	v->fields = lc_mem_zeroed(2 * len, sizeof(*v->fields));
	add_field_groups(v, rows, len, &fields_len);
	for (size_t i = 0; i < len; i++)
		rows[i].path = LC_VIEW_ALL_PATHS;
	len = sum_fields(rows, len);
	add_field_groups(v, rows, len, &fields_len);
	free(rows);
}

const struct lc_view_field *lc_view_fields(const struct lc_view *v, uint32_t bucket, uint32_t site,
                                           uint32_t path, size_t *len)
{
	const uint32_t key[3] = { bucket, site, path };
	uint32_t row = lc_table_find(&v->field_groups, key);

	*len = 0;
	if (row == UINT32_MAX)
		return NULL;
	*len = lc_table_values(&v->field_groups, row)[1];
	return v->fields + lc_table_values(&v->field_groups, row)[0];
}

/* ---- steps ---- */

struct step_row {
	uint32_t bucket, site;
	struct lc_view_step step;
};

static int order_steps(const void *a, const void *b)
{
	const struct step_row *x = a, *y = b;
	int order = lc_order_u64(x->bucket, y->bucket);

	if (!order)
		order = lc_order_u64(x->site, y->site);
	if (!order)
		order = lc_order_u64(x->step.bytes, y->step.bytes);
	return order ? order : lc_order_u64(x->step.end, y->step.end);
}

void lc_view_build_steps(struct lc_view *v)
{
	const struct lc_table *table = &v->tree->steps;
	struct step_row *rows = lc_mem_zeroed(table->count, sizeof(*rows));
	size_t len = 0;

	lc_table_init(&v->step_groups, 2, 4);
	v->steps = lc_mem_zeroed(table->count, sizeof(*v->steps));
	for (uint32_t i = 0; i < table->count; i++) {
		const uint32_t *key = lc_table_key(table, i);

		if (key[LC_STEP_ENGINE] == v->engine)
			rows[len++] = (struct step_row){
				.bucket = key[LC_STEP_BUCKET],
				.site = key[LC_STEP_SITE],
				.step = { .bytes = lc_tree_wide(key + LC_STEP_BYTES),
				          .end = key[LC_STEP_END],
				          .samples = lc_table_values(table, i)[LC_STEP_SAMPLES],
				          .pairs = lc_table_values(table, i)[LC_STEP_PAIRS] },
			};
	}
	qsort(rows, len, sizeof(*rows), order_steps);
	for (size_t i = 0; i < len; i++) {
		const uint32_t key[2] = { rows[i].bucket, rows[i].site };
		uint64_t *group =
		    lc_table_values(&v->step_groups, lc_table_put(&v->step_groups, key));

		if (!group[1]++)
			group[0] = i;
		v->steps[i] = rows[i].step;
	}
	free(rows);
	for (size_t i = 0; i < v->accesses_len; i++) {
		const uint32_t key[2] = { v->accesses[i].bucket, v->accesses[i].site };
		const uint32_t row = lc_table_find(&v->step_groups, key);

		if (row == UINT32_MAX)
			continue;
		lc_table_values(&v->step_groups, row)[2] += v->accesses[i].samples;
		lc_table_values(&v->step_groups, row)[3] += v->accesses[i].pairs;
	}
}

const struct lc_view_step *lc_view_steps(const struct lc_view *v, uint32_t bucket, uint32_t site,
                                         size_t *len, struct lc_weighted *total)
{
	const uint32_t key[2] = { bucket, site };
	const uint32_t row = lc_table_find(&v->step_groups, key);
	const uint64_t *group;

	*len = 0;
	*total = (struct lc_weighted){ 0 };
	if (row == UINT32_MAX)
		return NULL;
	group = lc_table_values(&v->step_groups, row);
	*len = group[1];
	*total = (struct lc_weighted){ group[2], group[3] };
	return v->steps + group[0];
}

/* ---- waits ---- */

void lc_view_build_waits(struct lc_view *v)
{
	const struct lc_table *table = &v->tree->waits;

	lc_table_init(&v->wait_groups, 2, 5);
	for (uint32_t i = 0; i < table->count; i++) {
		const uint32_t *row = lc_table_key(table, i);
		const uint32_t key[2] = { row[LC_WAIT_BUCKET], row[LC_WAIT_SITE] };
		const uint64_t samples = *lc_table_values(table, i);
		uint64_t *sums;

		if (row[LC_WAIT_ENGINE] != v->engine)
			continue;
		sums = lc_table_values(&v->wait_groups, lc_table_put(&v->wait_groups, key));
		if (row[LC_WAIT_FLAGS] & LC_WAIT_ELSEWHERE)
			sums[1] += samples;
		if (row[LC_WAIT_FLAGS] & LC_WAIT_READS_ON)
			sums[2] += samples;
		if (row[LC_WAIT_FLAGS] & LC_WAIT_STORES_SOMEWHERE)
			sums[3] += samples;
		if (row[LC_WAIT_FLAGS] & LC_WAIT_SAME_OBJECT)
			sums[4] += samples;
	}
	for (size_t i = 0; i < v->accesses_len; i++) {
		const uint32_t key[2] = { v->accesses[i].bucket, v->accesses[i].site };
		const uint32_t row = lc_table_find(&v->wait_groups, key);

		if (row != UINT32_MAX)
			lc_table_values(&v->wait_groups, row)[0] += v->accesses[i].samples;
	}
}

struct lc_view_wait lc_view_waits(const struct lc_view *v, uint32_t bucket, uint32_t site)
{
	const uint32_t key[2] = { bucket, site };
	const uint32_t row = lc_table_find(&v->wait_groups, key);
	const uint64_t *sums = row == UINT32_MAX ? NULL : lc_table_values(&v->wait_groups, row);

	return sums ? (struct lc_view_wait){ sums[0], sums[1], sums[2], sums[3], sums[4] }
	            : (struct lc_view_wait){ .all = 0 };
}

/* ---- reaches ---- */

static int order_reaches(const void *a, const void *b)
{
	const struct lc_view_reach *x = a, *y = b;
	int order = lc_order_u64(x->bucket, y->bucket);

	return order ? order : lc_order_u64(x->site, y->site);
}

void lc_view_build_reaches(struct lc_view *v)
{
	const struct lc_table *table = &v->tree->reaches;

	v->reaches = lc_mem_zeroed(table->count, sizeof(*v->reaches));
	for (uint32_t i = 0; i < table->count; i++) {
		const uint32_t *key = lc_table_key(table, i);

		if (key[LC_REACH_ENGINE] == v->engine)
			v->reaches[v->reaches_len++] = (struct lc_view_reach){
				.bucket = key[LC_REACH_BUCKET],
				.site = key[LC_REACH_SITE],
				.path = key[LC_REACH_PATH],
				.why = key[LC_REACH_WHY],
				.kind = key[LC_REACH_KIND],
				.name = key[LC_REACH_NAME],
				.samples = lc_table_values(table, i)[LC_REACH_SAMPLES],
				.pairs = lc_table_values(table, i)[LC_REACH_PAIRS],
			};
	}
	qsort(v->reaches, v->reaches_len, sizeof(*v->reaches), order_reaches);
}

const struct lc_view_reach *lc_view_reaches(const struct lc_view *v, uint32_t bucket, uint32_t site,
                                            size_t *len)
{
	const struct lc_view_reach wanted = { .bucket = bucket, .site = site };
	size_t low = 0, high = v->reaches_len;

	*len = 0;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (order_reaches(&v->reaches[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	while (low + *len < v->reaches_len && !order_reaches(&v->reaches[low + *len], &wanted))
		++*len;
	return *len ? v->reaches + low : NULL;
}

/* ---- metrics ---- */

/* Add a row of the tree to the metric of a bucket, site and path. */
static void add_metric(struct lc_view *v, const uint32_t *group, const uint32_t *key,
                       const uint64_t *values)
{
	struct lc_view_metric *m = &v->metrics[lc_table_put(&v->metric_groups, group)];
	uint64_t samples = values[LC_METRIC_SAMPLES];
	uint32_t flags = key[LC_METRIC_FLAGS];

	m->samples += samples;
	m->sources[key[LC_METRIC_SOURCE]] += samples;
	if (values[LC_METRIC_LATENCY]) {
		m->timed += samples;
		m->latency_sum += values[LC_METRIC_LATENCY];
	}
	if (values[LC_METRIC_LATENCY_MAX] > m->latency_max)
		m->latency_max = values[LC_METRIC_LATENCY_MAX];
	m->hitm += flags & LC_METRIC_HITM ? samples : 0;
	m->tlb_miss += flags & LC_METRIC_TLB_MISS ? samples : 0;
	m->locked += flags & LC_METRIC_LOCKED ? samples : 0;
	m->stores += flags & LC_METRIC_STORE ? samples : 0;
}

static const uint32_t all_group[3] = { UINT32_MAX, 0, LC_VIEW_ALL_PATHS };

void lc_view_build_metrics(struct lc_view *v)
{
	const struct lc_table *table = &v->tree->metrics;

	lc_table_init(&v->metric_groups, 3, 0);
	v->metrics = lc_mem_zeroed(3 * (size_t)table->count, sizeof(*v->metrics));
	for (uint32_t i = 0; i < table->count; i++) {
		const uint32_t *key = lc_table_key(table, i);
		const uint64_t *values = lc_table_values(table, i);
		uint32_t group[3] = { key[LC_METRIC_BUCKET], key[LC_METRIC_SITE],
			              key[LC_METRIC_PATH] };

		if (key[LC_METRIC_ENGINE] != v->engine)
			continue;
		add_metric(v, all_group, key, values);
		add_metric(v, group, key, values);
		group[2] = LC_VIEW_ALL_PATHS;
		add_metric(v, group, key, values);
	}
}

static const struct lc_view_metric *find_metric(const struct lc_view *v, const uint32_t *group)
{
	uint32_t row = lc_table_find(&v->metric_groups, group);

	return row == UINT32_MAX ? NULL : &v->metrics[row];
}

const struct lc_view_metric *lc_view_metric(const struct lc_view *v, uint32_t bucket, uint32_t site,
                                            uint32_t path)
{
	return find_metric(v, (const uint32_t[3]){ bucket, site, path });
}

const struct lc_view_metric *lc_view_metric_all(const struct lc_view *v)
{
	return find_metric(v, all_group);
}

/* ---- estimates ---- */

static int order_estimates(const void *a, const void *b)
{
	const struct lc_view_estimate *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return lc_order_u64(x->id, y->id);
}

void lc_view_build_estimates(struct lc_view *v)
{
	const struct lc_table *table = &v->tree->estimates;

	v->estimates = lc_mem_zeroed(table->count, sizeof(*v->estimates));
	for (uint32_t i = 0; i < table->count; i++) {
		const uint64_t *values = lc_table_values(table, i);
		struct lc_view_estimate *e = &v->estimates[v->estimates_len];

		if (!*lc_table_key(table, i) || !values[LC_ESTIMATE_SAMPLED])
			continue;
		v->estimates_len++;
		e->site = *lc_table_key(table, i);
		e->id = lc_tree_site_id(v->tree, e->site);
		e->sampled = values[LC_ESTIMATE_SAMPLED];
		e->objects = (double)values[LC_ESTIMATE_OBJECTS] / 1000;
		e->objects_variance = (double)values[LC_ESTIMATE_OBJECTS_VARIANCE] / 1000;
		lc_poisson_sum(e->objects, e->objects_variance, &e->objects_low, &e->objects_high);
		e->objects_low = fmax(e->objects_low, (double)e->sampled); /* those were seen */
		e->bytes = (double)values[LC_ESTIMATE_BYTES];
		e->bytes_variance = (double)values[LC_ESTIMATE_BYTES_VARIANCE] * 0x1p20;
		lc_poisson_sum(e->bytes, e->bytes_variance, &e->bytes_low, &e->bytes_high);
		for (unsigned k = 0; k < LC_LIVE_COLUMNS; k++)
			e->live[k] = (double)values[LC_ESTIMATE_LIVE + k] / 1000;
	}
	qsort(v->estimates, v->estimates_len, sizeof(*v->estimates), order_estimates);
}

/* ---- splits ---- */

struct split_row {
	uint32_t class_site, method, site;
	uint64_t id;
	double samples, variance;
};

static int order_splits(const void *a, const void *b)
{
	const struct split_row *x = a, *y = b;
	int order = lc_order_u64(x->class_site, y->class_site);

	if (!order)
		order = lc_order_u64(x->method, y->method);
	return order ? order : lc_order_u64(x->id, y->id); /* sums round alike in any order */
}

static int order_parts(const void *a, const void *b)
{
	const struct lc_view_part *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return lc_order_u64(x->id, y->id);
}

/*
 * Share of a row with Wilson's interval. It wants a number of independent observations: as many as
 * would give a proportion the variance that the share has (delta method; with a rest, the row is
 * compared with counted samples), and no more than the error of all rows allows, `split->objects`.
 */
static struct lc_view_part part_of(const struct split_row *row, const struct lc_view_split *split,
                                   double variance)
{
	struct lc_view_part part = { .site = row->site, .id = row->id };
	double p = row->samples / split->covered;
	double of_sum = split->rest > 0 ? row->variance
	                                : (1 - p) * (1 - p) * row->variance +
	                                      p * p * (variance - row->variance);
	double of_share = of_sum / (split->covered * split->covered);
	double n = split->objects;

	part.share = part.low = part.high = p;
	if (variance <= 0)
		return part; /* exact */
	if (of_share > 0 && p * (1 - p) / of_share < n && p * (1 - p) > 0)
		n = p * (1 - p) / of_share;
	lc_wilson(p, n, Z95, &part.low, &part.high);
	return part;
}

/*
 * The rows of one class and method. `whole` is the samples that they were made from, or 0 in a
 * profile that does not tell. If they stand for less than `samples`, those of the class, by two
 * standard deviations, the rest lies in objects of lines without a row. Returns whether there is
 * anything to split.
 */
static bool split_of(const struct split_row *rows, size_t len, double whole, double samples,
                     struct lc_view_part *parts, struct lc_view_split *out)
{
	double variance = 0, known = 0;

	*out = (struct lc_view_split){ .parts = parts };
	if (!len)
		return false;
	out->class_site = rows->class_site;
	out->method = rows->method;
	for (size_t i = 0; i < len; i++) {
		known += rows[i].samples;
		variance += rows[i].variance;
	}
	if (known <= 0)
		return false;
	if (samples > known + 2 * sqrt(variance))
		whole = fmax(samples, whole);
	/* Each row is rounded to a thousandth of a sample. */
	out->covered = whole > known + (double)len / 1000 ? whole : known;
	out->rest = 1 - known / out->covered;
	out->objects = variance > 0 ? known * known / variance : INFINITY;
	for (size_t i = 0; i < len; i++) {
		parts[out->parts_len] = part_of(&rows[i], out, variance);
		out->error =
		    fmax(out->error, (parts[out->parts_len].high - parts[out->parts_len].low) / 2);
		out->parts_len++;
	}
	qsort(parts, out->parts_len, sizeof(*parts), order_parts);
	return true;
}

/* The better split of a class, by its rows in the order of methods. */
static bool best_split(const struct split_row *rows, size_t len, struct lc_view_part *parts,
                       struct lc_view_split *out)
{
	struct lc_view_split by_hits;
	size_t count[LC_SPLIT_COUNT] = { 0 };
	double sum[LC_SPLIT_COUNT] = { 0 };
	bool has_live, has_hits;
	size_t live;

	for (size_t i = 0; i < len; i++) {
		count[rows[i].method]++;
		sum[rows[i].method] += rows[i].samples;
	}
	live = count[LC_SPLIT_LIVE];
	has_live = split_of(rows, live, sum[LC_SPLIT_LIVE_WHOLE], 0, parts, out);
	has_hits = split_of(rows + live, count[LC_SPLIT_HITS], sum[LC_SPLIT_HITS_WHOLE],
	                    sum[LC_SPLIT_LIVE_WHOLE], parts + live, &by_hits);
	if (has_hits && (!has_live || by_hits.error * 100 <= SPLIT_ERROR_PERCENT))
		*out = by_hits;
	return has_live || has_hits;
}

void lc_view_build_splits(struct lc_view *v)
{
	const struct lc_table *table = &v->tree->splits;
	struct split_row *rows = lc_mem_zeroed(table->count, sizeof(*rows));
	size_t len = 0;

	v->parts = lc_mem_zeroed(table->count, sizeof(*v->parts));
	v->splits = lc_mem_zeroed(table->count, sizeof(*v->splits));
	for (uint32_t i = 0; i < table->count; i++) {
		const uint32_t *key = lc_table_key(table, i);
		const uint64_t *values = lc_table_values(table, i);

		if (key[LC_SPLIT_ENGINE] == v->engine && key[LC_SPLIT_CLASS] &&
		    values[LC_SPLIT_SAMPLES])
			rows[len++] = (struct split_row){
				key[LC_SPLIT_CLASS],
				key[LC_SPLIT_METHOD],
				key[LC_SPLIT_SITE],
				lc_tree_site_id(v->tree, key[LC_SPLIT_SITE]),
				(double)values[LC_SPLIT_SAMPLES] / 1000,
				(double)values[LC_SPLIT_VARIANCE] / 1000,
			};
	}
	qsort(rows, len, sizeof(*rows), order_splits);
	for (size_t from = 0, to; from < len; from = to) {
		for (to = from; to < len && rows[to].class_site == rows[from].class_site;)
			to++;
		if (best_split(rows + from, to - from, v->parts + from, &v->splits[v->splits_len]))
			v->splits_len++;
	}
	free(rows);
}

/* ---- names ---- */

static int order_names(const void *a, const void *b, void *context)
{
	const struct lc_view_name *x = a, *y = b;
	int order = lc_order_u64(x->site, y->site);

	if (!order)
		order = lc_order_u64(x->kind, y->kind);
	return order ? order : lc_tree_order_text(context, x->name, y->name);
}

void lc_view_build_names(struct lc_view *v)
{
	const struct lc_table *table = &v->tree->site_names;

	v->names = lc_mem_zeroed(table->count, sizeof(*v->names));
	v->names_len = table->count;
	for (uint32_t i = 0; i < table->count; i++) {
		const uint32_t *key = lc_table_key(table, i);

		v->names[i] = (struct lc_view_name){
			.site = key[LC_SITE_NAME_SITE],
			.kind = key[LC_SITE_NAME_KIND],
			.name = key[LC_SITE_NAME_NAME],
		};
	}
	qsort_r(v->names, v->names_len, sizeof(*v->names), order_names, (void *)(uintptr_t)v->tree);
}

const struct lc_view_name *lc_view_names(const struct lc_view *v, uint32_t site, size_t *len)
{
	size_t low = 0, high = v->names_len;

	*len = 0;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (v->names[middle].site < site)
			low = middle + 1;
		else
			high = middle;
	}
	while (low + *len < v->names_len && v->names[low + *len].site == site)
		++*len;
	return *len ? v->names + low : NULL;
}
