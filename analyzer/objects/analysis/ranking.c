/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/ranking.c - sums up a view's samples in objects in the rows of a ranking. It is
 * longer than 600 lines, since all sums share the keys of rows.
 */
#include "analyzer/objects/analysis/ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/poisson.h"
#include "analyzer/base/wilson.h"
#include "analyzer/model/groups.h"
#include "analyzer/objects/analysis/deal.h"
#include "analyzer/objects/analysis/offheap.h"
#include "analyzer/out/screen.h"
#include "src/base/order.h"

#define Z95 1.959964 /* 95% of a normal distribution lie within so many deviations */

enum { KEY_LEN = 4 };        /* class or package, and up to three more */
enum { ACCESS_KEY_LEN = 2 }; /* row, path */
enum { PART_KEY_LEN = 4 };   /* row, bucket, site, from */
enum { NAME_KEY_LEN = 3 };   /* row, kind, name */
enum { SITE_KEY_LEN = 2 };   /* row, site */
enum {
	VALUE_SAMPLES,
	VALUE_PAIRS,
	VALUE_ESTIMATED,
	VALUE_ALLOCATIONS,
	VALUE_BYTES,
	VALUE_SPREAD,
	VALUES
};

/* The sums so far. */
struct build {
	struct lc_ranking *r;
	const struct lc_view *v;
	const struct lc_tree *t;
	struct lc_known_lines *told; /* or NULL */
	struct lc_table rows;        /* key: see key_of(); values: VALUE_ */
	struct lc_table accesses;    /* row, path; samples */
	struct lc_table parts;       /* row, bucket, site, from; samples */
	struct lc_table names;       /* row, kind, name; bytes */
	struct lc_table sites;       /* row, site */
	uint32_t *packages;          /* of a class's string: a class of the same package; or NULL */
	struct extra *extras;        /* by row */
	size_t extras_cap;
};

/* The data of a row that are not sums of whole numbers. */
struct extra {
	uint32_t path;   /* of one of its allocations; 0: not known */
	double variance; /* of the samples that are estimated */
	double objects, objects_variance, bytes, bytes_variance;
	double live[LC_LIVE_COLUMNS];
	uint64_t sampled;
	struct lc_rank_copies copies;
	struct lc_rank_offheap offheap;
	struct lc_rank_contents contents;
	bool all_lines;
};

const char *lc_rank_group_name(enum lc_rank_group group)
{
	static const char *const names[LC_GROUP_COUNT] = { "class+line", "class", "field",
		                                           "package",    "site",  "by",
		                                           "context" };

	return names[group];
}

/* ---- intervals ---- */

void lc_rank_interval(struct lc_weighted part, struct lc_weighted whole, double *low, double *high)
{
	lc_wilson_weighted(part, whole, Z95, low, high);
}

void lc_rank_interval_of(const struct lc_view *v, struct lc_weighted part, double variance,
                         double *low, double *high)
{
	const double share = lc_share(part.samples, v->total);
	const double split = v->total ? Z95 * sqrt(variance) / (double)v->total : 0;

	lc_rank_interval(part, lc_view_all(v), low, high);
	*low = fmax(0, share - hypot(share - *low, split));
	*high = fmin(1, share + hypot(*high - share, split));
}

/* ---- keys ---- */

struct lc_text lc_rank_package(struct lc_text name)
{
	if (lc_short_is_file(name))
		name.len = 0;
	while (name.len && name.bytes[name.len - 1] != '.')
		name.len--;
	if (name.len)
		name.len--; /* the dot */
	return name;
}

static int order_packages(const struct lc_tree *t, uint32_t a, uint32_t b)
{
	const struct lc_text x = lc_rank_package(lc_tree_text(t, a));
	const struct lc_text y = lc_rank_package(lc_tree_text(t, b));
	int order = memcmp(x.bytes, y.bytes, x.len < y.len ? x.len : y.len);

	return order ? order : lc_order_u64(x.len, y.len);
}

static int order_classes(const void *a, const void *b, void *context)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = order_packages(context, x, y);

	return order ? order : lc_tree_order_text(context, x, y);
}

