/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/view.c - computes the sums and the orders of a view. */
#include "analyzer/objects/analysis/view.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "src/base/order.h"

void lc_view_tenths(const uint64_t *counts, size_t n, unsigned *tenths)
{
	unsigned __int128 sum = 0;
	unsigned left = 1000;

	for (size_t i = 0; i < n; i++)
		sum += counts[i];
	for (size_t i = 0; i < n; i++) {
		tenths[i] = sum ? (unsigned)((unsigned __int128)counts[i] * 1000 / sum) : 0;
		left -= tenths[i];
	}
	/* Rounding down leaves tenths over: the largest remainders get one each. */
	for (; sum && left; left--) {
		unsigned __int128 most = 0;
		size_t best = 0;

		for (size_t i = 0; i < n; i++) {
			unsigned __int128 exact = (unsigned __int128)counts[i] * 1000;
			unsigned __int128 given = (unsigned __int128)tenths[i] * sum;

			if (exact > given && exact - given > most) {
				most = exact - given;
				best = i;
			}
		}
		tenths[best]++;
	}
}

static int order_accesses(const void *a, const void *b, void *context)
{
	const struct lc_view_access *x = a, *y = b;
	int order = lc_order_u64(x->site ? 1 + x->bucket : 0, y->site ? 1 + y->bucket : 0);

	if (!order)
		order = lc_order_u64(x->site, y->site);
	if (!order)
		order = lc_order_u64(y->samples, x->samples);
	if (!order)
		order = lc_order_u64(x->bucket, y->bucket);
	return order ? order : lc_tree_order_paths(context, x->path, y->path);
}

struct site_order {
	const struct lc_tree *tree;
	enum lc_view_sort sort;
};

static int order_sites(const void *a, const void *b, void *context)
{
	const struct lc_view_site *x = a, *y = b;
	const struct site_order *o = context;
	int order = 0;

	if (o->sort == LC_SORT_CLASS)
		order = lc_tree_order_text(o->tree,
		                           lc_table_key(&o->tree->sites, x->site)[LC_SITE_CLASS],
		                           lc_table_key(&o->tree->sites, y->site)[LC_SITE_CLASS]);
	else if (o->sort == LC_SORT_BYTES)
		order = lc_order_u64(y->bytes, x->bytes);
	else if (o->sort == LC_SORT_ALLOCATIONS)
		order = lc_order_u64(y->allocations, x->allocations);
	if (!order)
		order = lc_order_u64(y->samples, x->samples);
	if (!order)
		order = lc_order_u64(y->bytes, x->bytes);
	if (!order)
		order = lc_order_u64(y->allocations, x->allocations);
	return order ? order : lc_order_u64(x->id, y->id);
}

static int order_threads(const void *a, const void *b, void *context)
{
	const struct lc_view_thread *x = a, *y = b;
	int order = lc_order_u64(y->samples, x->samples);

	if (!order)
		order = lc_tree_order_text(context, x->name, y->name);
	if (!order)
		order = lc_order_u64(x->tid, y->tid);
	return order ? order : lc_order_u64(x->row, y->row);
}

static int order_code(const void *a, const void *b, void *context)
{
	const struct lc_view_code *x = a, *y = b;
	int order = lc_order_u64(y->samples, x->samples);

	if (!order)
		order = lc_order_u64(y->total, x->total);
	if (!order)
		order = lc_tree_order_methods(context, x->method, y->method);
	return order ? order : lc_order_u64(x->line1, y->line1);
}

static void build_accesses(struct lc_view *v)
{
	const struct lc_table *table = &v->tree->accesses;

	v->accesses = lc_mem_zeroed(table->count, sizeof(*v->accesses));
	for (uint32_t row = 0; row < table->count; row++) {
		const uint32_t *key = lc_table_key(table, row);

		if (key[LC_ACCESS_ENGINE] != v->engine)
			continue;
		v->accesses[v->accesses_len++] = (struct lc_view_access){
			.bucket = key[LC_ACCESS_BUCKET],
			.site =
			    key[LC_ACCESS_BUCKET] <= LC_BUCKET_HEAP_CLASS ? key[LC_ACCESS_SITE] : 0,
			.path = key[LC_ACCESS_PATH],
			.samples = lc_table_values(table, row)[LC_ACCESS_SAMPLES],
			.pairs = lc_table_values(table, row)[LC_ACCESS_PAIRS],
		};
	}
	qsort_r(v->accesses, v->accesses_len, sizeof(*v->accesses), order_accesses,
	        (void *)(uintptr_t)v->tree);
}

