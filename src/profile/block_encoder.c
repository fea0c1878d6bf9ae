/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile/block_encoder.c - encodes what one thread did as blocks, by the agent's tables of sites
 * and paths.
 */
#include "src/profile/block_encoder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/format/encode.h"
#include "src/format/rows.h"
#include "src/profile/names.h"

enum { ZSTD_LEVEL = 1 };

struct lc_block_encoder {
	struct lc_encoder encoder;
	struct lc_names *names;
	const struct lc_block_input *in;
	struct lc_block_header header; /* of the block that is being built */
	struct lc_bytes file;          /* the finished blocks */
};

/* ---- rows ---- */

static size_t rows_len(void *of, enum lc_section section)
{
	const struct lc_block_input *in = ((struct lc_block_encoder *)of)->in;
	const struct lc_section_spec *s = lc_section_spec(section);
	size_t len = 0;

	if (s)
		memcpy(&len, (const char *)in + s->list_len, sizeof(len));
	else if (section == LC_SECTION_SPANS)
		len = in->spans_len;
	else if (section == LC_SECTION_TRACE)
		len = in->trace_len;
	return len;
}

/* A row of a flat section. */
static const void *row_at(const struct lc_block_input *in, const struct lc_section_spec *s,
                          size_t row)
{
	const char *rows;

	memcpy(&rows, (const char *)in + s->list, sizeof(rows));
	return rows + row * s->row_bytes;
}

/* Are there the sites without which the row says nothing? */
static bool has_sites(const struct lc_block_encoder *e, const struct lc_section_spec *s,
                      const uint64_t *v)
{
	bool all = true;

	for (unsigned i = 0; i < s->keys_len; i++)
		if (s->columns[i].type == LC_COLUMN_SITE &&
		    !lc_names_site(e->names, (uint32_t)v[i]))
			all = false;
	return all;
}

/* One interval, or none; where the thread was just between the two times, it has no length. */
static void put_span(struct lc_encoder *e, const struct lc_block_span *s)
{
	const uint32_t names[] = { s->kind, s->level,       s->submit_kind,
		                   s->site, s->submit_path, s->path };
	const uint64_t sums[LC_ENCODE_SUMS] = {
		s->executions, s->folded,    s->cycles,    lc_zigzag(s->compensated),
		s->negative,   s->switches,  s->gc_count,  s->gc_ns,
		s->wait_ns,    s->waits,     s->wall_ns,   s->nested[0],
		s->nested[1],  s->nested[2], s->nested[3],
	};
	unsigned used = 0, bucket_end = 0;
	uint64_t end = 0;

	_Static_assert(LC_SPAN_NESTED == 4, "sums[] lists them");
	lc_encode_span(e, NULL, names, sums);
	lc_encode_put(e, LC_SECTION_SPANS, s->first_ns != 0);
	if (s->first_ns)
		lc_encode_interval(e, &end, s->first_ns,
		                   s->last_ns > s->first_ns ? s->last_ns : s->first_ns);
	for (unsigned i = 0; i < LC_SPAN_BUCKETS; i++)
		used += s->histogram[i] != 0;
	lc_encode_put(e, LC_SECTION_SPANS, used);
	for (unsigned i = 0; i < LC_SPAN_BUCKETS; i++)
		if (s->histogram[i])
			lc_encode_bucket(e, &bucket_end, i, s->histogram[i]);
}

static void put_row(void *of, enum lc_section section, size_t row)
{
	struct lc_block_encoder *e = of;
	const struct lc_section_spec *s = lc_section_spec(section);
	uint64_t v[LC_COLUMNS_MAX];

	if (section == LC_SECTION_SPANS) {
		put_span(&e->encoder, &e->in->spans[row]);
	} else if (section == LC_SECTION_TRACE) {
		lc_encode_trace(&e->encoder, NULL, &e->in->trace[row]);
	} else {
		lc_section_load(s, row_at(e->in, s, row), v);
		if (has_sites(e, s, v))
			lc_encode_row(&e->encoder, s, NULL, v);
	}
}

/* ---- what can be written ---- */

static bool span_is_valid(const struct lc_block_span *s)
{
	return s->kind < LC_SPAN_KINDS && s->submit_kind < LC_SUBMIT_KINDS;
}

static bool trace_is_valid(const struct lc_block_trace *t)
{
	return t->kind < LC_SPAN_KINDS && t->submit_kind < LC_SUBMIT_KINDS &&
	       t->flags < LC_TRACE_FLAGS_END && t->start_ns <= UINT64_MAX - t->duration_ns;
}