/* For each class that a site has: the first of its package by name, which stands for it. */
static void find_packages(struct build *b)
{
	const struct lc_table *sites = &b->t->sites;
	uint32_t *classes = lc_mem_zeroed(sites->count, sizeof(*classes));
	size_t len = 0;

	b->packages = lc_mem_zeroed(b->t->strings.count, sizeof(*b->packages));
	for (uint32_t site = 1; site < sites->count; site++) {
		uint32_t class = lc_table_key(sites, site)[LC_SITE_CLASS];

		if (!b->packages[class])
			classes[len++] = class;
		b->packages[class] = class;
	}
	qsort_r(classes, len, sizeof(*classes), order_classes, (void *)(uintptr_t)b->t);
	for (size_t i = 1; i < len; i++)
		if (!order_packages(b->t, classes[i - 1], classes[i]))
			b->packages[classes[i]] = b->packages[classes[i - 1]];
	free(classes);
}

static uint32_t row_with(struct build *b, const uint32_t key[KEY_LEN], uint32_t path)
{
	const uint32_t before = b->rows.count, row = lc_table_put(&b->rows, key);

	if (row == before) {
		b->extras =
		    lc_mem_grow(b->extras, &b->extras_cap, (size_t)row + 1, sizeof(*b->extras));
		b->extras[row] = (struct extra){ .path = path };
	}
	return row;
}

/* The row of the request context that a path is in. */
static uint32_t row_of_request(struct build *b, uint32_t path)
{
	const struct lc_load *l = b->v->load;

	return row_with(b, (uint32_t[KEY_LEN]){ lc_group_context(l->tree, l->by.len, path) }, 0);
}

/* The row of objects of `site`'s class that were allocated at `from` (0: not known). */
static uint32_t row_of(struct build *b, uint32_t site, uint32_t from, uint32_t field1)
{
	const uint32_t class = lc_table_key(&b->t->sites, site)[LC_SITE_CLASS];
	const uint32_t path = from ? lc_table_key(&b->t->sites, from)[LC_SITE_PATH] : 0;
	uint32_t key[KEY_LEN] = { class, 0, 0, 0 };

	if (b->r->group == LC_GROUP_REQUEST)
		return row_of_request(b, path);
	if (b->r->group == LC_GROUP_BY) {
		key[0] =
		    lc_group_name(b->v->load->tree, &b->v->load->by,
		                  lc_table_key(&b->t->sites, from ? from : site)[LC_SITE_PATH]);
	} else if (b->r->group == LC_GROUP_PACKAGE) {
		key[0] = b->packages[class];
	} else if (b->r->group == LC_GROUP_FIELD) {
		key[1] = field1;
	} else if (b->r->group == LC_GROUP_SITE) {
		key[1] = path;
		key[2] = from ? 1 : 0;
	} else if (b->r->group == LC_GROUP_LINE && path) {
		key[1] = lc_tree_frame(b->t, path)[LC_FRAME_METHOD] + 1;
		key[2] = lc_tree_frame(b->t, path)[LC_FRAME_LINE1];
		/* Without lines, places in the bytecode tell them apart. */
		key[3] = key[2] ? 0 : lc_tree_frame(b->t, path)[LC_FRAME_BCI1];
	}
	return row_with(b, key, lc_rank_by_allocation(b->r->group) ? path : 0);
}

/* ---- samples ---- */

/*
 * If an access's samples go to several rows, each row gets its part of the pairs. A row with a part
 * of the interrupts has the same part of the sum of their squares.
 */
static uint64_t pairs_of(const struct lc_view_access *a, uint64_t samples)
{
	return (uint64_t)llround((double)a->pairs * lc_share(samples, a->samples));
}

static void add(struct build *b, uint32_t row, const struct lc_view_access *a, uint32_t from,
                uint64_t samples, uint64_t pairs, bool estimated)
{
	const uint32_t access[ACCESS_KEY_LEN] = { row, a->path };
	const uint32_t part[PART_KEY_LEN] = { row, a->bucket, a->site, from };

	if (!samples)
		return;
	lc_table_values(&b->rows, row)[VALUE_SAMPLES] += samples;
	lc_table_values(&b->rows, row)[VALUE_PAIRS] += pairs;
	lc_table_values(&b->rows, row)[VALUE_ESTIMATED] += estimated ? samples : 0;
	*lc_table_values(&b->accesses, lc_table_put(&b->accesses, access)) += samples;
	if (!a->site)
		return;
	*lc_table_values(&b->parts, lc_table_put(&b->parts, part)) += samples;
}

