/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile/tally.c - keeps rows until a block is made. They are appended as they come; they are
 * sorted, and those with equal keys added up, when a block is made, and when an array is full: it
 * grows only if that has not made it half empty.
 */
#include "src/profile/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/sum.h"
#include "src/format/section.h"

enum { ROWS_MIN = 64, ROWS_KEPT = 256 /* a tally that is empty keeps room for so many */ };

struct rows {
	void *data;
	size_t len, cap;
};

/* Counts of an engine beside its rows. */
struct engine {
	bool used;
	uint64_t pathless[LC_BUCKET_COUNT]; /* samples that have no access of their own */
	uint64_t detail[LC_WHERE_COUNT][LC_HOW_COUNT];
};

struct lc_tally {
	struct rows rows[LC_SECTION_COUNT]; /* none of BUCKETS, DETAILS and TIMELINE */
	struct engine engines[LC_TALLY_ENGINES];
	struct lc_block_bucket bucket_rows[LC_TALLY_ENGINES * LC_BUCKET_COUNT];
	struct lc_block_detail detail_rows[LC_TALLY_ENGINES * LC_WHERE_COUNT * LC_HOW_COUNT];
};

_Static_assert((int)LC_TALLY_ENGINES <= (int)LC_ENGINES_MAX, "a row of the manifest for each");

/* ---- rows of spans, which are not flat ---- */

/* Leave the function with the order of x and y where their `member` differs. */
#define ORDER(member)                                                                              \
	do {                                                                                       \
		if (x->member != y->member)                                                        \
			return x->member < y->member ? -1 : 1;                                     \
	} while (0)

static int order_spans(const void *a, const void *b)
{
	const struct lc_block_span *x = a, *y = b;

	ORDER(kind);
	ORDER(level);
	ORDER(submit_kind);
	ORDER(site);
	ORDER(submit_path);
	ORDER(path);
	return 0;
}

static void add_span(void *to, const void *from)
{
	struct lc_block_span *x = to;
	const struct lc_block_span *y = from;

	x->executions += y->executions;
	x->folded += y->folded;
	x->cycles += y->cycles;
	x->compensated += y->compensated;
	x->negative += y->negative;
	x->switches += y->switches;
	x->gc_count += y->gc_count;
	x->gc_ns += y->gc_ns;
	x->wait_ns += y->wait_ns;
	x->waits += y->waits;
	x->wall_ns += y->wall_ns;
	for (unsigned i = 0; i < LC_SPAN_NESTED; i++)
		x->nested[i] += y->nested[i];
	for (unsigned i = 0; i < LC_SPAN_BUCKETS; i++)
		x->histogram[i] += y->histogram[i];
	if (!y->first_ns)
		return; /* it is not known when */
	if (!x->first_ns || y->first_ns < x->first_ns)
		x->first_ns = y->first_ns;
	if (y->last_ns > x->last_ns)
		x->last_ns = y->last_ns;
}

/* ---- arrays of rows ---- */

/* How rows of a section are kept. */
struct kind {
	size_t bytes; /* of a row */
	/* 0: they differ in their values alone; NULL: each row is one of its own */
	int (*order)(const void *a, const void *b);
	void (*add)(void *to, const void *from);
};

static struct kind kind_of(enum lc_section section)
{
	const struct lc_section_spec *spec = lc_section_spec(section);

	if (spec)
		return (struct kind){ spec->row_bytes, spec->order, spec->add };
	if (section == LC_SECTION_SPANS)
		return (struct kind){ sizeof(struct lc_block_span), order_spans, add_span };
	return (struct kind){ sizeof(struct lc_block_trace), NULL, NULL };
}

static void coalesce(struct rows *r, const struct kind *kind)
{
	size_t bytes = kind->bytes, kept = 0;
	char *data = r->data;

	if (r->len < 2 || !kind->order)
		return;
	qsort(data, r->len, bytes, kind->order);
	for (size_t i = 1; i < r->len; i++) {
		if (!kind->order(data + kept * bytes, data + i * bytes))
			kind->add(data + kept * bytes, data + i * bytes);
		else if (++kept != i)
			memcpy(data + kept * bytes, data + i * bytes, bytes);
	}
	r->len = kept + 1;
}

