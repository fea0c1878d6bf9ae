/*
 * profile/tally.c - see tally.h. Rows are appended as they come. They are sorted and coalesced when a block
 * is made, and when an array is full: it grows only if that has not made it half empty.
 */
#include "src/profile/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/format/kinds.h"
#include "src/profile/tally_spans.h"

enum { ROWS_MIN = 64 };

/* Kinds of rows: index of lc_tally.rows and of `kinds`. */
enum kind {
	ALLOC,
	ACCESS,
	FIELD,
	METRIC,
	LINE,
	ESTIMATE,
	SPLIT,
	PLACEMENT,
	NODE,
	HOME,
	SPAN,
	TASK_MADE,
	SPAN_ACCESS,
	PAUSE,
	TRACE,
	KINDS
};

struct rows {
	void *data;
	size_t len, cap;
};

/* What is counted of an engine beside its rows. */
struct engine {
	bool used;
	uint64_t pathless[LC_BUCKET_COUNT]; /* samples that have no access of their own */
	uint64_t detail[LC_WHERE_COUNT][LC_HOW_COUNT];
};

struct lc_tally {
	struct rows rows[KINDS];
	struct engine engines[LC_TALLY_ENGINES];
	struct lc_block_bucket bucket_rows[LC_TALLY_ENGINES * LC_BUCKET_COUNT];
	struct lc_block_detail detail_rows[LC_TALLY_ENGINES * LC_WHERE_COUNT * LC_HOW_COUNT];
};

_Static_assert((int)LC_WHERE_COUNT == (int)LC_DETAIL_WHERE_COUNT,
               "format/kinds.h names each place");
_Static_assert((int)LC_HOW_COUNT == (int)LC_DETAIL_HOW_COUNT, "format/kinds.h names each way");
_Static_assert((int)LC_TALLY_ENGINES <= (int)LC_ENGINES_MAX, "a row of the manifest for each");

/* ---- orders and sums of each kind ---- */

/* Leave the function with the order of x and y where their `member` differs. */
#define ORDER(member)                                                                              \
	do {                                                                                       \
		if (x->member != y->member)                                                        \
			return x->member < y->member ? -1 : 1;                                     \
	} while (0)

/* engine, bucket, site, path: where a sample is. Five kinds of rows have these members. */
#define ORDER_PLACE()                                                                              \
	do {                                                                                       \
		ORDER(engine);                                                                     \
		ORDER(bucket);                                                                     \
		ORDER(site);                                                                       \
		ORDER(path);                                                                       \
	} while (0)

static int order_names(const char *x, const char *y)
{
	return x == y ? 0 : strcmp(x ? x : "", y ? y : "");
}

static int order_allocs(const void *a, const void *b)
{
	const struct lc_block_alloc *x = a, *y = b;

	ORDER(site);
	return 0;
}

static void add_alloc(void *to, const void *from)
{
	struct lc_block_alloc *x = to;
	const struct lc_block_alloc *y = from;

	x->count += y->count;
	x->bytes += y->bytes;
}

static int order_accesses(const void *a, const void *b)
{
	const struct lc_block_access *x = a, *y = b;

	ORDER_PLACE();
	return 0;
}

static void add_access(void *to, const void *from)
{
	((struct lc_block_access *)to)->samples += ((const struct lc_block_access *)from)->samples;
}

static int order_fields(const void *a, const void *b)
{
	const struct lc_block_field *x = a, *y = b;

	ORDER_PLACE();
	ORDER(first);
	ORDER(last);
	ORDER(access);
	return order_names(x->name, y->name);
}

static void add_field(void *to, const void *from)
{
	((struct lc_block_field *)to)->samples += ((const struct lc_block_field *)from)->samples;
}

static int order_metrics(const void *a, const void *b)
{
	const struct lc_block_metric *x = a, *y = b;

	ORDER_PLACE();
	ORDER(source);
	ORDER(flags);
	return 0;
}

static void add_metric(void *to, const void *from)
{
	struct lc_block_metric *x = to;
	const struct lc_block_metric *y = from;

	x->samples += y->samples;
	x->latency_sum += y->latency_sum;
	if (y->latency_max > x->latency_max)
		x->latency_max = y->latency_max;
}

static int order_lines(const void *a, const void *b)
{
	const struct lc_block_line *x = a, *y = b;

	ORDER(line);
	ORDER_PLACE();
	ORDER(byte);
	ORDER(bytes);
	ORDER(access);
	ORDER(first);
	return order_names(x->name, y->name);
}

static void add_line(void *to, const void *from)
{
	struct lc_block_line *x = to;
	const struct lc_block_line *y = from;

	x->samples += y->samples;
	x->hitm += y->hitm;
}