/* By field: samples of which no field is known have a row of their own. */
static void add_by_field(struct build *b, const struct lc_view_access *a, uint32_t from)
{
	uint64_t left = a->samples, left_pairs = a->pairs;
	size_t len;
	const struct lc_view_field *f = lc_view_fields(b->v, a->bucket, a->site, a->path, &len);

	for (size_t i = 0; i < len; i++) {
		const uint64_t samples = f[i].samples < left ? f[i].samples : left;
		const uint64_t pairs = f[i].pairs < left_pairs ? f[i].pairs : left_pairs;

		add(b, row_of(b, a->site, from, f[i].name + 1), a, from, samples, pairs, false);
		left -= samples;
		left_pairs -= pairs;
	}
	add(b, row_of(b, a->site, from, 0), a, from, left, left_pairs, false);
}

static void add_access(struct build *b, const struct lc_view_access *a, uint32_t from)
{
	if (b->r->group == LC_GROUP_FIELD)
		add_by_field(b, a, from);
	else if (b->r->group == LC_GROUP_REQUEST)
		add(b, row_of_request(b, a->path), a, from, a->samples, a->pairs, false);
	else
		add(b, row_of(b, a->site, from, 0), a, from, a->samples, a->pairs, false);
}

/* Give an access's samples to the lines that its class's objects come from. */
static void add_split(struct build *b, const struct lc_view_access *a, struct lc_deal *d,
                      const struct lc_view_split *split)
{
	lc_deal(d, a->samples);
	for (size_t i = 0; i <= split->parts_len; i++) {
		const uint32_t from = i < split->parts_len ? split->parts[i].site : 0;
		const uint64_t samples = d->parts[i].now;

		if (samples)
			add(b, row_of(b, a->site, from, 0), a, from, samples, pairs_of(a, samples),
			    from != 0);
	}
}

/* Samples in no object of known class. They are in rows of request contexts only. */
static void add_others(struct build *b)
{
	for (size_t i = 0; i < b->v->accesses_len; i++) {
		const struct lc_view_access *a = &b->v->accesses[i];

		if (a->site) {
			b->r->in_objects.samples += a->samples;
			b->r->in_objects.pairs += a->pairs;
		} else if (b->r->group == LC_GROUP_REQUEST) {
			add_access(b, a, 0);
		}
	}
}

static void add_variances(struct build *b, const struct lc_view_site *s)
{
	double sum = 0;

	for (size_t i = 0; i < s->split->parts_len; i++) {
		const struct lc_view_part *part = &s->split->parts[i];
		const double half = (part->high - part->low) / 2 / Z95 * (double)s->samples;
		const uint32_t row = row_of(b, s->site, part->site, 0);

		b->extras[row].variance += half * half;
		sum += half * half;
	}
	if (s->split->rest > 0)
		b->extras[row_of(b, s->site, 0, 0)].variance += sum;
}

static void add_class(struct build *b, const struct lc_view_site *s)
{
	const uint32_t class = lc_table_key(&b->t->sites, s->site)[LC_SITE_CLASS];
	const bool by_line = lc_rank_by_allocation(b->r->group);
	const bool by_some = by_line && b->told && s->samples &&
	                     lc_known_lines_by_some(b->told, lc_tree_text(b->t, class));
	struct lc_deal d;

	if (!by_line || by_some || !lc_known_lines_of(s)) {
		for (size_t i = 0; i < s->accesses_len; i++)
			add_access(b, &s->accesses[i], 0);
		if (by_some)
			b->extras[row_of(b, s->site, 0, 0)].all_lines = true;
		return;
	}
	lc_deal_begin(&d, s->split);
	for (size_t i = 0; i < s->accesses_len; i++)
		add_split(b, &s->accesses[i], &d, s->split);
	lc_deal_end(&d);
	add_variances(b, s);
}

/* ---- allocations ---- */

/* The site is one of the row's, and the names of its objects are the row's. */
static void add_site(struct build *b, uint32_t row, uint32_t site, double bytes)
{
	const uint32_t of_row[SITE_KEY_LEN] = { row, site };
	size_t len;
	const struct lc_view_name *n = lc_view_names(b->v, site, &len);

	lc_table_put(&b->sites, of_row);
	if (!lc_rank_by_allocation(b->r->group))
		return;
	for (size_t i = 0; i < len; i++) {
		const uint32_t key[NAME_KEY_LEN] = { row, n[i].kind, n[i].name };

		*lc_table_values(&b->names, lc_table_put(&b->names, key)) += (uint64_t)bytes;
	}
}