static int append(struct lc_tally *t, enum lc_section section, const void *row)
{
	const struct kind kind = kind_of(section);
	struct rows *r = &t->rows[section];

	if (r->len == r->cap) {
		coalesce(r, &kind);
		if (r->len * 2 >= r->cap) {
			size_t bigger = r->cap ? r->cap * 2 : ROWS_MIN;
			void *grown = realloc(r->data, bigger * kind.bytes);

			if (grown) {
				r->data = grown;
				r->cap = bigger;
			}
		}
		if (r->len == r->cap)
			return -ENOMEM;
	}
	memcpy((char *)r->data + r->len++ * kind.bytes, row, kind.bytes);
	return 0;
}

/* Append a row of a flat section, if its numbers are such as docs/FORMAT.md allows. */
static int append_valid(struct lc_tally *t, enum lc_section section, const void *row)
{
	if (!lc_section_spec(section)->valid(row, LC_TALLY_ENGINES))
		return -EINVAL;
	return append(t, section, row);
}

struct lc_tally *lc_tally_create(void)
{
	return calloc(1, sizeof(struct lc_tally));
}

void lc_tally_destroy(struct lc_tally *t)
{
	if (!t)
		return;
	for (unsigned s = 0; s < LC_SECTION_COUNT; s++)
		free(t->rows[s].data);
	free(t);
}

/* ---- counting ---- */

int lc_tally_sample(struct lc_tally *t, const struct lc_block_access *row, enum lc_where where,
                    enum lc_how how)
{
	const struct lc_block_weight weight = { row->engine, row->samples, 1 };
	int err;

	if (row->engine >= LC_TALLY_ENGINES)
		return -EINVAL;
	t->engines[row->engine].used = true;
	t->engines[row->engine].detail[where][how] += row->samples;
	(void)append(t, LC_SECTION_WEIGHTS, &weight); /* without memory it is not known */
	err = append(t, LC_SECTION_ACCESSES, row);
	if (err)
		t->engines[row->engine].pathless[row->bucket] += row->samples;
	return err;
}

void lc_tally_lost(struct lc_tally *t, uint16_t engine, uint64_t samples)
{
	if (engine >= LC_TALLY_ENGINES)
		return;
	t->engines[engine].used = true;
	t->engines[engine].pathless[LC_BUCKET_LOST] += samples;
}

int lc_tally_allocations(struct lc_tally *t, uint32_t site, uint64_t count, uint64_t bytes)
{
	return append(t, LC_SECTION_ALLOCATIONS, &(struct lc_block_alloc){ site, count, bytes });
}

int lc_tally_spread(struct lc_tally *t, uint32_t site, uint64_t count)
{
	return append(t, LC_SECTION_SPREADS, &(struct lc_block_spread){ site, count });
}

int lc_tally_field(struct lc_tally *t, const struct lc_block_field *row)
{
	struct lc_block_field r = *row;

	r.access &= LC_TOUCH_END - 1;
	return append_valid(t, LC_SECTION_FIELDS, &r);
}

int lc_tally_line(struct lc_tally *t, const struct lc_block_line *row)
{
	struct lc_block_line r = *row;

	r.access &= LC_TOUCH_END - 1;
	return append_valid(t, LC_SECTION_LINES, &r);
}

