/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/touch.c - sums up the fields of a row, and names what they have in common. */
#include "analyzer/objects/analysis/touch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/offheap.h"
#include "analyzer/out/emit.h"
#include "src/base/order.h"

enum { MOST_PERCENT = 80 }; /* of the samples are where a kind says they are */

static bool is_header(const struct lc_tree *t, uint32_t name)
{
	const struct lc_text text = lc_tree_text(t, name);

	return lc_text_is(text, "(mark)") || lc_text_is(text, "(class)") ||
	       lc_text_is(text, "(length)");
}

static int order_places(const void *a, const void *b)
{
	const struct lc_rank_part *const *x = a, *const *y = b;
	int order = lc_order_u64((*x)->bucket, (*y)->bucket);

	return order ? order : lc_order_u64((*x)->site, (*y)->site);
}

const struct lc_rank_part **lc_touch_places(const struct lc_rank_row *row, size_t *len)
{
	const struct lc_rank_part **places =
	    lc_mem_zeroed(row->parts_len, sizeof(const struct lc_rank_part *));

	*len = 0;
	for (size_t i = 0; i < row->parts_len; i++)
		places[i] = &row->parts[i];
	qsort(places, row->parts_len, sizeof(const void *), order_places);
	for (size_t i = 0; i < row->parts_len; i++)
		if (!i || order_places(&places[*len - 1], &places[i]))
			places[(*len)++] = places[i];
	return places;
}

/* Elements of arrays of one row may be pieces of other sizes: those are apart. */
static int order_names(const void *a, const void *b, void *context)
{
	const struct lc_view_field *x = a, *y = b;
	int order = lc_tree_order_text(context, x->name, y->name);

	if (!order)
		order = lc_order_u64(x->first, y->first);
	return order ? order : lc_order_u64(x->last, y->last);
}

static int order_most(const void *a, const void *b, void *context)
{
	const struct lc_view_field *x = a, *y = b;
	int order = lc_order_u64(y->samples, x->samples);

	return order ? order : order_names(a, b, context);
}

/* Equal ones become one. Returns how many are left. */
static size_t join(const struct lc_tree *t, struct lc_view_field *f, size_t len)
{
	size_t out = 0;

	if (!len)
		return 0;
	qsort_r(f, len, sizeof(*f), order_names, (void *)(uintptr_t)t);
	for (size_t i = 1; i < len; i++) {
		if (order_names(&f[out], &f[i], (void *)(uintptr_t)t)) {
			f[++out] = f[i];
			continue;
		}
		f[out].samples += f[i].samples;
		f[out].loads += f[i].loads;
		f[out].stores += f[i].stores;
		f[out].pairs += f[i].pairs;
		f[out].store_pairs += f[i].store_pairs;
	}
	qsort_r(f, out + 1, sizeof(*f), order_most, (void *)(uintptr_t)t);
	return out + 1;
}

struct lc_view_field *lc_touch_fields(const struct lc_ranking *r, const struct lc_rank_row *row,
                                      size_t *len)
{
	struct lc_view_field *out = NULL;
	size_t cap = 0, places_len;
	const struct lc_rank_part **places = lc_touch_places(row, &places_len);

	*len = 0;
	for (size_t i = 0; i < places_len; i++) {
		size_t n;
		const struct lc_view_field *f = lc_view_fields(
		    r->view, places[i]->bucket, places[i]->site, LC_VIEW_ALL_PATHS, &n);

		if (!n)
			continue;
		out = lc_mem_grow(out, &cap, *len + n, sizeof(*out));
		memcpy(out + *len, f, n * sizeof(*out));
		*len += n;
	}
	free(places);
	*len = join(r->view->tree, out, *len);
	return out;
}

/* ---- the order ---- */

static struct lc_weighted step_weighted(const struct lc_view_step *s)
{
	return (struct lc_weighted){ s->samples, s->pairs };
}

/* A part of a row has as many pairs to a sample as the row. */
static struct lc_weighted part_weighted(const struct lc_rank_row *row,
                                        const struct lc_rank_part *part)
{
	return (struct lc_weighted){ part->samples,
		                     (uint64_t)((double)row->pairs *
		                                lc_share(part->samples, row->samples)) };
}

/* Samples by what is known of the order in which a loop goes through a row's objects. */
struct walk {
	struct lc_weighted at; /* all */
	struct lc_weighted ends[LC_END_COUNT];
};

/* Sum up the steps of a row's sites and classes. Unless `w` is NULL, add to it as well. */
static struct lc_view_step *add_steps(const struct lc_ranking *r, const struct lc_rank_row *row,
                                      struct walk *w, size_t *len)
{
	const struct lc_rank_part **places =
	    lc_mem_zeroed(row->parts_len, sizeof(const struct lc_rank_part *));
	struct lc_view_step *out = NULL;
	size_t cap = 0;

