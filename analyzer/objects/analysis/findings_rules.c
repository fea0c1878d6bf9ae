/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/findings_rules.c - decides which rows cost time because they wait for memory.
 *
 * A sample is charged to the nearest access. An interrupt that comes while the CPU computes also
 * has an access nearby, so samples alone do not prove a wait.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/findings_impl.h"
#include "analyzer/objects/analysis/sharing.h"
#include "src/base/order.h"
#include "src/format/kinds.h"

/* ---- samples that waited for something else ---- */

/* `samples` of the row's samples, with the row's mean weight per interrupt. */
static struct lc_weighted among(const struct lc_rank_row *row, uint64_t samples)
{
	const double each = lc_share(row->pairs, row->samples);

	return (struct lc_weighted){ samples, (uint64_t)(each * (double)samples) };
}

/* Use the lower end of the interval: a few samples may be elsewhere by chance. */
bool lc_finding_waits_elsewhere(const struct lc_rank_row *row, const struct lc_touch *touch)
{
	double low, high;

	lc_rank_interval(among(row, touch->elsewhere), among(row, touch->waits), &low, &high);
	return low > LC_FINDING_ELSEWHERE_MAX;
}

/* ---- rows that fit the first cache ---- */

/*
 * Do the counted allocations include those of all sampled objects? Not in a part of a recording: an
 * array may be older than the part.
 */
static bool all_allocations(const struct lc_load *l)
{
	if (l->filter || l->frames || lc_load_range_on(l->range))
		return false;
	for (size_t i = 0; i < l->processes_len; i++) {
		const struct lc_load_process *p = &l->processes[i];
		const char *loop = json_string_value(json_object_get(p->options, "loop"));

		if (p->shown_end_ns || p->periods || (loop && strcmp(loop, "none")))
			return false;
	}
	return true;
}

static bool is_part(const struct lc_rank_row *row, uint32_t bucket, uint32_t site)
{
	for (size_t i = 0; i < row->parts_len; i++)
		if (row->parts[i].bucket == bucket && row->parts[i].site == site)
			return true;
	return false;
}

/*
 * Does a thread write to lines of the row's objects that threads on other CPUs touch? An access of
 * unknown kind may be a store.
 */
static bool written_by_several(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	const struct lc_table *lines = &s->t->lines;

	for (uint32_t i = 0; i < lines->count; i++) {
		const uint32_t *key = lc_table_key(lines, i);

		if (key[LC_LINE_ENGINE] == s->v->engine && key[LC_LINE_TOUCH] != LC_TOUCH_LOAD &&
		    !lc_sharing_one_cpu(s->v, i) &&
		    is_part(row, key[LC_LINE_BUCKET], key[LC_LINE_SITE]))
			return true;
	}
	return false;
}

/*
 * Does each thread mostly access one small object? If more than half of the samples repeat the
 * object of the sample before, one object has at least half of the samples: the largest of the
 * objects' shares is no smaller than the sum of their squares. So that object stays in the cache.
 */
static bool at_one_object(const struct lc_finding_search *s, const struct lc_rank_row *row,
                          const struct lc_touch *touch)
{
	double low, high;

	lc_rank_interval(among(row, touch->same_object), among(row, touch->waits), &low, &high);
	return low > LC_FINDING_SAME_OBJECT_MIN && !written_by_several(s, row);
}

/*
 * Are all objects that the row's line ever allocated, and so the live ones, no larger than the
 * cache? Objects that are not tracked are estimated, and may be more.
 */
static bool fits_first_cache(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	const uint64_t bytes = row->bytes + row->offheap.allocated_bytes;

	if (!bytes || bytes > LC_FINDING_CACHE_BYTES || row->estimated ||
	    !all_allocations(s->v->load))
		return false;
	for (size_t i = 0; i < row->parts_len; i++)
		if (row->parts[i].bucket != LC_BUCKET_OBJECT)
			return false;
	return !written_by_several(s, row);
}

