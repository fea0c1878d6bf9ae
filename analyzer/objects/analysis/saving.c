/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/saving.c - finds the call paths that exist only for some objects, and sums up
 * their samples.
 *
 * Each call path is one of three kinds. All samples count on a path below a frame that exists only
 * for the objects. On a path that ends at the allocating line, samples in the JVM and the kernel
 * count too. On all other paths only the samples at the objects count.
 */
#include "analyzer/objects/analysis/saving.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/cpu_breakdown.h"
#include "analyzer/objects/analysis/gc_model.h"
#include "analyzer/objects/analysis/own_code.h"
#include "analyzer/objects/analysis/row_set.h"
#include "analyzer/objects/analysis/touch.h"
#include "src/base/order.h"

struct lc_savings {
	const struct lc_ranking *r;
	const struct lc_tree *t;
	struct lc_gc_model gc;
	double threads; /* the part of the CPU time that the samples are of */
	double whole;   /* CPU time without Locus, in ns; 0: not known */
	/*
	 * The same without the JIT. Code that is no longer called is not compiled. How much less
	 * the JIT has to do is not known: as if its time shrank in proportion.
	 */
	double running_threads, running;
	bool *jdk; /* by method */
};

/* The state of one call of lc_saving_of(). */
struct sum {
	const struct lc_savings *s;
	const struct lc_rank_row *const *rows;
	size_t len;
	const bool *gone; /* by method; NULL: none */
	bool *only;       /* by path: exists only for the objects */
	bool *below;      /* by path: below the method that is looked at */
	struct lc_weighted accesses, all;
};

struct lc_savings *lc_savings_new(const struct lc_ranking *r)
{
	struct lc_savings *s = lc_mem_zeroed(1, sizeof(*s));
	const struct lc_tree *t = r->view->tree;
	struct lc_cpu_breakdown b;

	s->r = r;
	s->t = t;
	s->threads = s->running_threads = 1;
	lc_gc_model_build(&s->gc, r);
	if (s->gc.cpu_ns && lc_cpu_breakdown_read(&b, r->view->load) && b.application_ns) {
		s->whole = (double)(b.process_ns - b.locus_ns);
		s->running = s->whole - (double)b.jit_ns;
		s->threads = (double)b.application_ns / s->whole;
		s->running_threads = (double)b.application_ns / s->running;
	}
	s->jdk = lc_mem_zeroed(t->methods.count, sizeof(*s->jdk));
	for (uint32_t i = 0; i < t->methods.count; i++)
		s->jdk[i] =
		    lc_own_is_jdk(lc_tree_text(t, lc_table_key(&t->methods, i)[LC_METHOD_CLASS]));
	return s;
}

void lc_savings_free(struct lc_savings *s)
{
	free(s->jdk);
	free(s);
}

double lc_savings_threads(const struct lc_savings *s)
{
	return s->threads;
}

/* ---- frames ---- */

static bool is_constructor(const struct lc_tree *t, uint32_t path)
{
	return lc_text_is(lc_tree_text(t, lc_tree_method(t, path)[LC_METHOD_NAME]), "<init>");
}

/*
 * Is the path's leaf a constructor that runs for objects of the row? A constructor that another one
 * calls may run for an object of a subclass.
 */
static bool constructs(const struct lc_tree *t, const struct lc_rank_row *row, uint32_t path)
{
	const uint32_t caller = lc_tree_parent(t, path);

	if (!caller || lc_tree_method(t, path)[LC_METHOD_CLASS] != row->class ||
	    !is_constructor(t, path))
		return false;
	return row->path ? lc_tree_same_line(t, caller, row->path) : !is_constructor(t, caller);
}