/* Which field of an object is meant when it is allocated is no question. */
static void add_allocations(struct build *b)
{
	for (size_t i = 0; i < b->v->sites_len; i++) {
		const struct lc_view_site *s = &b->v->sites[i];
		const uint32_t row = row_of(b, s->site, s->site, 0);
		uint64_t *values = lc_table_values(&b->rows, row);

		values[VALUE_ALLOCATIONS] += s->allocations;
		values[VALUE_BYTES] += s->bytes;
		if (b->r->group == LC_GROUP_SITE)
			values[VALUE_SPREAD] += s->spread;
		add_site(b, row, s->site, (double)s->bytes);
	}
	for (size_t i = 0; i < b->v->estimates_len; i++) {
		const struct lc_view_estimate *e = &b->v->estimates[i];
		const uint32_t row = row_of(b, e->site, e->site, 0); /* may move the extras */
		struct extra *x = &b->extras[row];

		x->objects += e->objects;
		x->objects_variance += e->objects_variance;
		x->bytes += e->bytes;
		x->bytes_variance += e->bytes_variance;
		x->sampled += e->sampled;
		for (unsigned k = 0; k < LC_LIVE_COLUMNS; k++)
			x->live[k] += e->live[k];
		add_site(b, row, e->site, e->bytes);
	}
}

static void add_copies(struct build *b)
{
	const struct lc_table *copies = &b->t->copies;

	for (uint32_t i = 0; i < copies->count; i++) {
		const uint32_t site = lc_table_key(copies, i)[LC_COPY_SITE];
		const uint64_t *values = lc_table_values(copies, i);
		const uint32_t row = row_of(b, site, site, 0);
		struct lc_rank_copies *c = &b->extras[row].copies;

		c->objects += values[LC_COPY_OBJECTS];
		c->bytes += values[LC_COPY_BYTES];
		c->outlived += values[LC_COPY_OUTLIVED];
		c->outlived_bytes += values[LC_COPY_OUTLIVED_BYTES];
		c->estimated_bytes += values[LC_COPY_ESTIMATED];
	}
}

static void add_contents(struct build *b)
{
	const struct lc_table *contents = &b->t->contents;

	for (uint32_t i = 0; i < contents->count; i++) {
		const uint32_t site = lc_table_key(contents, i)[LC_CONTENT_SITE];
		const uint64_t *values = lc_table_values(contents, i);
		const uint32_t row = row_of(b, site, site, 0);
		struct lc_rank_contents *c = &b->extras[row].contents;

		c->dead += values[LC_CONTENT_DEAD];
		c->zero += values[LC_CONTENT_ZERO];
		c->bytes += values[LC_CONTENT_BYTES];
		c->used_bytes += values[LC_CONTENT_USED];
		for (unsigned k = 0; k < LC_CONTENTS_PARTS; k++)
			c->parts[k] += values[LC_CONTENT_64TH + k];
		c->outlived += values[LC_CONTENT_OUTLIVED];
		c->same += values[LC_CONTENT_SAME];
		c->other += values[LC_CONTENT_OTHER];
	}
}

static void add_offheap(struct build *b)
{
	size_t len;
	struct lc_offheap_site *sites = lc_offheap_sites(b->t, &len);

	for (size_t i = 0; i < len; i++) {
		const struct lc_rank_offheap *o = &sites[i].counts;
		const uint32_t row = row_of(b, sites[i].site, sites[i].site, 0);

		lc_offheap_add(&b->extras[row].offheap, o);
		add_site(b, row, sites[i].site, (double)(o->before_bytes + o->allocated_bytes));
	}
	free(sites);
}

/* Sites that hold something have a row, too, whatever else is known of them. */
static void add_live(struct build *b)
{
	for (uint32_t i = 0; i < b->t->live.count; i++) {
		const uint32_t site = lc_table_key(&b->t->live, i)[LC_LIVE_SITE];

		if (site)
			add_site(b, row_of(b, site, site, 0), site, 0);
	}
}

/* ---- rows ---- */

static struct lc_rank_number number(double value, double variance, double least)
{
	struct lc_rank_number n = { .value = value, .variance = variance };

	lc_poisson_sum(value, variance, &n.low, &n.high);
	n.low = fmax(least, n.low);
	return n;
}