static bool input_is_valid(struct lc_block_encoder *e)
{
	const struct lc_block_input *in = e->in;
	bool valid = true;

	for (unsigned n = 0; n < LC_SECTION_COUNT && valid; n++) {
		const struct lc_section_spec *s = lc_section_spec(n);

		for (size_t i = 0; s && i < rows_len(e, n) && valid; i++)
			valid = s->valid(row_at(in, s, i), LC_ENGINES_MAX);
	}
	for (size_t i = 0; i < in->spans_len && valid; i++)
		valid = span_is_valid(&in->spans[i]);
	for (size_t i = 0; i < in->trace_len && valid; i++)
		valid = trace_is_valid(&in->trace[i]);
	return valid;
}

/* ---- blocks ---- */

static void block_begin(struct lc_block_encoder *e, uint32_t file, uint64_t sequence)
{
	e->header = (struct lc_block_header){
		.tid = e->in->tid,
		.thread_index = e->in->index,
		.sequence = sequence,
		.t_begin_ns = e->in->t_begin_ns,
		.t_end_ns = e->in->t_end_ns,
	};
	lc_encode_begin(&e->encoder);
	lc_names_begin(e->names, file, &e->header);
	lc_encode_put(&e->encoder, LC_SECTION_THREAD, lc_names_string(e->names, e->in->name));
	e->encoder.out.rows[LC_SECTION_THREAD] = 1;
}

/* Add the block that was built to e->file. */
static int block_end(struct lc_block_encoder *e)
{
	if (lc_names_failed(e->names))
		return -ENOMEM;
	return lc_encode_end(&e->encoder, &e->header, ZSTD_LEVEL, &e->file);
}

static void start(struct lc_block_encoder *e, const struct lc_block_input *in)
{
	uint64_t samples[LC_ENGINES_MAX][LC_BUCKET_COUNT] = { { 0 } };

	for (size_t i = 0; i < in->buckets_len; i++)
		lc_sum_add(&samples[in->buckets[i].engine][in->buckets[i].bucket],
		           in->buckets[i].samples);
	lc_encode_start(&e->encoder, samples);
}

int lc_block_encode(struct lc_block_encoder *e, const struct lc_block_input *in, uint32_t file,
                    uint64_t sequence)
{
	const struct lc_encode_source source = { e, rows_len, put_row };
	int blocks = 0;
	bool last;

	e->in = in;
	if (!input_is_valid(e))
		return -EINVAL;
	lc_bytes_empty(&e->file);
	start(e, in);
	do {
		int err;

		block_begin(e, file, sequence + (unsigned)blocks);
		last = lc_encode_rows(&e->encoder, &source);
		lc_encode_buckets(&e->encoder, last);
		for (size_t i = 0; last && i < in->details_len; i++)
			put_row(e, LC_SECTION_DETAILS, i);
		err = block_end(e);
		if (err) {
			lc_names_forget(e->names, file);
			return err;
		}
		blocks++;
	} while (!last);
	return blocks;
}

void lc_block_forget(struct lc_block_encoder *e, uint32_t file)
{
	lc_names_forget(e->names, file);
}

struct lc_bytes *lc_block_encoded(struct lc_block_encoder *e)
{
	return &e->file;
}

/* ---- the encoder ---- */

static uint32_t site_number(void *of, uint64_t site)
{
	return lc_names_site(of, (uint32_t)site);
}

static uint32_t path_number(void *of, uint64_t path)
{
	return lc_names_path(of, (uint32_t)path);
}

static uint32_t string_number(void *of, uint64_t address)
{
	return lc_names_string(of, (const char *)(uintptr_t)address);
}

struct lc_block_encoder *lc_block_encoder_create(void)
{
	struct lc_block_encoder *e = calloc(1, sizeof(*e));
	struct lc_encode_names names = { NULL, site_number, path_number, string_number };

	if (!e)
		return NULL;
	names.of = e->names = lc_names_create(&e->encoder.out);
	if (!e->names || lc_encode_init(&e->encoder, &names)) {
		lc_block_encoder_free(e);
		return NULL;
	}
	return e;
}

void lc_block_encoder_free(struct lc_block_encoder *e)
{
	if (!e)
		return;
	lc_encode_free(&e->encoder);
	lc_names_free(e->names);
	free(e->file.data);
	free(e);
}