struct lc_text lc_saving_collection(struct lc_text class)
{
	static const char *const ends[] = { "$Node", "$Node[]", "$Entry", "$Entry[]", "$TreeNode" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		const size_t len = strlen(ends[i]);

		if (class.len <= len || !lc_text_ends(class, ends[i]))
			continue;
		class.len -= (uint32_t)len;
		/* Code of other packages, such as java.util.regex, does more. */
		if (lc_text_is(lc_rank_package(class), "java.util") ||
		    lc_text_is(lc_rank_package(class), "java.util.concurrent"))
			return class;
		break;
	}
	return (struct lc_text){ "", 0 };
}

/* Is the class the collection, or nested in it? A LinkedHashMap is a HashMap for the most part. */
static bool of_collection(struct lc_text class, struct lc_text collection)
{
	static const char hash_map[] = "java.util.HashMap";

	if (lc_text_is(collection, "java.util.LinkedHashMap"))
		collection = (struct lc_text){ hash_map, sizeof(hash_map) - 1 };
	return collection.len && class.len >= collection.len &&
	       !memcmp(class.bytes, collection.bytes, collection.len) &&
	       (class.len == collection.len || class.bytes[collection.len] == '$');
}

/* Does a collection call the path's leaf, a method of its elements, to find its way? */
static bool compares(const struct lc_tree *t, uint32_t path)
{
	static const char *const names[] = { "hashCode", "equals", "compareTo", "compare" };
	const struct lc_text name = lc_tree_text(t, lc_tree_method(t, path)[LC_METHOD_NAME]);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (lc_text_is(name, names[i]))
			return true;
	return false;
}

/*
 * Mark paths on which the JDK's frames up to the nearest other one have one of these methods, and
 * what compares elements for them.
 */
static void mark_inside(struct sum *sum, const bool *of)
{
	const struct lc_tree *t = sum->s->t;
	bool *inside = lc_mem_zeroed(t->paths.count, sizeof(*inside));
	bool *comparing = lc_mem_zeroed(t->paths.count, sizeof(*comparing));

	for (uint32_t path = 1; path < t->paths.count; path++) {
		const uint32_t method = lc_tree_method_number(t, path),
		               parent = lc_tree_parent(t, path);

		inside[path] = sum->s->jdk[method] && (of[method] || inside[parent]);
		comparing[path] = comparing[parent] ||
		                  (inside[parent] && !sum->s->jdk[method] && compares(t, path));
		sum->only[path] |= inside[path] || comparing[path];
	}
	free(inside);
	free(comparing);
}

static void mark_collection(struct sum *sum, struct lc_text collection)
{
	const struct lc_tree *t = sum->s->t;
	bool *of;

	if (!collection.len)
		return;
	of = lc_mem_zeroed(t->methods.count, sizeof(*of));
	for (uint32_t i = 0; i < t->methods.count; i++)
		of[i] = of_collection(
		    lc_tree_text(t, lc_table_key(&t->methods, i)[LC_METHOD_CLASS]), collection);
	mark_inside(sum, of);
	free(of);
}

/* ---- methods that make the objects and hand them out ---- */

/* Samples at the row's objects outside the method: somebody else uses what the method makes. */
static uint64_t used_outside(const struct sum *sum, const struct lc_rank_row *row)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < row->accesses_len; i++)
		if (!sum->below[row->accesses[i].path])
			samples += row->accesses[i].samples;
	return samples;
}

/* Are half of the bytes that the method allocates, with all that it calls, these rows' objects? */
static bool mostly_makes(const struct sum *sum)
{
	const struct lc_ranking *r = sum->s->r;
	double all = 0, rows = 0;

	for (size_t i = 0; i < r->len; i++)
		if (r->rows[i].path && sum->below[r->rows[i].path])
			all += lc_gc_model_bytes(&r->rows[i]);
	for (size_t i = 0; i < sum->len; i++)
		if (sum->rows[i]->path && sum->below[sum->rows[i]->path])
			rows += lc_gc_model_bytes(sum->rows[i]);
	return rows > 0 && 2 * rows >= all;
}

