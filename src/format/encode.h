/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format/encode.h - builds blocks out of rows. The agent and the analyzer share it.
 *
 * A block holds definitions for its rows, as far as the owner gives them: profile/names.h those
 * that no earlier block has, `locus merge` all. The owner gives rows in turn. A large block is
 * closed, and another one begun:
 *
 *	do {
 *		lc_encode_begin(e);
 *		last = lc_encode_rows(e, ...) and what stands in the last block only
 *		lc_encode_end(e, ...);
 *	} while (!last);
 *
 * lc_encode_end() fails if a row could not be kept without memory. Context of all functions: the
 * attribution thread [writer], and the analyzer.
 */
#ifndef LC_FORMAT_ENCODE_H
#define LC_FORMAT_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "src/base/bytes.h"
#include "src/format/block.h"
#include "src/format/kinds.h"
#include "src/format/section.h"

struct lc_block_trace;

/* Sections of one block: rows without their count. */
struct lc_sections {
	struct lc_bytes bytes[LC_SECTION_COUNT];
	uint32_t rows[LC_SECTION_COUNT];
};

/*
 * How the owner's sites, paths and strings are numbered in the block: each returns the number, and
 * defines it if it was not.
 */
struct lc_encode_names {
	void *of; /* the first argument of each */
	uint32_t (*site)(void *of, uint64_t site);
	uint32_t (*path)(void *of, uint64_t path);
	uint32_t (*string)(void *of, uint64_t string);
};

struct lc_encoder {
	struct lc_sections out;
	struct lc_encode_names names;
	struct lc_bytes payload; /* one block, uncompressed */
	ZSTD_CCtx *zstd;
	uint64_t left[LC_ENGINES_MAX][LC_BUCKET_COUNT]; /* samples of BUCKETS not yet in a block */
	uint64_t here[LC_ENGINES_MAX][LC_BUCKET_COUNT]; /* in this block's accesses */
	uint64_t trace_start_ns; /* of the last row of TRACE in this block, or 0 */
	unsigned section;        /* the next row for lc_encode_rows() */
	size_t row;
};

/* The source of rows for lc_encode_rows(). */
struct lc_encode_source {
	void *of; /* the first argument of each */
	size_t (*rows)(void *of, enum lc_section section);
	void (*put)(void *of, enum lc_section section, size_t row);
};

/* *e is all zero. Returns 0 or -ENOMEM; free with lc_encode_free(), in both cases. */
int lc_encode_init(struct lc_encoder *e, const struct lc_encode_names *names);
void lc_encode_free(struct lc_encoder *e);

/* All that is to be encoded begins, with these samples in each bucket. */
void lc_encode_start(struct lc_encoder *e, const uint64_t (*buckets)[LC_BUCKET_COUNT]);

/* A block begins: it is empty. */
void lc_encode_begin(struct lc_encoder *e);

static inline void lc_encode_put(struct lc_encoder *e, enum lc_section section, uint64_t v)
{
	lc_bytes_varint(&e->out.bytes[section], v);
}

/*
 * Rows of all sections but BUCKETS, DETAILS and THREADS, by section, until the block is large.
 * Returns whether those were the last.
 */
bool lc_encode_rows(struct lc_encoder *e, const struct lc_encode_source *s);

/*
 * Append a row of a flat section. `owner`: its thread's process and index, in a block of all
 * threads; else NULL.
 */
void lc_encode_row(struct lc_encoder *e, const struct lc_section_spec *s, const uint32_t *owner,
                   const uint64_t *v);

/* BUCKETS: of this block's accesses; and in the last block all samples that are left. */
void lc_encode_buckets(struct lc_encoder *e, bool last);

enum { LC_ENCODE_SUMS = 11 + LC_SPAN_NESTED }; /* sums of a row of SPANS */

/*
 * A row of SPANS up to its intervals; what names it: kind, level, submit kind, site, submit path,
 * path.
 */
void lc_encode_span(struct lc_encoder *e, const uint32_t *owner, const uint32_t *names,
                    const uint64_t *sums);

/*
 * One of the `n` intervals or buckets of that row, after their number; *end is 0 before the first.
 */
void lc_encode_interval(struct lc_encoder *e, uint64_t *end, uint64_t first_ns, uint64_t last_ns);
void lc_encode_bucket(struct lc_encoder *e, unsigned *end, unsigned bucket, uint64_t count);

/* A row of TRACE. */
void lc_encode_trace(struct lc_encoder *e, const uint32_t *owner, const struct lc_block_trace *t);

/*
 * Append the block, compressed, with its header to `file`; the lengths and the checksum of *h are
 * set. Returns 0; -ENOMEM; or -EFBIG when its rows are too many. On failure `file` holds what it
 * held.
 */
int lc_encode_end(struct lc_encoder *e, struct lc_block_header *h, int zstd_level,
                  struct lc_bytes *file);

#endif