_Static_assert(LC_BUCKET_OBJECT < LC_BUCKET_HEAP_CLASS && LC_BUCKET_HEAP_CLASS == 1,
               "the buckets whose accesses have a site come first");

enum {
	LINE_KEY_LEN = 4,
	LOOKED_AT_BYTES = 1024, /* the agent looks at the stack for each object of that size */
};

/* The line that allocates a site's objects, and their class. */
static void line_of(const struct lc_tree *t, uint32_t site, uint32_t key[LINE_KEY_LEN])
{
	const uint32_t *of = lc_table_key(&t->sites, site);
	const uint32_t *frame = of[LC_SITE_PATH] ? lc_tree_frame(t, of[LC_SITE_PATH]) : NULL;

	key[0] = of[LC_SITE_CLASS];
	key[1] = frame ? frame[LC_FRAME_METHOD] : UINT32_MAX;
	key[2] = frame ? frame[LC_FRAME_LINE1] : 0;
	key[3] = frame && !frame[LC_FRAME_LINE1] ? frame[LC_FRAME_BCI1] : 0;
}

/* Sums the objects whose caller is an estimate, by line. */
static void sum_spreads(const struct lc_tree *t, struct lc_table *lines)
{
	uint32_t key[LINE_KEY_LEN];

	lc_table_init(lines, LINE_KEY_LEN, 1);
	for (uint32_t row = 0; row < t->spreads.count; row++) {
		line_of(t, *lc_table_key(&t->spreads, row), key);
		*lc_table_values(lines, lc_table_put(lines, key)) +=
		    *lc_table_values(&t->spreads, row);
	}
}

static uint64_t value_of(const struct lc_table *table, const uint32_t *key)
{
	const uint32_t row = lc_table_find(table, key);

	return row == UINT32_MAX ? 0 : *lc_table_values(table, row);
}

/*
 * Objects that were counted for one caller of a line may be another's. So no caller's count is
 * exact if that of one is an estimate, unless its objects are so large that each was looked at.
 */
static uint64_t spread_of(const struct lc_tree *t, const struct lc_table *lines,
                          const struct lc_view_site *s)
{
	uint32_t key[LINE_KEY_LEN];
	uint64_t line;

	if (!lines->count)
		return 0;
	if (s->bytes >= LOOKED_AT_BYTES * s->allocations)
		return value_of(&t->spreads, &s->site);
	line_of(t, s->site, key);
	line = value_of(lines, key);
	return line < s->allocations ? line : s->allocations;
}

/* Sites that have samples in `bucket`; objects also those that were only allocated. */
static struct lc_view_site *build_sites(const struct lc_view *v, uint32_t bucket,
                                        enum lc_view_sort sort, size_t *len)
{
	const struct lc_table *table = &v->tree->sites;
	struct lc_view_site *rows = lc_mem_zeroed(table->count, sizeof(*rows));
	struct site_order order = { v->tree, sort };
	struct lc_table lines;
	size_t access = 0;

	sum_spreads(v->tree, &lines);
	*len = 0;
	while (access < v->accesses_len &&
	       (!v->accesses[access].site || v->accesses[access].bucket != bucket))
		access++;
	for (uint32_t site = 1; site < table->count; site++) {
		struct lc_view_site s = { .bucket = bucket,
			                  .site = site,
			                  .accesses = v->accesses + access };
		const uint64_t *values = lc_table_values(table, site);

		for (; access < v->accesses_len && v->accesses[access].site == site &&
		       v->accesses[access].bucket == bucket;
		     access++) {
			s.samples += v->accesses[access].samples;
			s.pairs += v->accesses[access].pairs;
			s.accesses_len++;
		}
		if (bucket == LC_BUCKET_OBJECT) {
			s.allocations = values[LC_SITE_ALLOCATIONS];
			s.bytes = values[LC_SITE_BYTES];
			s.spread = spread_of(v->tree, &lines, &s);
		}
		if (!s.samples && !s.allocations)
			continue;
		s.id = lc_tree_site_id(v->tree, site);
		rows[(*len)++] = s;
	}
	lc_table_free(&lines);
	qsort_r(rows, *len, sizeof(*rows), order_sites, &order);
	return rows;
}

static void attach_splits(struct lc_view *v)
{
	uint32_t *of_site = lc_mem_zeroed(v->tree->sites.count, sizeof(*of_site));

	for (size_t i = 0; i < v->splits_len; i++)
		of_site[v->splits[i].class_site] = (uint32_t)i + 1;
	for (size_t i = 0; i < v->classes_len; i++)
		if (of_site[v->classes[i].site])
			v->classes[i].split = &v->splits[of_site[v->classes[i].site] - 1];
	free(of_site);
}

