/*
 * profile/profile_block.c - encodes the sections of a block and compresses them.
 *
 * All counts go through one table: for each kind of row, where the input holds them, whether a row
 * can be written, and how. A block that has become large is closed and another begun.
 */
#include "src/profile/profile_block.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "src/format/block.h"
#include "src/format/kinds.h"
#include "src/profile/profile_block_impl.h"
#include "src/profile/writer.h"

enum {
	ZSTD_LEVEL = 1,
	SPLIT_BYTES = 16 << 20, /* payload at which a block is closed and another begun */
};

void lc_block_put_place(struct lc_block_encoder *e, enum lc_section section, uint16_t engine,
                        uint8_t bucket, uint32_t site, uint32_t path)
{
	lc_block_put(e, section, engine);
	lc_block_put(e, section, bucket);
	lc_block_put(e, section, lc_names_site(e->names, site));
	lc_block_put(e, section, lc_names_path(e->names, path));
}

/* ---- rows ---- */

static void put_alloc(struct lc_block_encoder *e, const void *row)
{
	const struct lc_block_alloc *a = row;
	uint32_t site = lc_names_site(e->names, a->site);

	if (!site)
		return;
	lc_block_put(e, LC_SECTION_ALLOCATIONS, site);
	lc_block_put(e, LC_SECTION_ALLOCATIONS, a->count);
	lc_block_put(e, LC_SECTION_ALLOCATIONS, a->bytes);
	e->out.rows[LC_SECTION_ALLOCATIONS]++;
}

static bool access_is_valid(const void *row)
{
	const struct lc_block_access *a = row;

	return a->engine < LC_ENGINES_MAX && a->bucket < LC_BUCKET_COUNT;
}

static void put_access(struct lc_block_encoder *e, const void *row)
{
	const struct lc_block_access *a = row;

	lc_block_put_place(e, LC_SECTION_ACCESSES, a->engine, a->bucket, a->site, a->path);
	lc_block_put(e, LC_SECTION_ACCESSES, a->samples);
	e->out.rows[LC_SECTION_ACCESSES]++;
	e->here[a->engine][a->bucket] += a->samples;
}

static bool field_is_valid(const void *row)
{
	const struct lc_block_field *f = row;

	return f->engine < LC_ENGINES_MAX && f->bucket < LC_BUCKET_COUNT && f->first <= f->last &&
	       f->access < LC_TOUCH_END;
}

static void put_field(struct lc_block_encoder *e, const void *row)
{
	const struct lc_block_field *f = row;

	lc_block_put_place(e, LC_SECTION_FIELDS, f->engine, f->bucket, f->site, f->path);
	lc_block_put(e, LC_SECTION_FIELDS, lc_names_string(e->names, f->name));
	lc_block_put(e, LC_SECTION_FIELDS, f->first);
	lc_block_put(e, LC_SECTION_FIELDS, f->last);
	lc_block_put(e, LC_SECTION_FIELDS, f->access);
	lc_block_put(e, LC_SECTION_FIELDS, f->samples);
	e->out.rows[LC_SECTION_FIELDS]++;
}

static bool metric_is_valid(const void *row)
{
	const struct lc_block_metric *m = row;

	return m->engine < LC_ENGINES_MAX && m->bucket < LC_BUCKET_COUNT &&
	       m->source < LC_SOURCE_COUNT && m->flags < LC_METRIC_FLAGS_END;
}

static void put_metric(struct lc_block_encoder *e, const void *row)
{
	const struct lc_block_metric *m = row;

	lc_block_put_place(e, LC_SECTION_METRICS, m->engine, m->bucket, m->site, m->path);
	lc_block_put(e, LC_SECTION_METRICS, m->source);
	lc_block_put(e, LC_SECTION_METRICS, m->flags);
	lc_block_put(e, LC_SECTION_METRICS, m->samples);
	lc_block_put(e, LC_SECTION_METRICS, m->latency_sum);
	lc_block_put(e, LC_SECTION_METRICS, m->latency_max);
	e->out.rows[LC_SECTION_METRICS]++;
}