static int order_estimates(const void *a, const void *b)
{
	const struct lc_block_estimate *x = a, *y = b;

	ORDER(site);
	return 0;
}

static void add_estimate(void *to, const void *from)
{
	struct lc_block_estimate *x = to;
	const struct lc_block_estimate *y = from;

	x->sampled += y->sampled;
	x->objects_milli += y->objects_milli;
	x->objects_variance_milli += y->objects_variance_milli;
	x->bytes += y->bytes;
	x->bytes_variance_mib += y->bytes_variance_mib;
	for (unsigned i = 0; i < LC_LIVE_COLUMNS; i++)
		x->live_milli[i] += y->live_milli[i];
}

static int order_splits(const void *a, const void *b)
{
	const struct lc_block_split *x = a, *y = b;

	ORDER(engine);
	ORDER(method);
	ORDER(class_site);
	ORDER(site);
	return 0;
}

static void add_split(void *to, const void *from)
{
	struct lc_block_split *x = to;
	const struct lc_block_split *y = from;

	x->samples_milli += y->samples_milli;
	x->variance_milli += y->variance_milli;
}

static int order_placements(const void *a, const void *b)
{
	const struct lc_block_placement *x = a, *y = b;

	ORDER_PLACE();
	ORDER(accessing);
	ORDER(owning);
	ORDER(source);
	return 0;
}

static void add_placement(void *to, const void *from)
{
	((struct lc_block_placement *)to)->samples +=
	    ((const struct lc_block_placement *)from)->samples;
}

static int order_nodes(const void *a, const void *b)
{
	const struct lc_block_node *x = a, *y = b;

	ORDER(engine);
	ORDER(node);
	return 0;
}

static void add_node(void *to, const void *from)
{
	struct lc_block_node *x = to;
	const struct lc_block_node *y = from;

	x->samples += y->samples;
	x->migrations += y->migrations;
}

static int order_homes(const void *a, const void *b)
{
	const struct lc_block_home *x = a, *y = b;

	ORDER(site);
	ORDER(node);
	return 0;
}

static void add_home(void *to, const void *from)
{
	struct lc_block_home *x = to;
	const struct lc_block_home *y = from;

	x->objects += y->objects;
	x->bytes += y->bytes;
}

static const struct {
	size_t bytes; /* of a row */
	/* 0: they differ in their counts alone; NULL: each row is one of its own */
	int (*order)(const void *a, const void *b);
	void (*add)(void *to, const void *from); /* counts of two such rows */
} kinds[KINDS] = {
	[ALLOC] = { sizeof(struct lc_block_alloc), order_allocs, add_alloc },
	[ACCESS] = { sizeof(struct lc_block_access), order_accesses, add_access },
	[FIELD] = { sizeof(struct lc_block_field), order_fields, add_field },
	[METRIC] = { sizeof(struct lc_block_metric), order_metrics, add_metric },
	[LINE] = { sizeof(struct lc_block_line), order_lines, add_line },
	[ESTIMATE] = { sizeof(struct lc_block_estimate), order_estimates, add_estimate },
	[SPLIT] = { sizeof(struct lc_block_split), order_splits, add_split },
	[PLACEMENT] = { sizeof(struct lc_block_placement), order_placements, add_placement },
	[NODE] = { sizeof(struct lc_block_node), order_nodes, add_node },
	[HOME] = { sizeof(struct lc_block_home), order_homes, add_home },
	[SPAN] = { sizeof(struct lc_block_span), lc_tally_order_spans, lc_tally_add_span },
	[TASK_MADE] = { sizeof(struct lc_block_task_made), lc_tally_order_tasks_made,
	                lc_tally_add_task_made },
	[SPAN_ACCESS] = { sizeof(struct lc_block_span_access), lc_tally_order_span_accesses,
	                  lc_tally_add_span_access },
	[PAUSE] = { sizeof(struct lc_block_pause), lc_tally_order_pauses, lc_tally_add_pause },
	[TRACE] = { sizeof(struct lc_block_trace), NULL, NULL },
};

/* ---- arrays of rows ---- */

static void coalesce(struct rows *r, enum kind kind)
{
	size_t bytes = kinds[kind].bytes, kept = 0;
	char *data = r->data;

	if (r->len < 2 || !kinds[kind].order)
		return;
	qsort(data, r->len, bytes, kinds[kind].order);
	for (size_t i = 1; i < r->len; i++) {
		if (!kinds[kind].order(data + kept * bytes, data + i * bytes))
			kinds[kind].add(data + kept * bytes, data + i * bytes);
		else if (++kept != i)
			memcpy(data + kept * bytes, data + i * bytes, bytes);
	}
	r->len = kept + 1;
}