uint64_t lc_view_java(const struct lc_view *v)
{
	enum { HOW_KERNEL = LC_HOW_COUNT - 1 };

	if (2 * v->how[HOW_KERNEL] > v->total)
		return 0;
	return v->where[0] + v->where[1] + v->where[2]; /* compiled, stub, interpreter */
}

uint64_t lc_view_interpreted(const struct lc_view *v)
{
	return lc_view_java(v) ? v->where[2] : 0;
}

uint64_t lc_view_unexplained(const struct lc_view *v)
{
	return v->buckets[LC_BUCKET_NO_ADDRESS] + v->buckets[LC_BUCKET_HEAP_UNKNOWN];
}

static void build_threads(struct lc_view *v)
{
	const struct lc_table *table = &v->tree->threads, *shares = &v->tree->shares;

	v->threads = lc_mem_zeroed(table->count, sizeof(*v->threads));
	v->threads_len = table->count;
	for (uint32_t row = 0; row < table->count; row++) {
		const uint64_t *values = lc_table_values(table, row);

		v->threads[row] = (struct lc_view_thread){
			.row = row,
			.process = lc_table_key(table, row)[LC_THREAD_PROCESS],
			.tid = (uint32_t)values[LC_THREAD_TID],
			.name = (uint32_t)values[LC_THREAD_NAME],
			.allocations = values[LC_THREAD_ALLOCATIONS],
			.bytes = values[LC_THREAD_BYTES],
		};
	}
	for (uint32_t row = 0; row < shares->count; row++) {
		const uint32_t *key = lc_table_key(shares, row);
		struct lc_view_thread *t = &v->threads[key[LC_SHARE_THREAD]];

		if (key[LC_SHARE_ENGINE] != v->engine)
			continue;
		t->buckets[key[LC_SHARE_BUCKET]] += *lc_table_values(shares, row);
		t->samples += *lc_table_values(shares, row);
	}
	qsort_r(v->threads, v->threads_len, sizeof(*v->threads), order_threads,
	        (void *)(uintptr_t)v->tree);
}

/* Columns of the tables that code is summed up in; the key is (method, line1). */
enum { CODE_SAMPLES, CODE_IN_OBJECTS, CODE_TRACKED, CODE_TOTAL, CODE_VALUES };

static void add_code(const struct lc_view *v, const struct lc_view_access *a,
                     struct lc_table *lines, struct lc_table *methods, uint32_t *stamps,
                     uint32_t stamp)
{
	const uint32_t *leaf = lc_tree_frame(v->tree, a->path);
	const uint32_t line_key[2] = { leaf[LC_FRAME_METHOD], leaf[LC_FRAME_LINE1] };
	const uint32_t method_key[2] = { leaf[LC_FRAME_METHOD], 0 };
	uint64_t *line = lc_table_values(lines, lc_table_put(lines, line_key));
	uint64_t *method = lc_table_values(methods, lc_table_put(methods, method_key));

	line[CODE_SAMPLES] += a->samples;
	method[CODE_SAMPLES] += a->samples;
	if (a->bucket == LC_BUCKET_OBJECT || a->bucket == LC_BUCKET_HEAP_CLASS) {
		line[CODE_IN_OBJECTS] += a->samples;
		method[CODE_IN_OBJECTS] += a->samples;
	}
	if (a->bucket == LC_BUCKET_OBJECT) {
		line[CODE_TRACKED] += a->samples;
		method[CODE_TRACKED] += a->samples;
	}
	for (uint32_t path = a->path; path; path = lc_tree_parent(v->tree, path)) {
		const uint32_t key[2] = { lc_tree_frame(v->tree, path)[LC_FRAME_METHOD], 0 };

		if (stamps[key[0]] == stamp)
			continue; /* recursion */
		stamps[key[0]] = stamp;
		lc_table_values(methods, lc_table_put(methods, key))[CODE_TOTAL] += a->samples;
	}
}

static struct lc_view_code *code_rows(const struct lc_view *v, const struct lc_table *table,
                                      size_t *len)
{
	struct lc_view_code *rows = lc_mem_zeroed(table->count, sizeof(*rows));

	*len = table->count;
	for (uint32_t i = 0; i < table->count; i++) {
		const uint64_t *values = lc_table_values(table, i);

		rows[i] = (struct lc_view_code){
			.method = lc_table_key(table, i)[0],
			.line1 = lc_table_key(table, i)[1],
			.samples = values[CODE_SAMPLES],
			.in_objects = values[CODE_IN_OBJECTS],
			.tracked = values[CODE_TRACKED],
			.total = values[CODE_TOTAL],
		};
	}
	qsort_r(rows, *len, sizeof(*rows), order_code, (void *)(uintptr_t)v->tree);
	return rows;
}