static void mark_maker(struct sum *sum, const struct lc_rank_row *row)
{
	const struct lc_tree *t = sum->s->t;
	const uint32_t method = lc_tree_method_number(t, row->path);

	for (uint32_t path = 1; path < t->paths.count; path++)
		sum->below[path] =
		    lc_tree_method_number(t, path) == method || sum->below[lc_tree_parent(t, path)];
	if (used_outside(sum, row) < LC_RANK_SAMPLES_MIN || !mostly_makes(sum))
		return;
	for (uint32_t path = 1; path < t->paths.count; path++)
		sum->only[path] |= sum->below[path];
}

static void mark(struct sum *sum)
{
	const struct lc_tree *t = sum->s->t;

	for (size_t i = 0; i < sum->len; i++) {
		for (uint32_t path = 1; path < t->paths.count; path++)
			sum->only[path] |= constructs(t, sum->rows[i], path);
		if (sum->rows[i]->path)
			mark_maker(sum, sum->rows[i]);
	}
	for (uint32_t path = 1; path < t->paths.count; path++)
		sum->only[path] |= sum->only[lc_tree_parent(t, path)];
	if (sum->gone)
		mark_inside(sum, sum->gone);
	/* Other code of the program below a collection's stays: a function for its elements. */
	for (size_t i = 0; i < sum->len; i++)
		mark_collection(sum, lc_saving_collection(lc_tree_text(t, sum->rows[i]->class)));
}

/* ---- samples ---- */

/* The part of the row's samples whose instruction waited: the others computed. */
static double waiting(const struct sum *sum, const struct lc_rank_row *row)
{
	const struct lc_touch touch = lc_touch_of(sum->s->r, row);

	return 1 - lc_share(touch.elsewhere, touch.waits);
}

static void add(struct lc_weighted *sum, double samples, double pairs_each)
{
	sum->samples += (uint64_t)llround(samples);
	sum->pairs += (uint64_t)llround(samples * pairs_each);
}

/* Add the rows' accesses. Returns the variance that estimated lines add to `accesses`, and to
 * `all`. */
static void add_rows(struct sum *sum, double *variance, double *loose_variance)
{
	double each_row = 0, scale;

	for (size_t i = 0; i < sum->len; i++) {
		const struct lc_rank_row *row = sum->rows[i];
		const double part = waiting(sum, row), each = lc_share(row->pairs, row->samples);
		uint64_t loose = 0;

		for (size_t k = 0; k < row->accesses_len; k++)
			if (!sum->only[row->accesses[k].path])
				loose += row->accesses[k].samples;
		add(&sum->accesses, part * (double)row->samples, each);
		add(&sum->all, part * (double)loose, each);
		each_row += row->variance;
		*variance += row->variance * part * part;
		*loose_variance += row->variance * pow(part * lc_share(loose, row->samples), 2);
	}
	/* Errors of lines of one class are opposite. */
	scale = each_row > 0 ? lc_row_set_variance(sum->s->r, sum->rows, sum->len) / each_row : 1;
	*variance *= scale;
	*loose_variance *= scale;
}

/* The rows' part of all bytes that are allocated at the line. */
static double part_of_line(const struct sum *sum, uint32_t path)
{
	const struct lc_ranking *r = sum->s->r;
	double all = 0, rows = 0;

	for (size_t i = 0; i < sum->len; i++)
		if (sum->rows[i]->path && lc_tree_same_line(sum->s->t, sum->rows[i]->path, path))
			rows += lc_gc_model_bytes(sum->rows[i]);
	for (size_t i = 0; rows > 0 && i < r->len; i++)
		if (r->rows[i].path && lc_tree_same_line(sum->s->t, r->rows[i].path, path))
			all += lc_gc_model_bytes(&r->rows[i]);
	return all > 0 ? rows / all : 0;
}

/* Samples of these buckets at an allocating line allocate, clear memory or get it from the kernel.
 */