static bool line_is_valid(const void *row)
{
	const struct lc_block_line *l = row;

	return l->engine < LC_ENGINES_MAX && l->bucket < LC_BUCKET_COUNT &&
	       l->byte < LC_LINE_BYTES_MAX && l->access < LC_TOUCH_END && l->hitm <= l->samples;
}

static void put_line(struct lc_block_encoder *e, const void *row)
{
	const struct lc_block_line *l = row;

	lc_block_put(e, LC_SECTION_LINES, l->line);
	lc_block_put_place(e, LC_SECTION_LINES, l->engine, l->bucket, l->site, l->path);
	lc_block_put(e, LC_SECTION_LINES, l->byte);
	lc_block_put(e, LC_SECTION_LINES, l->bytes);
	lc_block_put(e, LC_SECTION_LINES, l->access);
	lc_block_put(e, LC_SECTION_LINES, lc_names_string(e->names, l->name));
	lc_block_put(e, LC_SECTION_LINES, l->first);
	lc_block_put(e, LC_SECTION_LINES, l->samples);
	lc_block_put(e, LC_SECTION_LINES, l->hitm);
	e->out.rows[LC_SECTION_LINES]++;
}

static void put_estimate(struct lc_block_encoder *e, const void *row)
{
	const struct lc_block_estimate *s = row;
	uint32_t site = lc_names_site(e->names, s->site);

	if (!site)
		return;
	lc_block_put(e, LC_SECTION_ESTIMATES, site);
	lc_block_put(e, LC_SECTION_ESTIMATES, s->sampled);
	lc_block_put(e, LC_SECTION_ESTIMATES, s->objects_milli);
	lc_block_put(e, LC_SECTION_ESTIMATES, s->objects_variance_milli);
	lc_block_put(e, LC_SECTION_ESTIMATES, s->bytes);
	lc_block_put(e, LC_SECTION_ESTIMATES, s->bytes_variance_mib);
	for (unsigned i = 0; i < LC_LIVE_COLUMNS; i++)
		lc_block_put(e, LC_SECTION_ESTIMATES, s->live_milli[i]);
	e->out.rows[LC_SECTION_ESTIMATES]++;
}

static bool split_is_valid(const void *row)
{
	const struct lc_block_split *s = row;

	return s->engine < LC_ENGINES_MAX && s->method < LC_SPLIT_COUNT;
}

static void put_split(struct lc_block_encoder *e, const void *row)
{
	const struct lc_block_split *s = row;
	uint32_t class_site = lc_names_site(e->names, s->class_site);
	uint32_t site = lc_names_site(e->names, s->site);

	if (!class_site || !site)
		return;
	lc_block_put(e, LC_SECTION_SPLITS, s->engine);
	lc_block_put(e, LC_SECTION_SPLITS, s->method);
	lc_block_put(e, LC_SECTION_SPLITS, class_site);
	lc_block_put(e, LC_SECTION_SPLITS, site);
	lc_block_put(e, LC_SECTION_SPLITS, s->samples_milli);
	lc_block_put(e, LC_SECTION_SPLITS, s->variance_milli);
	e->out.rows[LC_SECTION_SPLITS]++;
}

static bool placement_is_valid(const void *row)
{
	const struct lc_block_placement *p = row;

	return p->engine < LC_ENGINES_MAX && p->bucket < LC_BUCKET_COUNT &&
	       p->accessing < LC_NODE_END && p->owning < LC_NODE_END && p->source < LC_SOURCE_COUNT;
}