static void build_code(struct lc_view *v)
{
	uint32_t *stamps = lc_mem_zeroed(v->tree->methods.count, sizeof(*stamps));
	struct lc_table lines, methods;

	lc_table_init(&lines, 2, CODE_VALUES);
	lc_table_init(&methods, 2, CODE_VALUES);
	for (size_t i = 0; i < v->accesses_len; i++)
		if (v->accesses[i].path)
			add_code(v, &v->accesses[i], &lines, &methods, stamps, (uint32_t)i + 1);
	v->lines = code_rows(v, &lines, &v->lines_len);
	v->methods = code_rows(v, &methods, &v->methods_len);
	lc_table_free(&lines);
	lc_table_free(&methods);
	free(stamps);
}

/*
 * The pairs of all samples. For samples that have no access, since there was no memory, or whose
 * record was lost, there are as many to a sample as for the others.
 */
static void sum_pairs(struct lc_view *v)
{
	struct lc_weighted sum = { 0 };

	for (size_t i = 0; i < v->accesses_len; i++)
		sum = lc_wilson_sum(
		    sum, (struct lc_weighted){ v->accesses[i].samples, v->accesses[i].pairs });
	v->pairs = sum.pairs;
	if (sum.samples && v->total > sum.samples)
		v->pairs = (uint64_t)((double)sum.pairs * lc_share(v->total, sum.samples));
}

/* Profiles of older versions do not tell: of some of the samples nothing is known then. */
static void read_weights(struct lc_view *v)
{
	const struct lc_table *table = &v->tree->weights;
	uint64_t samples = 0;

	for (uint32_t row = 0; row < table->count; row++) {
		const uint32_t *key = lc_table_key(table, row);
		const uint64_t weight = lc_tree_wide(key + LC_WEIGHT_SAMPLES);
		const uint64_t interrupts = *lc_table_values(table, row);

		if (key[LC_WEIGHT_ENGINE] != v->engine || !weight || !interrupts)
			continue;
		v->interrupts += interrupts;
		samples += interrupts * weight;
		if (!v->lightest || weight < v->lightest)
			v->lightest = weight;
		if (weight > v->heaviest)
			v->heaviest = weight;
	}
	/* Lost samples have no interrupt that is known. */
	if (samples + v->buckets[LC_BUCKET_LOST] < v->total)
		v->interrupts = v->lightest = v->heaviest = 0;
}

void lc_view_build(struct lc_view *v, const struct lc_load *load, uint32_t engine,
                   enum lc_view_sort sort)
{
	const struct lc_table *details = &load->tree->details;

	*v = (struct lc_view){ .load = load, .tree = load->tree, .engine = engine };
	for (unsigned b = 0; b < LC_BUCKET_COUNT; b++) {
		v->buckets[b] = v->tree->buckets[engine][b];
		v->total += v->buckets[b];
	}
	for (uint32_t row = 0; row < details->count; row++) {
		const uint32_t *key = lc_table_key(details, row);

		if (key[LC_DETAIL_ENGINE] != engine)
			continue;
		v->where[key[LC_DETAIL_WHERE]] += *lc_table_values(details, row);
		v->how[key[LC_DETAIL_HOW]] += *lc_table_values(details, row);
		v->details[key[LC_DETAIL_WHERE]][key[LC_DETAIL_HOW]] +=
		    *lc_table_values(details, row);
	}
	build_accesses(v);
	sum_pairs(v);
	read_weights(v);
	v->sites = build_sites(v, LC_BUCKET_OBJECT, sort, &v->sites_len);
	v->classes = build_sites(v, LC_BUCKET_HEAP_CLASS, LC_SORT_SAMPLES, &v->classes_len);
	lc_view_build_fields(v);
	lc_view_build_steps(v);
	lc_view_build_waits(v);
	lc_view_build_reaches(v);
	lc_view_build_metrics(v);
	lc_view_build_estimates(v);
	lc_view_build_splits(v);
	attach_splits(v);
	lc_view_build_names(v);
	build_threads(v);
	build_code(v);
}

void lc_view_free(struct lc_view *v)
{
	free(v->accesses);
	free(v->sites);
	free(v->classes);
	free(v->estimates);
	free(v->splits);
	free(v->parts);
	free(v->fields);
	lc_table_free(&v->field_groups);
	free(v->steps);
	lc_table_free(&v->step_groups);
	lc_table_free(&v->wait_groups);
	free(v->reaches);
	free(v->metrics);
	lc_table_free(&v->metric_groups);
	free(v->names);
	free(v->threads);
	free(v->lines);
	free(v->methods);
}