static struct lc_rank_row make_row(const struct build *b, uint32_t row)
{
	const uint32_t *key = lc_table_key(&b->rows, row);
	const uint64_t *values = lc_table_values(&b->rows, row);
	const struct extra *x = &b->extras[row];
	const struct lc_weighted seen = { values[VALUE_SAMPLES], values[VALUE_PAIRS] };
	struct lc_rank_row out = {
		.class = key[0],
		.path = x->path,
		.samples = seen.samples,
		.pairs = seen.pairs,
		.effective = lc_wilson_effective(seen),
		.estimated = values[VALUE_ESTIMATED],
		.variance = x->variance,
		.allocations = values[VALUE_ALLOCATIONS],
		.bytes = values[VALUE_BYTES],
		.spread = values[VALUE_SPREAD],
		.objects = number(x->objects, x->objects_variance, (double)x->sampled),
		.object_bytes = number(x->bytes, x->bytes_variance, 0),
		.sampled = x->sampled,
		.copies = x->copies,
		.offheap = x->offheap,
		.contents = x->contents,
		.all_lines = x->all_lines,
	};

	memcpy(out.live, x->live, sizeof(out.live));
	if (b->r->group == LC_GROUP_FIELD && key[1]) {
		out.field_known = true;
		out.field = key[1] - 1;
	}
	lc_rank_interval_of(b->v, seen, x->variance, &out.low, &out.high);
	out.rest = out.effective < LC_RANK_SAMPLES_MIN || out.low <= 0;
	return out;
}

static int order_accesses(const void *a, const void *b, void *context)
{
	const struct lc_rank_access *x = a, *y = b;
	int order = lc_order_u64(y->samples, x->samples);

	return order ? order : lc_tree_order_paths(context, x->path, y->path);
}

static int order_parts(const void *a, const void *b, void *context)
{
	const struct lc_rank_part *x = a, *y = b;
	int order = lc_order_u64(y->samples, x->samples);

	if (!order)
		order = lc_order_u64(x->bucket, y->bucket);
	if (!order)
		order = lc_order_u64(lc_tree_site_id(context, x->site),
		                     lc_tree_site_id(context, y->site));
	return order ? order
	             : lc_order_u64(lc_tree_site_id(context, x->from),
	                            lc_tree_site_id(context, y->from));
}

static int order_rows(const void *a, const void *b, void *context)
{
	const struct lc_rank_row *x = a, *y = b;
	const struct lc_tree *t = context;
	int order = lc_order_u64(x->rest, y->rest);

	if (!order)
		order = lc_order_u64(y->samples, x->samples);
	if (!order)
		order = lc_order_u64(y->bytes, x->bytes);
	if (!order)
		order = lc_order_u64(y->allocations, x->allocations);
	if (!order)
		order = lc_tree_order_text(t, x->class, y->class);
	if (!order)
		order = lc_tree_order_text(t, x->field, y->field);
	return order ? order : lc_tree_order_paths(t, x->path, y->path);
}

/* How many rows of `table` each row of the ranking has, as where they begin: count + 1 numbers. */
static size_t *starts_of(const struct lc_table *table, uint32_t count)
{
	size_t *starts = lc_mem_zeroed((size_t)count + 2, sizeof(*starts));

	for (uint32_t i = 0; i < table->count; i++)
		starts[lc_table_key(table, i)[0] + 2]++;
	for (uint32_t i = 2; i < count + 2; i++)
		starts[i] += starts[i - 1];
	return starts; /* starts[row + 1] moves on as rows are put in their places */
}

/* Makes an element for a row of a table. */
typedef void fill_element(void *out, const uint32_t *key, const uint64_t *values);

/*
 * Make an element of `bytes` for each row of `table`. The elements of row r of the ranking are
 * (*starts)[r] to (*starts)[r + 1] - 1, in `order` (NULL: as in the table). The caller frees
 * *starts.
 */
static void *elements(struct build *b, const struct lc_table *table, size_t bytes,
                      fill_element *fill, int (*order)(const void *, const void *, void *),
                      size_t **starts)
{
	char *all = lc_arena_zeroed(&b->r->arena, table->count, bytes);

	*starts = starts_of(table, b->rows.count);
	for (uint32_t i = 0; i < table->count; i++) {
		const uint32_t *key = lc_table_key(table, i);

		fill(all + (*starts)[key[0] + 1]++ * bytes, key, lc_table_values(table, i));
	}
	for (uint32_t row = 0; order && row < b->rows.count; row++)
		qsort_r(all + (*starts)[row] * bytes, (*starts)[row + 1] - (*starts)[row], bytes,
		        order, (void *)(uintptr_t)b->t);
	return all;
}

static void fill_access(void *out, const uint32_t *key, const uint64_t *values)
{
	*(struct lc_rank_access *)out = (struct lc_rank_access){ key[1], *values };
}

