/* SPDX-License-Identifier: Apache-2.0 */
/* objects/analysis/keep.c - divides the live bytes of each class into headers, fields, padding. */
#include "analyzer/objects/analysis/keep.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/poisson.h"
#include "analyzer/base/table.h"
#include "analyzer/model/load.h"
#include "analyzer/objects/analysis/contents.h"

/* ---- one object ---- */

static uint64_t round_up(uint64_t bytes, uint64_t alignment)
{
	return (bytes + alignment - 1) / alignment * alignment;
}

struct lc_keep_object lc_keep_instance(const struct lc_keep_jvm *jvm, uint64_t bytes,
                                       uint64_t fields)
{
	struct lc_keep_object o = { .header = jvm->header };
	const uint64_t used = jvm->header + fields;
	uint64_t compact;

	if (!jvm->header || !jvm->alignment || used > bytes)
		return o;
	o.known = true;
	o.bytes = bytes;
	o.fields = fields;
	o.padding = bytes - used;
	compact = round_up(LC_KEEP_COMPACT_BYTES + fields, jvm->alignment);
	o.compact = bytes > compact ? bytes - compact : 0;
	/* If the gaps between fields are a whole unit, order, not width, is what costs it. */
	if (bytes > jvm->alignment && used > bytes - jvm->alignment &&
	    used - (bytes - jvm->alignment) < fields)
		o.narrower = used - (bytes - jvm->alignment);
	return o;
}

/* Bytes of an element of a primitive type; 0: the elements are references. */
static uint64_t width_of(struct lc_text class)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} types[] = { { "byte[]", 1 }, { "boolean[]", 1 }, { "char[]", 2 }, { "short[]", 2 },
		      { "int[]", 4 },  { "float[]", 4 },   { "long[]", 8 }, { "double[]", 8 } };

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (lc_text_is(class, types[i].name))
			return types[i].bytes;
	return 0;
}

struct lc_keep_object lc_keep_array(const struct lc_keep_jvm *jvm, struct lc_text class)
{
	const uint64_t width = width_of(class), each = width ? width : jvm->reference;
	struct lc_keep_object o = {
		.array = true,
		.header = !width       ? jvm->array_base_references
		          : width == 8 ? jvm->array_base_longs
		                       : jvm->array_base,
	};

	/* Sizes repeat after so many bytes of elements. */
	for (uint64_t bytes = 0; each && o.header && bytes < jvm->alignment; bytes += each) {
		const uint64_t used = o.header + bytes;
		const uint64_t padding = round_up(used, jvm->alignment) - used;

		o.padding_most = padding > o.padding_most ? padding : o.padding_most;
	}
	return o;
}

/* ---- unused elements ---- */

/* By site, the part of the elements that is not used in dead arrays; below 0: unknown. */
static double *unused_of(const struct lc_tree *t)
{
	double *unused = lc_mem_zeroed(t->sites.count, sizeof(*unused));

	for (uint32_t site = 0; site < t->sites.count; site++)
		unused[site] = -1;
	for (uint32_t i = 0; i < t->contents.count; i++) {
		const uint64_t *v = lc_table_values(&t->contents, i);

		if (v[LC_CONTENT_DEAD] - v[LC_CONTENT_ZERO] >= LC_CONTENTS_MIN &&
		    v[LC_CONTENT_USED] <= v[LC_CONTENT_BYTES] && v[LC_CONTENT_BYTES])
			unused[lc_table_key(&t->contents, i)[LC_CONTENT_SITE]] =
			    1 - (double)v[LC_CONTENT_USED] / (double)v[LC_CONTENT_BYTES];
	}
	return unused;
}

/* The site's arrays are live: add their elements that are not used. */
static void add_unused(struct lc_keep_class *c, const struct lc_keep_jvm *jvm, struct lc_text class,
                       const struct lc_live_held *h, double unused)
{
	const struct lc_keep_object o = lc_keep_array(jvm, class);
	const double elements = lc_live_bytes(h) - lc_live_objects(h) * (double)o.header;

	if (unused < 0 || !o.header || elements <= 0)
		return;
	c->looked_bytes += lc_live_bytes(h);
	c->unused_bytes += unused * elements;
}

/* ---- classes ---- */

/* The rows of LAYOUTS for a class, summed up. */
struct layout {
	uint32_t site;
	uint64_t bytes, fields;
	bool unlike; /* classes of one name differ */
};

/* By class; LAYOUTS has a class at one site, and two classes of one name at two. */
static struct layout *layouts_of(const struct lc_tree *t)
{
	struct layout *by_site = lc_mem_zeroed(t->sites.count, sizeof(*by_site));
	struct layout *by_class = lc_mem_zeroed(t->strings.count, sizeof(*by_class));