bool lc_finding_costs_time(const struct lc_finding_search *s, const struct lc_rank_row *row,
                           const struct lc_touch *touch)
{
	return (!lc_finding_waits_elsewhere(row, touch) || lc_finding_dies_young(s, row)) &&
	       !fits_first_cache(s, row) && !at_one_object(s, row, touch);
}

/* ---- objects that are made again and again ---- */

/* Objects that are counted, or sampled, of which the program makes one after the other. */
enum { AGAIN_MIN = 1000, AGAIN_SAMPLED_MIN = 20 };

/* Objects of a collection that could not be followed are forgotten, but may be alive. */
bool lc_finding_few_stay(const struct lc_finding_search *s, const struct lc_rank_row *row,
                         unsigned column, double most)
{
	const bool counted = row->allocations >= AGAIN_MIN,
	           sampled = row->sampled >= AGAIN_SAMPLED_MIN;
	uint64_t collected;

	if (!counted && !sampled)
		return false;
	if (counted && (double)row->copies.outlived_bytes > most * (double)row->bytes)
		return false;
	if (sampled && row->live[column] > most * row->objects.value)
		return false;
	collected = lc_load_counter(s->v->load, "gc_collected");
	return collected >= LC_FINDING_COLLECTIONS_MIN &&
	       (double)lc_load_counter(s->v->load, "gc_incomplete") <=
	           LC_FINDING_INCOMPLETE_MAX * (double)collected;
}

bool lc_finding_dies_young(const struct lc_finding_search *s, const struct lc_rank_row *row)
{
	return row->path && lc_finding_few_stay(s, row, 0, LC_FINDING_OUTLIVED_MAX);
}

/* ---- objects that are fetched for the header alone ---- */

bool lc_finding_header_alone(const struct lc_touch *touch)
{
	return touch->kind == LC_TOUCH_HEADER && touch->reads_on <= touch->header &&
	       lc_touch_nearly_all(touch->header - touch->reads_on, touch->known);
}

/* Samples in headers whose object is read on, by class. The caller frees the array. */
static uint64_t *read_on_by_class(const struct lc_finding_search *s)
{
	const struct lc_table *waits = &s->t->waits;
	uint64_t *samples = lc_mem_zeroed(s->t->strings.count, sizeof(*samples));

	for (uint32_t i = 0; i < waits->count; i++) {
		const uint32_t *key = lc_table_key(waits, i);

		if (key[LC_WAIT_ENGINE] == s->v->engine && (key[LC_WAIT_FLAGS] & LC_WAIT_READS_ON))
			samples[lc_table_key(&s->t->sites, key[LC_WAIT_SITE])[LC_SITE_CLASS]] +=
			    *lc_table_values(waits, i);
	}
	return samples;
}

static int order_classes(const void *a, const void *b, void *context)
{
	const struct lc_touch_class *x = a, *y = b;
	int order = lc_order_u64(y->samples, x->samples);

	return order ? order : lc_tree_order_text(context, x->class, y->class);
}

struct lc_touch_class *lc_finding_headers_alone(const struct lc_finding_search *s, size_t *len,
                                                struct lc_weighted *header)
{
	struct lc_touch_class *classes = lc_touch_headers(s->v, len);
	uint64_t *read_on = read_on_by_class(s);
	size_t kept = 0;

	*header = (struct lc_weighted){ 0 };
	for (size_t i = 0; i < *len; i++) {
		const uint64_t on = read_on[classes[i].class];

		if (on >= classes[i].samples)
			continue;
		classes[kept] = classes[i];
		classes[kept].samples -= on;
		classes[kept].pairs =
		    (uint64_t)((double)classes[i].pairs *
		               lc_share(classes[kept].samples, classes[i].samples));
		header->samples += classes[kept].samples;
		header->pairs += classes[kept++].pairs;
	}
	free(read_on);
	*len = kept;
	qsort_r(classes, kept, sizeof(*classes), order_classes, (void *)(uintptr_t)s->t);
	return classes;
}