static void fill_part(void *out, const uint32_t *key, const uint64_t *values)
{
	*(struct lc_rank_part *)out = (struct lc_rank_part){
		.bucket = key[1], .site = key[2], .from = key[3], .samples = *values
	};
}

static void fill_name(void *out, const uint32_t *key, const uint64_t *values)
{
	*(struct lc_rank_name *)out =
	    (struct lc_rank_name){ .kind = key[1], .name = key[2], .bytes = (double)*values };
}

static void fill_site(void *out, const uint32_t *key, const uint64_t *values)
{
	*(uint32_t *)out = key[1];
}

static int order_names(const void *a, const void *b, void *context)
{
	const struct lc_rank_name *x = a, *y = b;
	int order = lc_order_u64(x->kind, y->kind);

	if (!order && x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return order ? order : lc_tree_order_text(context, x->name, y->name);
}

/* Give each row of the ranking what the tables keep by row. */
static void attach(struct build *b)
{
	size_t *at[4];
	struct lc_rank_access *accesses =
	    elements(b, &b->accesses, sizeof(*accesses), fill_access, order_accesses, &at[0]);
	struct lc_rank_part *parts =
	    elements(b, &b->parts, sizeof(*parts), fill_part, order_parts, &at[1]);
	struct lc_rank_name *names =
	    elements(b, &b->names, sizeof(*names), fill_name, order_names, &at[2]);
	uint32_t *sites = elements(b, &b->sites, sizeof(*sites), fill_site, NULL, &at[3]);

	for (uint32_t i = 0; i < b->rows.count; i++) {
		struct lc_rank_row *row = &b->r->rows[i];

		row->accesses = accesses + at[0][i];
		row->accesses_len = at[0][i + 1] - at[0][i];
		row->parts = parts + at[1][i];
		row->parts_len = at[1][i + 1] - at[1][i];
		row->names = names + at[2][i];
		row->names_len = at[2][i + 1] - at[2][i];
		row->sites = sites + at[3][i];
		row->sites_len = at[3][i + 1] - at[3][i];
	}
	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++)
		free(at[i]);
}

static void make_rows(struct build *b)
{
	struct lc_ranking *r = b->r;

	r->len = b->rows.count;
	r->rows = lc_arena_zeroed(&r->arena, r->len, sizeof(*r->rows));
	for (uint32_t row = 0; row < b->rows.count; row++)
		r->rows[row] = make_row(b, row);
	attach(b);
	qsort_r(r->rows, r->len, sizeof(*r->rows), order_rows, (void *)(uintptr_t)b->t);
	while (r->shown < r->len && !r->rows[r->shown].rest)
		r->shown++;
	for (size_t i = 0; i < r->len; i++) {
		r->samples += r->rows[i].samples;
		r->pairs += r->rows[i].pairs;
		r->rest_samples += i >= r->shown ? r->rows[i].samples : 0;
	}
}

void lc_ranking_build(struct lc_ranking *r, const struct lc_view *v, enum lc_rank_group group,
                      struct lc_known_lines *told)
{
	struct build b = { .r = r, .v = v, .t = v->tree, .told = told };

	*r = (struct lc_ranking){ .view = v, .group = group };
	lc_table_init(&b.rows, KEY_LEN, VALUES);
	lc_table_init(&b.accesses, ACCESS_KEY_LEN, 1);
	lc_table_init(&b.parts, PART_KEY_LEN, 1);
	lc_table_init(&b.names, NAME_KEY_LEN, 1);
	lc_table_init(&b.sites, SITE_KEY_LEN, 0);
	if (group == LC_GROUP_PACKAGE)
		find_packages(&b);
	for (size_t i = 0; i < v->sites_len; i++)
		for (size_t k = 0; k < v->sites[i].accesses_len; k++)
			add_access(&b, &v->sites[i].accesses[k], v->sites[i].site);
	for (size_t i = 0; i < v->classes_len; i++)
		add_class(&b, &v->classes[i]);
	add_others(&b);
	if (group != LC_GROUP_FIELD) {
		add_allocations(&b);
		add_copies(&b);
		add_offheap(&b);
		add_contents(&b);
		add_live(&b);
	}
	make_rows(&b);
	lc_table_free(&b.rows);
	lc_table_free(&b.accesses);
	lc_table_free(&b.parts);
	lc_table_free(&b.names);
	lc_table_free(&b.sites);
	free(b.packages);
	free(b.extras);
}

void lc_ranking_free(struct lc_ranking *r)
{
	lc_arena_free(&r->arena);
	*r = (struct lc_ranking){ 0 };
}