	for (uint32_t i = 0; i < t->layouts.count; i++) {
		const uint32_t *key = lc_table_key(&t->layouts, i);
		struct layout *l = &by_site[key[LC_LAYOUT_SITE]];

		if (key[LC_LAYOUT_BYTES])
			l->fields += key[LC_LAYOUT_BYTES];
		else if (l->bytes && l->bytes != lc_tree_wide(key + LC_LAYOUT_OFFSET))
			l->unlike = true;
		else
			l->bytes = lc_tree_wide(key + LC_LAYOUT_OFFSET);
	}
	for (uint32_t site = 1; site < t->sites.count; site++) {
		struct layout *from = &by_site[site];
		struct layout *to = &by_class[lc_table_key(&t->sites, site)[LC_SITE_CLASS]];

		if (!from->bytes)
			continue;
		from->unlike |=
		    to->bytes && (to->bytes != from->bytes || to->fields != from->fields);
		from->unlike |= to->unlike;
		*to = *from;
	}
	free(by_site);
	return by_class;
}

static void add(struct lc_live_held *sum, const struct lc_live_held *h)
{
	sum->objects += h->objects;
	sum->bytes += h->bytes;
	sum->sampled += h->sampled;
	sum->estimated.value += h->estimated.value;
	sum->estimated.variance += h->estimated.variance;
	sum->estimated_bytes.value += h->estimated_bytes.value;
	sum->estimated_bytes.variance += h->estimated_bytes.variance;
}

static void end(struct lc_live_held *h)
{
	struct lc_rank_number *n[] = { &h->estimated, &h->estimated_bytes };

	for (size_t i = 0; i < 2; i++)
		lc_poisson_sum(n[i]->value, n[i]->variance, &n[i]->low, &n[i]->high);
	h->estimated.low = fmax(h->estimated.low, (double)h->sampled);
}

static int order_classes(const void *a, const void *b)
{
	const struct lc_keep_class *x = a, *y = b;
	const double of_x = lc_live_bytes(&x->held), of_y = lc_live_bytes(&y->held);

	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	return x->class < y->class ? -1 : x->class > y->class;
}

static struct lc_keep_jvm jvm_of(const struct lc_load *l)
{
	return (struct lc_keep_jvm){
		.header = lc_load_level(l, "object_header_bytes"),
		.alignment = lc_load_level(l, "object_alignment_bytes"),
		.reference = lc_load_level(l, "reference_bytes"),
		.array_base = lc_load_level(l, "array_base_bytes"),
		.array_base_longs = lc_load_level(l, "array_base_longs"),
		.array_base_references = lc_load_level(l, "array_base_references"),
	};
}

void lc_keep_build(struct lc_keep *k, const struct lc_live *live, const struct lc_load *load)
{
	const struct lc_tree *t = load->tree;
	struct layout *layouts;
	struct lc_table rows;
	double *unused;

	*k = (struct lc_keep){ .jvm = jvm_of(load) };
	if (live->none)
		return;
	k->classes = lc_mem_zeroed(live->sites_len + 1, sizeof(*k->classes));
	unused = unused_of(t);
	lc_table_init(&rows, 1, 0);
	for (size_t i = 0; i < live->sites_len; i++) {
		const struct lc_live_site *s = &live->sites[i];
		const uint32_t class = lc_table_key(&t->sites, s->site)[LC_SITE_CLASS];
		uint32_t row;

		if (s->off_heap || lc_live_bytes(&s->now) < 1)
			continue;
		row = lc_table_put(&rows, &class);
		k->classes[row].class = class;
		add(&k->classes[row].held, &s->now);
		add_unused(&k->classes[row], &k->jvm, lc_tree_text(t, class), &s->now,
		           unused[s->site]);
	}
	free(unused);
	k->len = rows.count;
	lc_table_free(&rows);
	layouts = layouts_of(t);
	for (size_t i = 0; i < k->len; i++) {
		struct lc_keep_class *c = &k->classes[i];
		const struct layout *l = &layouts[c->class];
		const struct lc_text name = lc_tree_text(t, c->class);

		end(&c->held);
		c->object = lc_text_ends(name, "[]") ? lc_keep_array(&k->jvm, name)
		            : l->bytes && !l->unlike
		                ? lc_keep_instance(&k->jvm, l->bytes, l->fields)
		                : (struct lc_keep_object){ .header = k->jvm.header };
	}
	free(layouts);
	qsort(k->classes, k->len, sizeof(*k->classes), order_classes);
}

void lc_keep_free(struct lc_keep *k)
{
	free(k->classes);
	*k = (struct lc_keep){ .classes = NULL };
}