static void put_placement(struct lc_block_encoder *e, const void *row)
{
	const struct lc_block_placement *p = row;

	lc_block_put_place(e, LC_SECTION_PLACEMENTS, p->engine, p->bucket, p->site, p->path);
	lc_block_put(e, LC_SECTION_PLACEMENTS, p->accessing);
	lc_block_put(e, LC_SECTION_PLACEMENTS, p->owning);
	lc_block_put(e, LC_SECTION_PLACEMENTS, p->source);
	lc_block_put(e, LC_SECTION_PLACEMENTS, p->samples);
	e->out.rows[LC_SECTION_PLACEMENTS]++;
}

static bool node_is_valid(const void *row)
{
	const struct lc_block_node *n = row;

	return n->engine < LC_ENGINES_MAX && n->node < LC_NODE_END && n->migrations <= n->samples;
}

static void put_node(struct lc_block_encoder *e, const void *row)
{
	const struct lc_block_node *n = row;

	lc_block_put(e, LC_SECTION_NODES, n->engine);
	lc_block_put(e, LC_SECTION_NODES, n->node);
	lc_block_put(e, LC_SECTION_NODES, n->samples);
	lc_block_put(e, LC_SECTION_NODES, n->migrations);
	e->out.rows[LC_SECTION_NODES]++;
}

static bool home_is_valid(const void *row)
{
	return ((const struct lc_block_home *)row)->node < LC_NODE_END;
}

static void put_home(struct lc_block_encoder *e, const void *row)
{
	const struct lc_block_home *h = row;
	uint32_t site = lc_names_site(e->names, h->site);

	if (!site)
		return;
	lc_block_put(e, LC_SECTION_HOMES, site);
	lc_block_put(e, LC_SECTION_HOMES, h->node);
	lc_block_put(e, LC_SECTION_HOMES, h->objects);
	lc_block_put(e, LC_SECTION_HOMES, h->bytes);
	e->out.rows[LC_SECTION_HOMES]++;
}

