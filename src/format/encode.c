/* SPDX-License-Identifier: Apache-2.0 */
/* format/encode.c - appends rows to the sections of a block, and makes a block of them. */
#include "src/format/encode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/format/rows.h"

enum { SPLIT_BYTES = 16 << 20 }; /* payload at which a block is closed and another begun */

int lc_encode_init(struct lc_encoder *e, const struct lc_encode_names *names)
{
	e->names = *names;
	e->zstd = ZSTD_createCCtx();
	return e->zstd ? 0 : -ENOMEM;
}

void lc_encode_free(struct lc_encoder *e)
{
	ZSTD_freeCCtx(e->zstd);
	for (unsigned i = 0; i < LC_SECTION_COUNT; i++)
		free(e->out.bytes[i].data);
	free(e->payload.data);
}

void lc_encode_start(struct lc_encoder *e, const uint64_t (*buckets)[LC_BUCKET_COUNT])
{
	memcpy(e->left, buckets, sizeof(e->left));
	e->section = LC_SECTION_ALLOCATIONS;
	e->row = 0;
}

void lc_encode_begin(struct lc_encoder *e)
{
	for (unsigned i = 0; i < LC_SECTION_COUNT; i++) {
		lc_bytes_empty(&e->out.bytes[i]);
		e->out.rows[i] = 0;
	}
	memset(e->here, 0, sizeof(e->here));
	e->trace_start_ns = 0;
}

static size_t rows_bytes(const struct lc_encoder *e)
{
	size_t sum = 0;

	for (unsigned i = 0; i < LC_SECTION_COUNT; i++)
		sum += e->out.bytes[i].len;
	return sum;
}

bool lc_encode_rows(struct lc_encoder *e, const struct lc_encode_source *s)
{
	for (; e->section < LC_SECTION_COUNT; e->section++, e->row = 0) {
		size_t rows;

		if (e->section == LC_SECTION_BUCKETS || e->section == LC_SECTION_DETAILS ||
		    e->section == LC_SECTION_THREADS)
			continue;
		for (rows = s->rows(s->of, e->section); e->row < rows; e->row++) {
			if (rows_bytes(e) >= SPLIT_BYTES)
				return false;
			s->put(s->of, e->section, e->row);
		}
	}
	return true;
}

/* ---- rows ---- */

static void put_owner(struct lc_encoder *e, enum lc_section section, const uint32_t *owner)
{
	for (unsigned i = 0; owner && i < 2; i++)
		lc_encode_put(e, section, owner[i]);
}

static uint64_t number_of(struct lc_encoder *e, enum lc_column_type type, uint64_t v)
{
	switch (type) {
	case LC_COLUMN_SITE:
	case LC_COLUMN_SITE_OR_0:
		return e->names.site(e->names.of, v);
	case LC_COLUMN_PATH:
		return e->names.path(e->names.of, v);
	case LC_COLUMN_STRING:
		return e->names.string(e->names.of, v);
	default:
		return v;
	}
}

void lc_encode_row(struct lc_encoder *e, const struct lc_section_spec *s, const uint32_t *owner,
                   const uint64_t *v)
{
	enum lc_section section = owner ? s->merged : s->number;

	put_owner(e, section, owner);
	for (unsigned i = 0; i < s->columns_len; i++)
		lc_encode_put(e, section, number_of(e, s->columns[i].type, v[i]));
	e->out.rows[section]++;
	if (section == LC_SECTION_ACCESSES)
		e->here[v[0]][v[1]] += v[s->keys_len];
}

void lc_encode_buckets(struct lc_encoder *e, bool last)
{
	const struct lc_section_spec *s = lc_section_spec(LC_SECTION_BUCKETS);

	for (unsigned g = 0; g < LC_ENGINES_MAX; g++) {
		for (unsigned b = 0; b < LC_BUCKET_COUNT; b++) {
			uint64_t samples = e->here[g][b], v[LC_COLUMNS_MAX] = { g, b };

			if (last && e->left[g][b] > samples)
				samples = e->left[g][b];
			e->left[g][b] -= samples < e->left[g][b] ? samples : e->left[g][b];
			v[s->keys_len] = samples;
			if (samples)
				lc_encode_row(e, s, NULL, v);
		}
	}
}