	*len = 0;
	for (size_t i = 0; i < row->parts_len; i++)
		places[i] = &row->parts[i];
	qsort(places, row->parts_len, sizeof(const void *), order_places);
	for (size_t i = 0; i < row->parts_len; i++) {
		struct lc_weighted total;
		size_t n;
		const struct lc_view_step *s =
		    lc_view_steps(r->view, places[i]->bucket, places[i]->site, &n, &total);

		if (i && !order_places(&places[i - 1], &places[i]))
			continue;
		if (!n)
			total = part_weighted(row, places[i]);
		if (w)
			w->at = lc_wilson_sum(w->at, total);
		for (size_t k = 0; k < n; k++) {
			if (w)
				w->ends[s[k].end] =
				    lc_wilson_sum(w->ends[s[k].end], step_weighted(&s[k]));
			if (!s[k].bytes)
				continue;
			out = lc_mem_grow(out, &cap, *len + 1, sizeof(*out));
			out[(*len)++] = s[k];
		}
	}
	free(places);
	return out;
}

static int order_bytes(const void *a, const void *b)
{
	const struct lc_view_step *x = a, *y = b;

	return lc_order_u64(x->bytes, y->bytes);
}

static int order_most_steps(const void *a, const void *b)
{
	const struct lc_view_step *x = a, *y = b;
	int order = lc_order_u64(y->samples, x->samples);

	return order ? order : order_bytes(a, b);
}

static struct lc_view_step *steps_of(const struct lc_ranking *r, const struct lc_rank_row *row,
                                     struct walk *w, size_t *len)
{
	size_t all, kept = 0;
	struct lc_view_step *s = add_steps(r, row, w, &all);

	*len = 0;
	if (!all)
		return s;
	qsort(s, all, sizeof(*s), order_bytes);
	for (size_t i = 1; i < all; i++) {
		if (order_bytes(&s[kept], &s[i])) {
			s[++kept] = s[i];
			continue;
		}
		s[kept].samples += s[i].samples;
		s[kept].pairs += s[i].pairs;
	}
	*len = kept + 1;
	qsort(s, *len, sizeof(*s), order_most_steps);
	return s;
}

struct lc_view_step *lc_touch_steps(const struct lc_ranking *r, const struct lc_rank_row *row,
                                    size_t *len)
{
	return steps_of(r, row, NULL, len);
}

/* Are `part` of `whole` more than half, by the lower end of the interval? */
static bool most(struct lc_weighted part, struct lc_weighted whole)
{
	double low, high;

	lc_rank_interval(part, whole, &low, &high);
	return part.samples <= whole.samples && low > 0.5;
}

/* Do the steps of so many samples say anything of the order? */
static bool walk_is_known(struct lc_weighted stepped)
{
	return lc_wilson_effective(stepped) >= LC_WALK_SAMPLES_MIN;
}

static void find_walk(const struct lc_ranking *r, const struct lc_rank_row *row, struct lc_touch *t)
{
	struct walk w = { .at = { 0 } };
	struct lc_weighted stepped = { 0 }, sequential = { 0 }, step = { 0 }, placed;
	size_t len;
	struct lc_view_step *s = steps_of(r, row, &w, &len);

	for (size_t i = 0; i < len; i++) {
		stepped = lc_wilson_sum(stepped, step_weighted(&s[i]));
		if (s[i].bytes < LC_WALK_LINE)
			sequential = lc_wilson_sum(sequential, step_weighted(&s[i]));
	}
	if (len) {
		t->step = s->bytes;
		step = step_weighted(s);
	}
	free(s);
	t->at = w.at.samples;
	t->stepped = stepped.samples;
	t->sequential = sequential.samples;
	t->step_samples = step.samples;
	for (unsigned end = 0; end < LC_END_COUNT; end++)
		t->ends[end] = w.ends[end].samples;
	placed = lc_wilson_sum(lc_wilson_sum(w.ends[LC_END_FIRST], w.ends[LC_END_LAST]),
	                       w.ends[LC_END_MIDDLE]);
	if (walk_is_known(stepped) && most(sequential, w.at))
		t->walk = LC_WALK_SEQUENTIAL;
	else if (walk_is_known(stepped) && t->step >= LC_WALK_LINE && most(step, w.at))
		t->walk = LC_WALK_STRIDE;
	if (!walk_is_known(placed))
		return;
	if (most(w.ends[LC_END_FIRST], placed))
		t->hot_end = LC_END_FIRST;
	else if (most(w.ends[LC_END_LAST], placed))
		t->hot_end = LC_END_LAST;
}

/* ---- stores ---- */

/* Samples at the line that allocates, which clears a new array: no access of the program's. */
struct clearing {
	uint64_t samples;
	uint64_t placed; /* of these, of a known part */
	struct lc_weighted stores;
};