/* Functions that append a row as it is. */
#define APPENDS(noun, section)                                                                     \
	int lc_tally_##noun(struct lc_tally *t, const struct lc_block_##noun *row)                 \
	{                                                                                          \
		return append_valid(t, LC_SECTION_##section, row);                                 \
	}
APPENDS(step, STEPS)
APPENDS(wait, WAITS)
APPENDS(reach, REACHES)
APPENDS(metric, METRICS)
APPENDS(estimate, ESTIMATES)
APPENDS(split, SPLITS)
APPENDS(copy, COPIES)
APPENDS(offheap, OFFHEAP)
APPENDS(offheap_before, OFFHEAP_BEFORE)
APPENDS(live, LIVE)
APPENDS(content, CONTENTS)
APPENDS(age, AGES)
APPENDS(holder, HOLDERS)
APPENDS(held, HELD)
APPENDS(placement, PLACEMENTS)
APPENDS(node, NODES)
APPENDS(home, HOMES)
APPENDS(task_made, TASKS)
APPENDS(span_access, SPAN_ACCESSES)
APPENDS(pause, PAUSES)
APPENDS(look, LOOKS)
APPENDS(running, RUNNING)
APPENDS(nested, NESTED)
APPENDS(running_nested, RUNNING_NESTED)
APPENDS(recursion, RECURSIONS)
APPENDS(cache_line, CACHE_LINES)
APPENDS(layout, LAYOUTS)
APPENDS(site_name, SITE_NAMES)
#undef APPENDS

int lc_tally_span(struct lc_tally *t, const struct lc_block_span *row)
{
	struct lc_block_span r = *row;

	if (r.kind >= LC_SPAN_KINDS || r.submit_kind >= LC_SUBMIT_KINDS)
		return -EINVAL;
	if (!r.first_ns || r.last_ns < r.first_ns)
		r.last_ns = r.first_ns;
	return append(t, LC_SECTION_SPANS, &r);
}

int lc_tally_trace(struct lc_tally *t, const struct lc_block_trace *row)
{
	if (row->kind >= LC_SPAN_KINDS || row->submit_kind >= LC_SUBMIT_KINDS ||
	    row->flags >= LC_TRACE_FLAGS_END || row->start_ns > UINT64_MAX - row->duration_ns)
		return -EINVAL;
	return append(t, LC_SECTION_TRACE, row);
}

size_t lc_tally_traces(const struct lc_tally *t)
{
	return t->rows[LC_SECTION_TRACE].len;
}

/* ---- blocks ---- */

/* Samples of each bucket and engine: those with an access, and those without. */
static size_t make_buckets(struct lc_tally *t)
{
	const struct lc_block_access *accesses = t->rows[LC_SECTION_ACCESSES].data;
	uint64_t sums[LC_TALLY_ENGINES][LC_BUCKET_COUNT] = { { 0 } };
	size_t rows = 0;

	for (size_t i = 0; i < t->rows[LC_SECTION_ACCESSES].len; i++)
		sums[accesses[i].engine][accesses[i].bucket] += accesses[i].samples;
	for (uint16_t e = 0; e < LC_TALLY_ENGINES; e++) {
		for (uint8_t b = 0; b < LC_BUCKET_COUNT; b++) {
			uint64_t samples = sums[e][b] + t->engines[e].pathless[b];

			if (samples)
				t->bucket_rows[rows++] = (struct lc_block_bucket){ e, b, samples };
		}
	}
	return rows;
}

static size_t make_details(struct lc_tally *t)
{
	size_t rows = 0;

	for (uint16_t e = 0; e < LC_TALLY_ENGINES; e++) {
		for (uint8_t w = 0; w < LC_WHERE_COUNT && t->engines[e].used; w++)
			for (uint8_t h = 0; h < LC_HOW_COUNT; h++)
				if (t->engines[e].detail[w][h])
					t->detail_rows[rows++] =
					    (struct lc_block_detail){ e, w, h,
						                      t->engines[e].detail[w][h] };
	}
	return rows;
}

/* Point a list of *in at the rows. */
static void give(const struct rows *r, const struct lc_section_spec *spec,
                 struct lc_block_input *in)
{
	memcpy((char *)in + spec->list, &r->data, sizeof(r->data));
	memcpy((char *)in + spec->list_len, &r->len, sizeof(r->len));
}

bool lc_tally_block(struct lc_tally *t, struct lc_block_input *in)
{
	bool any = false;

	for (unsigned s = 0; s < LC_SECTION_COUNT; s++) {
		const struct kind kind = kind_of(s);

		coalesce(&t->rows[s], &kind);
		if (lc_section_spec(s))
			give(&t->rows[s], lc_section_spec(s), in);
		any |= t->rows[s].len != 0;
	}
	in->spans = t->rows[LC_SECTION_SPANS].data;
	in->spans_len = t->rows[LC_SECTION_SPANS].len;
	in->trace = t->rows[LC_SECTION_TRACE].data;
	in->trace_len = t->rows[LC_SECTION_TRACE].len;
	in->buckets = t->bucket_rows;
	in->buckets_len = make_buckets(t);
	in->details = t->detail_rows;
	in->details_len = make_details(t);
	return any || in->buckets_len;
}

void lc_tally_clear(struct lc_tally *t)
{
	for (unsigned s = 0; s < LC_SECTION_COUNT; s++) {
		struct rows *r = &t->rows[s];

		r->len = 0;
		if (r->cap <= ROWS_KEPT)
			continue;
		free(r->data);
		*r = (struct rows){ 0 };
	}
	for (unsigned e = 0; e < LC_TALLY_ENGINES; e++)
		if (t->engines[e].used)
			memset(&t->engines[e], 0, sizeof(t->engines[e]));
}
