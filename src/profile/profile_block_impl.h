/* profile/profile_block_impl.h - what the files that encode a block share: profile_block.c and profile_spans.c. */
#ifndef LC_PROFILE_PROFILE_BLOCK_IMPL_H
#define LC_PROFILE_PROFILE_BLOCK_IMPL_H

#include <stdbool.h>
#include <stdint.h>
#include <zstd.h>

#include "src/format/block.h"
#include "src/profile/names.h"
#include "src/profile/profile_block.h"

struct lc_block_encoder {
	ZSTD_CCtx *zstd;
	struct lc_sections out;
	struct lc_names *names;
	struct lc_bytes payload;                        /* one block, uncompressed */
	struct lc_bytes file;                           /* the finished blocks */
	uint64_t left[LC_ENGINES_MAX][LC_BUCKET_COUNT]; /* of the input, not yet in a block */
	uint64_t here[LC_ENGINES_MAX][LC_BUCKET_COUNT]; /* in this block's accesses */
	uint64_t trace_start_ns; /* of the last row of TRACE in this block, or 0 */
};

static inline void lc_block_put(struct lc_block_encoder *e, enum lc_section section, uint64_t v)
{
	lc_bytes_varint(&e->out.bytes[section], v);
}

/* engine; bucket; site; path. */
void lc_block_put_place(struct lc_block_encoder *e, enum lc_section section, uint16_t engine,
                        uint8_t bucket, uint32_t site, uint32_t path);

/* Can the row be written? Each takes a pointer to its struct of writer.h. Context: [writer]. */
bool lc_block_span_is_valid(const void *row);
bool lc_block_made_is_valid(const void *row);
bool lc_block_span_access_is_valid(const void *row);
bool lc_block_pause_is_valid(const void *row);
bool lc_block_trace_is_valid(const void *row);

/* Append a row to its section. */
void lc_block_put_span(struct lc_block_encoder *e, const void *row);
void lc_block_put_made(struct lc_block_encoder *e, const void *row);
void lc_block_put_span_access(struct lc_block_encoder *e, const void *row);
void lc_block_put_timeline(struct lc_block_encoder *e, const void *row);
void lc_block_put_pause(struct lc_block_encoder *e, const void *row);
void lc_block_put_trace(struct lc_block_encoder *e, const void *row);

#endif