static void add_clearing(const struct lc_ranking *r, const struct lc_rank_part *p, uint32_t path,
                         struct clearing *c)
{
	size_t len;
	const struct lc_view_field *f = lc_view_fields(r->view, p->bucket, p->site, path, &len);

	for (size_t i = 0; i < len; i++) {
		c->placed += f[i].samples;
		if (!is_header(r->view->tree, f[i].name))
			c->stores = lc_wilson_sum(
			    c->stores, (struct lc_weighted){ f[i].stores, f[i].store_pairs });
	}
}

static struct clearing find_clearing(const struct lc_ranking *r, const struct lc_rank_row *row)
{
	struct clearing c = { 0 };
	size_t places_len;
	const struct lc_rank_part **places = lc_touch_places(row, &places_len);

	for (size_t i = 0; row->path && i < row->accesses_len; i++) {
		const uint32_t path = row->accesses[i].path;

		if (!path || !lc_tree_same_line(r->view->tree, path, row->path))
			continue;
		c.samples += row->accesses[i].samples;
		for (size_t k = 0; k < places_len; k++)
			add_clearing(r, places[k], path, &c);
	}
	free(places);
	return c;
}

/* ---- waits ---- */

static void find_waits(const struct lc_ranking *r, const struct lc_rank_row *row,
                       struct lc_touch *t)
{
	size_t places_len;
	const struct lc_rank_part **places = lc_touch_places(row, &places_len);

	for (size_t i = 0; i < places_len; i++) {
		const struct lc_view_wait w =
		    lc_view_waits(r->view, places[i]->bucket, places[i]->site);

		t->waits += w.all ? w.all : places[i]->samples;
		t->elsewhere += w.elsewhere;
		t->reads_on += w.reads_on;
		t->stores_somewhere += w.stores_somewhere;
		t->same_object += w.same_object;
	}
	free(places);
}

/* ---- all ---- */

/* Take the clearing out of the stores, as observations. */
static double written_of(struct lc_weighted stores, struct lc_weighted cleared)
{
	if (cleared.samples >= stores.samples)
		return 0;
	stores.samples -= cleared.samples;
	stores.pairs -= cleared.pairs < stores.pairs ? cleared.pairs : stores.pairs;
	return lc_wilson_effective(stores);
}

/* Samples that may be loads: what has no known part, and is not known to clear or to store. */
static uint64_t unplaced_of(const struct lc_touch *t, const struct clearing *c)
{
	/* Which of the stores clear is not known, so the two are not added up. */
	const uint64_t clears = c->samples > c->placed ? c->samples - c->placed : 0;
	const uint64_t stores = clears > t->stores_somewhere ? clears : t->stores_somewhere;

	return t->at > t->known + stores ? t->at - t->known - stores : 0;
}

struct lc_touch lc_touch_of(const struct lc_ranking *r, const struct lc_rank_row *row)
{
	const struct lc_tree *tree = r->view->tree;
	struct lc_touch t = { .kind = LC_TOUCH_UNKNOWN,
		              .off_heap = lc_offheap_class(lc_tree_text(tree, row->class)) };
	struct lc_weighted known = { 0 }, stores = { 0 };
	struct clearing clearing;
	size_t len;
	struct lc_view_field *f = lc_touch_fields(r, row, &len);

	for (size_t i = 0; i < len; i++) {
		known = lc_wilson_sum(known, (struct lc_weighted){ f[i].samples, f[i].pairs });
		if (is_header(tree, f[i].name)) {
			t.header += f[i].samples;
			continue;
		}
		t.loads += f[i].loads;
		stores =
		    lc_wilson_sum(stores, (struct lc_weighted){ f[i].stores, f[i].store_pairs });
		if (f[i].samples > t.samples) {
			t.samples = f[i].samples;
			t.field = f[i].name;
			t.first = f[i].first;
			t.last = f[i].last;
		}
	}
	free(f);
	clearing = find_clearing(r, row);
	t.made = clearing.samples;
	t.known = known.samples;
	t.observed = lc_wilson_effective(known);
	t.stores = stores.samples;
	t.cleared = clearing.stores.samples;
	t.written = t.off_heap ? 0 : written_of(stores, clearing.stores);
	find_walk(r, row, &t);
	find_waits(r, row, &t);
	t.unplaced = unplaced_of(&t, &clearing);
	if (t.observed < LC_TOUCH_SAMPLES_MIN)
		return t;
	if (lc_touch_nearly_all(t.header, t.known))
		t.kind = LC_TOUCH_HEADER;
	else if (!lc_touch_nearly_all(t.samples, t.known - t.header))
		t.kind = LC_TOUCH_ALL_OVER;
	else
		t.kind = lc_tree_text(tree, t.field).len ? LC_TOUCH_ONE_FIELD : LC_TOUCH_ONE_PART;
	return t;
}