static int append(struct lc_tally *t, enum kind kind, const void *row)
{
	struct rows *r = &t->rows[kind];
	size_t bytes = kinds[kind].bytes;

	if (r->len == r->cap) {
		coalesce(r, kind);
		if (r->len * 2 >= r->cap) {
			size_t bigger = r->cap ? r->cap * 2 : ROWS_MIN;
			void *grown = realloc(r->data, bigger * bytes);

			if (grown) {
				r->data = grown;
				r->cap = bigger;
			}
		}
		if (r->len == r->cap)
			return -ENOMEM;
	}
	memcpy((char *)r->data + r->len++ * bytes, row, bytes);
	return 0;
}

struct lc_tally *lc_tally_create(void)
{
	return calloc(1, sizeof(struct lc_tally));
}

void lc_tally_destroy(struct lc_tally *t)
{
	if (!t)
		return;
	for (unsigned k = 0; k < KINDS; k++)
		free(t->rows[k].data);
	free(t);
}

/* ---- counting ---- */

int lc_tally_sample(struct lc_tally *t, uint16_t engine, enum lc_bucket bucket, uint32_t site,
                    uint32_t path, enum lc_where where, enum lc_how how, uint64_t samples)
{
	const struct lc_block_access row = { engine, (uint8_t)bucket, site, path, samples };
	int err;

	if (engine >= LC_TALLY_ENGINES)
		return -EINVAL;
	t->engines[engine].used = true;
	t->engines[engine].detail[where][how] += samples;
	err = append(t, ACCESS, &row);
	if (err)
		t->engines[engine].pathless[bucket] += samples;
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
	return append(t, ALLOC, &(struct lc_block_alloc){ site, count, bytes });
}

int lc_tally_field(struct lc_tally *t, const struct lc_block_field *row)
{
	struct lc_block_field r = *row;

	r.access &= LC_TOUCH_END - 1;
	if (r.engine >= LC_TALLY_ENGINES || r.bucket >= LC_BUCKET_COUNT || r.last < r.first)
		return -EINVAL;
	return append(t, FIELD, &r);
}

int lc_tally_metric(struct lc_tally *t, const struct lc_block_metric *row)
{
	if (row->engine >= LC_TALLY_ENGINES || row->bucket >= LC_BUCKET_COUNT ||
	    row->source >= LC_SOURCE_COUNT || row->flags >= LC_METRIC_FLAGS_END)
		return -EINVAL;
	return append(t, METRIC, row);
}

int lc_tally_line(struct lc_tally *t, const struct lc_block_line *row)
{
	struct lc_block_line r = *row;

	r.access &= LC_TOUCH_END - 1;
	if (r.engine >= LC_TALLY_ENGINES || r.bucket >= LC_BUCKET_COUNT ||
	    r.byte >= LC_LINE_BYTES_MAX || r.hitm > r.samples)
		return -EINVAL;
	return append(t, LINE, &r);
}

int lc_tally_estimate(struct lc_tally *t, const struct lc_block_estimate *row)
{
	return append(t, ESTIMATE, row);
}

int lc_tally_split(struct lc_tally *t, const struct lc_block_split *row)
{
	if (row->engine >= LC_TALLY_ENGINES || row->method >= LC_SPLIT_COUNT)
		return -EINVAL;
	return append(t, SPLIT, row);
}

int lc_tally_placement(struct lc_tally *t, const struct lc_block_placement *row)
{
	if (row->engine >= LC_TALLY_ENGINES || row->bucket >= LC_BUCKET_COUNT ||
	    row->accessing >= LC_NODE_END || row->owning >= LC_NODE_END ||
	    row->source >= LC_SOURCE_COUNT)
		return -EINVAL;
	return append(t, PLACEMENT, row);
}

int lc_tally_node(struct lc_tally *t, const struct lc_block_node *row)
{
	if (row->engine >= LC_TALLY_ENGINES || row->node >= LC_NODE_END ||
	    row->migrations > row->samples)
		return -EINVAL;
	return append(t, NODE, row);
}

int lc_tally_home(struct lc_tally *t, const struct lc_block_home *row)
{
	if (row->node >= LC_NODE_END)
		return -EINVAL;
	return append(t, HOME, row);
}

int lc_tally_span(struct lc_tally *t, const struct lc_block_span *row)
{
	struct lc_block_span r = *row;

	if (r.kind >= LC_SPAN_KINDS || r.submit_kind >= LC_SUBMIT_KINDS)
		return -EINVAL;
	if (!r.first_ns || r.last_ns < r.first_ns)
		r.last_ns = r.first_ns;
	return append(t, SPAN, &r);
}