/* ---- spans ---- */

/* Site, submit path and path: what a span is of. */
static void put_names(struct lc_encoder *e, enum lc_section section, uint32_t site,
                      uint32_t submit_path, uint32_t path)
{
	lc_encode_put(e, section, e->names.site(e->names.of, site));
	lc_encode_put(e, section, e->names.path(e->names.of, submit_path));
	lc_encode_put(e, section, e->names.path(e->names.of, path));
}

void lc_encode_span(struct lc_encoder *e, const uint32_t *owner, const uint32_t *names,
                    const uint64_t *sums)
{
	put_owner(e, LC_SECTION_SPANS, owner);
	for (unsigned i = 0; i < 3; i++)
		lc_encode_put(e, LC_SECTION_SPANS, names[i]);
	put_names(e, LC_SECTION_SPANS, names[3], names[4], names[5]);
	for (unsigned i = 0; i < LC_ENCODE_SUMS; i++)
		lc_encode_put(e, LC_SECTION_SPANS, sums[i]);
	e->out.rows[LC_SECTION_SPANS]++;
}

void lc_encode_interval(struct lc_encoder *e, uint64_t *end, uint64_t first_ns, uint64_t last_ns)
{
	lc_encode_put(e, LC_SECTION_SPANS, first_ns - *end);
	lc_encode_put(e, LC_SECTION_SPANS, last_ns - first_ns);
	*end = last_ns;
}

void lc_encode_bucket(struct lc_encoder *e, unsigned *end, unsigned bucket, uint64_t count)
{
	lc_encode_put(e, LC_SECTION_SPANS, bucket - *end);
	lc_encode_put(e, LC_SECTION_SPANS, count);
	*end = bucket + 1;
}

/* Starts are differences to the row before: spans of a thread end soon after each other. */
void lc_encode_trace(struct lc_encoder *e, const uint32_t *owner, const struct lc_block_trace *t)
{
	const uint64_t head[] = {
		lc_zigzag((int64_t)(t->start_ns - e->trace_start_ns)),
		t->id,
		t->outer,
		t->logical,
		t->kind,
		t->level,
		t->submit_kind,
		t->flags,
	};
	const uint64_t tail[] = {
		t->creator,  t->duration_ns, t->cycles, lc_zigzag(t->compensated),
		t->switches, t->wait_ns,
	};

	e->trace_start_ns = t->start_ns;
	put_owner(e, LC_SECTION_TRACE, owner);
	for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		lc_encode_put(e, LC_SECTION_TRACE, head[i]);
	put_names(e, LC_SECTION_TRACE, t->site, t->submit_path, t->path);
	for (size_t i = 0; i < sizeof(tail) / sizeof(tail[0]); i++)
		lc_encode_put(e, LC_SECTION_TRACE, tail[i]);
	e->out.rows[LC_SECTION_TRACE]++;
}

/* ---- the block ---- */

/* Sections to e->payload. Definitions have smaller types than their uses, so order is by type. */
static int payload_build(struct lc_encoder *e)
{
	uint8_t count[LC_VARINT_MAX];
	bool failed = false;

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

int lc_encode_end(struct lc_encoder *e, struct lc_block_header *h, int zstd_level,
                  struct lc_bytes *file)
{
	const size_t header = lc_block_header_len(h);
	size_t bound, stored;
	uint8_t *out;
	int err = payload_build(e);

	if (err)
		return err;
	bound = ZSTD_compressBound(e->payload.len);
	if (!lc_bytes_reserve(file, header + bound))
		return -ENOMEM;
	out = file->data + file->len;
	stored = ZSTD_compressCCtx(e->zstd, out + header, bound, e->payload.data, e->payload.len,
	                           zstd_level);
	if (ZSTD_isError(stored))
		return -ENOMEM; /* the bound holds, so only its own memory can fail */
	h->raw_len = (uint32_t)e->payload.len;
	h->stored_len = (uint32_t)stored;
	h->checksum = lc_checksum(out + header, stored);
	lc_block_header_put(out, h);
	file->len += header + stored;
	return 0;
}