void lc_touch_all(const struct lc_view *v, struct lc_weighted *known, struct lc_weighted *header)
{
	const struct lc_table *groups = &v->field_groups;

	*known = *header = (struct lc_weighted){ 0 };
	for (uint32_t g = 0; g < groups->count; g++) {
		const uint64_t *range = lc_table_values(groups, g);

		if (lc_table_key(groups, g)[2] != LC_VIEW_ALL_PATHS)
			continue;
		for (uint64_t i = range[0]; i < range[0] + range[1]; i++) {
			const struct lc_weighted seen = { v->fields[i].samples,
				                          v->fields[i].pairs };

			*known = lc_wilson_sum(*known, seen);
			if (is_header(v->tree, v->fields[i].name))
				*header = lc_wilson_sum(*header, seen);
		}
	}
}

static int order_header_classes(const void *a, const void *b, void *context)
{
	const struct lc_touch_class *x = a, *y = b;
	int order = lc_order_u64(y->samples, x->samples);

	return order ? order : lc_tree_order_text(context, x->class, y->class);
}

struct lc_touch_class *lc_touch_headers(const struct lc_view *v, size_t *len)
{
	const struct lc_table *groups = &v->field_groups;
	struct lc_touch_class *out = lc_mem_zeroed(v->tree->strings.count, sizeof(*out));

	*len = 0;
	for (uint32_t g = 0; g < groups->count; g++) {
		const uint64_t *range = lc_table_values(groups, g);
		const uint32_t *key = lc_table_key(groups, g);
		const uint32_t class = lc_table_key(&v->tree->sites, key[1])[LC_SITE_CLASS];

		for (uint64_t i = range[0]; key[2] == LC_VIEW_ALL_PATHS && i < range[0] + range[1];
		     i++)
			if (is_header(v->tree, v->fields[i].name)) {
				out[class].samples += v->fields[i].samples;
				out[class].pairs += v->fields[i].pairs;
			}
	}
	for (uint32_t class = 0; class < v->tree->strings.count; class ++)
		if (out[class].samples)
			out[(*len)++] =
			    (struct lc_touch_class){ class, out[class].samples, out[class].pairs };
	qsort_r(out, *len, sizeof(*out), order_header_classes, (void *)(uintptr_t)v->tree);
	return out;
}

bool lc_touch_never_read(const struct lc_touch *t)
{
	return t->written >= LC_TOUCH_WRITTEN_MIN && !t->loads &&
	       100 * t->unplaced <= t->stores - t->cleared;
}

bool lc_touch_nearly_all(uint64_t part, uint64_t whole)
{
	return part * 100 >= whole * MOST_PERCENT;
}

bool lc_touch_known(const struct lc_touch *t)
{
	return t->kind != LC_TOUCH_UNKNOWN || t->walk != LC_WALK_UNKNOWN;
}

/* Write the order of accesses, behind the part. */
static void put_walk(FILE *out, const struct lc_touch *t, bool first)
{
	if (t->walk == LC_WALK_UNKNOWN || t->kind == LC_TOUCH_HEADER)
		return;
	fputs(first ? "" : ", ", out);
	if (t->walk == LC_WALK_SEQUENTIAL)
		fputs("sequentially", out);
	else
		fprintf(out, "in steps of %" PRIu64 " bytes", t->step);
}

void lc_touch_text(FILE *out, const struct lc_tree *tree, const struct lc_touch *t)
{
	switch (t->kind) {
	case LC_TOUCH_UNKNOWN:
		break;
	case LC_TOUCH_HEADER:
		fputs("mostly the header", out);
		break;
	case LC_TOUCH_ONE_FIELD:
		fputs("mostly ", out);
		lc_emit_text(out, lc_tree_text(tree, t->field));
		break;
	case LC_TOUCH_ONE_PART:
		if (t->first == t->last)
			fprintf(out, "mostly %s %" PRIu64, t->off_heap ? "byte" : "element",
			        t->first);
		else
			fprintf(out, "mostly %s %" PRIu64 " to %" PRIu64,
			        t->off_heap ? "bytes" : "elements", t->first, t->last);
		break;
	case LC_TOUCH_ALL_OVER:
		fputs(t->hot_end == LC_END_FIRST  ? "mostly the first sixteenth"
		      : t->hot_end == LC_END_LAST ? "mostly the last sixteenth"
		                                  : "all over",
		      out);
		break;
	}
	put_walk(out, t, t->kind == LC_TOUCH_UNKNOWN);
	if (t->kind != LC_TOUCH_UNKNOWN && lc_touch_never_read(t))
		fputs(", written and never read", out);
}