#define LIST(member)                                                                               \
	offsetof(struct lc_block_input, member), sizeof(((struct lc_block_input *)0)->member[0]),  \
	    offsetof(struct lc_block_input, member##_len)

/* The rows that a block may be split between. */
static const struct kind {
	size_t list; /* in lc_block_input: the pointer to the rows */
	size_t row_bytes;
	size_t len;                        /* in lc_block_input: how many */
	bool (*is_valid)(const void *row); /* NULL: all are */
	void (*put)(struct lc_block_encoder *e, const void *row);
} kinds[] = {
	{ LIST(allocs), NULL, put_alloc },
	{ LIST(accesses), access_is_valid, put_access },
	{ LIST(fields), field_is_valid, put_field },
	{ LIST(metrics), metric_is_valid, put_metric },
	{ LIST(lines), line_is_valid, put_line },
	{ LIST(estimates), NULL, put_estimate },
	{ LIST(splits), split_is_valid, put_split },
	{ LIST(placements), placement_is_valid, put_placement },
	{ LIST(nodes), node_is_valid, put_node },
	{ LIST(homes), home_is_valid, put_home },
	{ LIST(spans), lc_block_span_is_valid, lc_block_put_span },
	{ LIST(tasks_made), lc_block_made_is_valid, lc_block_put_made },
	{ LIST(span_accesses), lc_block_span_access_is_valid, lc_block_put_span_access },
	{ LIST(timeline), NULL, lc_block_put_timeline },
	{ LIST(pauses), lc_block_pause_is_valid, lc_block_put_pause },
	{ LIST(trace), lc_block_trace_is_valid, lc_block_put_trace },
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static size_t rows_len(const struct kind *k, const struct lc_block_input *in)
{
	size_t len;

	memcpy(&len, (const char *)in + k->len, sizeof(len));
	return len;
}

static const void *row_at(const struct kind *k, const struct lc_block_input *in, size_t i)
{
	const char *rows;

	memcpy(&rows, (const char *)in + k->list, sizeof(rows));
	return rows + i * k->row_bytes;
}

/* ---- blocks ---- */

static size_t rows_bytes(const struct lc_block_encoder *e)
{
	size_t sum = 0;

	for (int i = 0; i < LC_SECTION_COUNT; i++)
		sum += e->out.bytes[i].len;
	return sum;
}

static void block_begin(struct lc_block_encoder *e, const struct lc_block_input *in)
{
	for (int i = 0; i < LC_SECTION_COUNT; i++) {
		lc_bytes_empty(&e->out.bytes[i]);
		e->out.rows[i] = 0;
	}
	lc_names_begin(e->names);
	memset(e->here, 0, sizeof(e->here));
	e->trace_start_ns = 0;
	lc_block_put(e, LC_SECTION_THREAD, lc_names_string(e->names, in->name));
	e->out.rows[LC_SECTION_THREAD] = 1;
}

/* The bucket totals of this block: its accesses, and in the last block all that is left. */
static void put_buckets(struct lc_block_encoder *e, bool last)
{
	for (unsigned g = 0; g < LC_ENGINES_MAX; g++) {
		for (unsigned b = 0; b < LC_BUCKET_COUNT; b++) {
			uint64_t samples = e->here[g][b];

			if (last && e->left[g][b] > samples)
				samples = e->left[g][b];
			e->left[g][b] -= samples < e->left[g][b] ? samples : e->left[g][b];
			if (!samples)
				continue;
			lc_block_put(e, LC_SECTION_BUCKETS, g);
			lc_block_put(e, LC_SECTION_BUCKETS, b);
			lc_block_put(e, LC_SECTION_BUCKETS, samples);
			e->out.rows[LC_SECTION_BUCKETS]++;
		}
	}
}

static void put_details(struct lc_block_encoder *e, const struct lc_block_input *in)
{
	for (size_t i = 0; i < in->details_len; i++) {
		lc_block_put(e, LC_SECTION_DETAILS, in->details[i].engine);
		lc_block_put(e, LC_SECTION_DETAILS, in->details[i].where);
		lc_block_put(e, LC_SECTION_DETAILS, in->details[i].how);
		lc_block_put(e, LC_SECTION_DETAILS, in->details[i].samples);
		e->out.rows[LC_SECTION_DETAILS]++;
	}
}

/* Sections to e->payload. Definitions have smaller types than their uses, so order is by type. */
static int payload_build(struct lc_block_encoder *e)
{
	uint8_t count[LC_VARINT_MAX];
	bool failed = lc_names_failed(e->names);

	lc_bytes_empty(&e->payload);
	for (unsigned i = 0; i < LC_SECTION_COUNT; i++) {
		size_t count_len;

		failed |= e->out.bytes[i].failed;
		if (!e->out.rows[i])
			continue;
		count_len = i == LC_SECTION_THREAD ? 0 : lc_varint_put(count, e->out.rows[i]);
		lc_bytes_varint(&e->payload, i);
		lc_bytes_varint(&e->payload, count_len + e->out.bytes[i].len);
		lc_bytes_add(&e->payload, count, count_len);
		lc_bytes_add(&e->payload, e->out.bytes[i].data, e->out.bytes[i].len);
	}
	if (failed || e->payload.failed)
		return -ENOMEM;
	return e->payload.len > LC_BLOCK_RAW_MAX ? -EFBIG : 0;
}

/* Add the block that was built to e->file. */
static int block_end(struct lc_block_encoder *e, const struct lc_block_input *in, uint64_t sequence)
{
	struct lc_block_header h = {
		.tid = in->tid,
		.thread_index = in->index,
		.sequence = sequence,
		.t_begin_ns = in->t_begin_ns,
		.t_end_ns = in->t_end_ns,
	};
	size_t bound, stored;
	uint8_t *out;
	int err = payload_build(e);

	if (err)
		return err;
	bound = ZSTD_compressBound(e->payload.len);
	if (!lc_bytes_reserve(&e->file, LC_BLOCK_HEADER_LEN + bound))
		return -ENOMEM;
	out = e->file.data + e->file.len;
	stored = ZSTD_compressCCtx(e->zstd, out + LC_BLOCK_HEADER_LEN, bound, e->payload.data,
	                           e->payload.len, ZSTD_LEVEL);
	if (ZSTD_isError(stored))
		return -ENOMEM; /* the bound holds, so only its own memory can fail */
	h.raw_len = (uint32_t)e->payload.len;
	h.stored_len = (uint32_t)stored;
	h.checksum = lc_checksum(out + LC_BLOCK_HEADER_LEN, stored);
	lc_block_header_put(out, &h);
	e->file.len += LC_BLOCK_HEADER_LEN + stored;
	return 0;
}

static bool input_is_valid(const struct lc_block_input *in)
{
	for (unsigned k = 0; k < KINDS; k++)
		for (size_t i = 0; i < rows_len(&kinds[k], in); i++)
			if (kinds[k].is_valid && !kinds[k].is_valid(row_at(&kinds[k], in, i)))
				return false;
	for (size_t i = 0; i < in->buckets_len; i++) {
		const struct lc_block_bucket *b = &in->buckets[i];

		if (b->engine >= LC_ENGINES_MAX || b->bucket >= LC_BUCKET_COUNT)
			return false;
	}
	for (size_t i = 0; i < in->details_len; i++) {
		const struct lc_block_detail *d = &in->details[i];

		if (d->engine >= LC_ENGINES_MAX || d->where >= LC_DETAIL_WHERE_COUNT ||
		    d->how >= LC_DETAIL_HOW_COUNT)
			return false;
	}
	return true;
}

/* Rows from *kind and *row on, until the block is large. Returns whether those were the last. */
static bool put_rows(struct lc_block_encoder *e, const struct lc_block_input *in, unsigned *kind,
                     size_t *row)
{
	for (; *kind < KINDS; ++*kind, *row = 0) {
		for (; *row < rows_len(&kinds[*kind], in); ++*row) {
			if (rows_bytes(e) >= SPLIT_BYTES)
				return false;
			kinds[*kind].put(e, row_at(&kinds[*kind], in, *row));
		}
	}
	return true;
}

int lc_block_encode(struct lc_block_encoder *e, const struct lc_block_input *in, uint64_t sequence)
{
	unsigned kind = 0;
	size_t row = 0;
	int blocks = 0;
	bool last;

	if (!input_is_valid(in))
		return -EINVAL;
	lc_bytes_empty(&e->file);
	memset(e->left, 0, sizeof(e->left));
	for (size_t i = 0; i < in->buckets_len; i++)
		e->left[in->buckets[i].engine][in->buckets[i].bucket] += in->buckets[i].samples;
	do {
		int err;

		block_begin(e, in);
		last = put_rows(e, in, &kind, &row);
		put_buckets(e, last);
		if (last)
			put_details(e, in);
		err = block_end(e, in, sequence + (unsigned)blocks);
		if (err)
			return err;
		blocks++;
	} while (!last);
	return blocks;
}

struct lc_bytes *lc_block_encoded(struct lc_block_encoder *e)
{
	return &e->file;
}

struct lc_block_encoder *lc_block_encoder_create(void)
{
	struct lc_block_encoder *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->zstd = ZSTD_createCCtx();
	e->names = lc_names_create(&e->out);
	if (!e->zstd || !e->names) {
		lc_block_encoder_free(e);
		return NULL;
	}
	return e;
}

void lc_block_encoder_free(struct lc_block_encoder *e)
{
	if (!e)
		return;
	ZSTD_freeCCtx(e->zstd);
	lc_names_free(e->names);
	for (int i = 0; i < LC_SECTION_COUNT; i++)
		free(e->out.bytes[i].data);
	free(e->payload.data);
	free(e->file.data);
	free(e);
}
