/* model/write_impl.h - what the files that encode a tree share: write.c and write_spans.c. */
#ifndef LC_MODEL_WRITE_IMPL_H
#define LC_MODEL_WRITE_IMPL_H

#include <stdbool.h>
#include <zstd.h>

#include "analyzer/model/tree_spans.h"
#include "analyzer/model/write.h"

/* Numbers of the tree to numbers of the block: valid where the stamp is this block's. */
struct lc_merge_numbers {
	uint32_t *local;
	uint32_t *stamps;
	size_t local_cap;
	size_t stamps_cap;
	size_t len; /* stamps that are set */
	uint32_t count;
};

struct lc_merge_bytes {
	uint8_t *data;
	size_t len;
	size_t cap;
};

struct lc_merge_writer {
	const struct lc_tree *tree;
	bool one;                   /* blocks of one thread */
	struct lc_tree_spans spans; /* of the tree */
	uint64_t trace_start_ns;    /* of the last row of TRACE in this block, or 0 */
	ZSTD_CCtx *zstd;
	struct lc_merge_numbers numbers[LC_SECTION_SITES + 1]; /* by section type */
	uint32_t stamp;
	struct lc_merge_bytes section[LC_SECTION_COUNT]; /* rows, without their count */
	uint32_t rows[LC_SECTION_COUNT];
	struct lc_merge_bytes chain; /* uint32_t: paths to be defined */
	struct lc_merge_bytes payload;
	struct lc_merge_bytes stored;
	uint64_t left[LC_ENGINES_MAX][LC_BUCKET_COUNT]; /* not yet in a block */
	uint64_t here[LC_ENGINES_MAX][LC_BUCKET_COUNT]; /* in this block's accesses */
};

void lc_merge_put(struct lc_merge_writer *w, enum lc_section section, uint64_t v);

/* The block's number of a path or site of the tree, defined if it was not. */
uint32_t lc_merge_path(struct lc_merge_writer *w, uint32_t path);
uint32_t lc_merge_site(struct lc_merge_writer *w, uint32_t row);

/* engine; bucket; site; path: four columns of a key. */
void lc_merge_place(struct lc_merge_writer *w, enum lc_section section, const uint32_t *columns);

/* process; thread_index, in a block of all threads. */
void lc_merge_owner(struct lc_merge_writer *w, enum lc_section section, uint32_t thread);

/* Each appends a row of its table; that of lc_merge_put_trace() is a number in tree.traces. */
void lc_merge_put_span(struct lc_merge_writer *w, uint32_t row);
void lc_merge_put_made(struct lc_merge_writer *w, uint32_t row);
void lc_merge_put_span_access(struct lc_merge_writer *w, uint32_t row);
void lc_merge_put_slice(struct lc_merge_writer *w, uint32_t row);
void lc_merge_put_pause(struct lc_merge_writer *w, uint32_t row);
void lc_merge_put_trace(struct lc_merge_writer *w, uint32_t row);

#endif