static bool may_allocate(uint32_t bucket)
{
	return bucket == LC_BUCKET_JVM || bucket == LC_BUCKET_NATIVE ||
	       bucket == LC_BUCKET_NO_ADDRESS || bucket == LC_BUCKET_HEAP_UNKNOWN;
}

static void add_others(struct sum *sum)
{
	const struct lc_view *v = sum->s->r->view;

	for (size_t i = 0; i < v->accesses_len; i++) {
		const struct lc_view_access *a = &v->accesses[i];
		double part = 0;

		if (!a->path)
			continue;
		if (sum->only[a->path])
			part = 1;
		else if (may_allocate(a->bucket))
			part = part_of_line(sum, a->path);
		add(&sum->all, part * (double)a->samples, lc_share(a->pairs, a->samples));
	}
}

/* `scale`: which part of the CPU time all samples are; `collector`: which part it is, at these. */
static struct lc_saving_part part_of(const struct lc_savings *s, struct lc_weighted samples,
                                     double variance, double scale, double collector)
{
	const struct lc_view *v = s->r->view;
	double low, high;

	lc_rank_interval_of(v, samples, variance, &low, &high);
	return (struct lc_saving_part){
		.share = fmin(1, scale * lc_share(samples.samples, v->total) + collector),
		.low = fmin(1, scale * low + collector),
		.high = fmin(1, scale * high + collector),
	};
}

/* The collector's time for the rows: for their allocation or for copying them, if that is more. */
static double collector_of(const struct lc_savings *s, const struct lc_rank_row *const *rows,
                           size_t len)
{
	double ns = 0;

	for (size_t i = 0; i < len; i++)
		ns += fmax(lc_gc_model_by_allocation(&s->gc, rows[i]),
		           lc_gc_model_by_copies(&s->gc, rows[i]));
	return s->whole > 0 ? fmin(ns, (double)s->gc.gc_ns) / s->whole : 0;
}

struct lc_saving lc_saving_of(const struct lc_savings *s, const struct lc_rank_row *const *rows,
                              size_t len, const bool *gone)
{
	struct sum sum = { .s = s, .rows = rows, .len = len, .gone = gone };
	struct lc_saving out = { 0 };
	double variance = 0, loose = 0;

	sum.only = lc_mem_zeroed(s->t->paths.count, sizeof(*sum.only));
	sum.below = lc_mem_zeroed(s->t->paths.count, sizeof(*sum.below));
	mark(&sum);
	add_rows(&sum, &variance, &loose);
	add_others(&sum);
	out.accesses = part_of(s, sum.accesses, variance, s->threads, 0);
	out.all = part_of(s, sum.all, loose, s->threads, collector_of(s, rows, len));
	free(sum.only);
	free(sum.below);
	return out;
}

/* The part of all allocated bytes that the flagged paths allocate. */
static double bytes_of_paths(const struct lc_savings *s, const bool *on)
{
	const struct lc_view *v = s->r->view;
	double all = 0, part = 0;

	for (size_t i = 0; i < v->sites_len + v->estimates_len; i++) {
		const bool counted = i < v->sites_len;
		const uint32_t site =
		    counted ? v->sites[i].site : v->estimates[i - v->sites_len].site;
		const double bytes =
		    counted ? (double)v->sites[i].bytes : v->estimates[i - v->sites_len].bytes;
		const uint32_t path = lc_table_key(&s->t->sites, site)[LC_SITE_PATH];

		all += bytes;
		if (path && on[path])
			part += bytes;
	}
	return all > 0 ? part / all : 0;
}

struct lc_saving_part lc_saving_of_paths(const struct lc_savings *s, struct lc_weighted sum,
                                         const bool *on)
{
	const double collector =
	    s->running > 0 ? bytes_of_paths(s, on) * (double)s->gc.gc_ns / s->running : 0;

	return part_of(s, sum, 0, s->running_threads, collector);
}