int lc_tally_task_made(struct lc_tally *t, const struct lc_block_task_made *row)
{
	if (row->submit_kind >= LC_SUBMIT_KINDS && row->submit_kind != LC_SUBMIT_FIRST)
		return -EINVAL;
	return append(t, TASK_MADE, row);
}

int lc_tally_span_access(struct lc_tally *t, const struct lc_block_span_access *row)
{
	if (row->kind >= LC_SPAN_KINDS || row->engine >= LC_TALLY_ENGINES ||
	    row->bucket >= LC_BUCKET_COUNT)
		return -EINVAL;
	return append(t, SPAN_ACCESS, row);
}

int lc_tally_pause(struct lc_tally *t, const struct lc_block_pause *row)
{
	if (row->start_ns > UINT64_MAX - row->duration_ns)
		return -EINVAL;
	return append(t, PAUSE, row);
}

int lc_tally_trace(struct lc_tally *t, const struct lc_block_trace *row)
{
	if (row->kind >= LC_SPAN_KINDS || row->submit_kind >= LC_SUBMIT_KINDS ||
	    row->flags >= LC_TRACE_FLAGS_END || row->start_ns > UINT64_MAX - row->duration_ns)
		return -EINVAL;
	return append(t, TRACE, row);
}

size_t lc_tally_traces(const struct lc_tally *t)
{
	return t->rows[TRACE].len;
}

/* ---- blocks ---- */

/* Samples of each bucket and engine: those with an access, and those without. */
static size_t make_buckets(struct lc_tally *t)
{
	const struct lc_block_access *accesses = t->rows[ACCESS].data;
	uint64_t sums[LC_TALLY_ENGINES][LC_BUCKET_COUNT] = { { 0 } };
	size_t rows = 0;

	for (size_t i = 0; i < t->rows[ACCESS].len; i++)
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

bool lc_tally_block(struct lc_tally *t, struct lc_block_input *in)
{
	for (unsigned k = 0; k < KINDS; k++)
		coalesce(&t->rows[k], k);
	in->buckets = t->bucket_rows;
	in->buckets_len = make_buckets(t);
	in->details = t->detail_rows;
	in->details_len = make_details(t);
	in->allocs = t->rows[ALLOC].data;
	in->allocs_len = t->rows[ALLOC].len;
	in->accesses = t->rows[ACCESS].data;
	in->accesses_len = t->rows[ACCESS].len;
	in->fields = t->rows[FIELD].data;
	in->fields_len = t->rows[FIELD].len;
	in->metrics = t->rows[METRIC].data;
	in->metrics_len = t->rows[METRIC].len;
	in->lines = t->rows[LINE].data;
	in->lines_len = t->rows[LINE].len;
	in->estimates = t->rows[ESTIMATE].data;
	in->estimates_len = t->rows[ESTIMATE].len;
	in->splits = t->rows[SPLIT].data;
	in->splits_len = t->rows[SPLIT].len;
	in->placements = t->rows[PLACEMENT].data;
	in->placements_len = t->rows[PLACEMENT].len;
	in->nodes = t->rows[NODE].data;
	in->nodes_len = t->rows[NODE].len;
	in->homes = t->rows[HOME].data;
	in->homes_len = t->rows[HOME].len;
	in->spans = t->rows[SPAN].data;
	in->spans_len = t->rows[SPAN].len;
	in->tasks_made = t->rows[TASK_MADE].data;
	in->tasks_made_len = t->rows[TASK_MADE].len;
	in->span_accesses = t->rows[SPAN_ACCESS].data;
	in->span_accesses_len = t->rows[SPAN_ACCESS].len;
	in->pauses = t->rows[PAUSE].data;
	in->pauses_len = t->rows[PAUSE].len;
	in->trace = t->rows[TRACE].data;
	in->trace_len = t->rows[TRACE].len;
	return in->buckets_len || in->allocs_len || in->accesses_len || in->fields_len ||
	       in->metrics_len || in->lines_len || in->estimates_len || in->splits_len ||
	       in->placements_len || in->nodes_len || in->homes_len || in->spans_len ||
	       in->tasks_made_len || in->span_accesses_len || in->pauses_len || in->trace_len;
}

void lc_tally_clear(struct lc_tally *t)
{
	for (unsigned k = 0; k < KINDS; k++)
		t->rows[k].len = 0;
	for (unsigned e = 0; e < LC_TALLY_ENGINES; e++)
		if (t->engines[e].used)
			memset(&t->engines[e], 0, sizeof(t->engines[e]));
}
