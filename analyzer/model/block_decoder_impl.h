/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/block_decoder_impl.h - reads numbers of a block's payload, for the files block_decoder*.c.
 */
#ifndef LC_MODEL_BLOCK_DECODER_IMPL_H
#define LC_MODEL_BLOCK_DECODER_IMPL_H

#include <errno.h>

#include "analyzer/model/block_decoder.h"
#include "analyzer/model/slices.h"
#include "src/format/block.h"
#include "src/format/section.h"

/* The unread rest of a section. After an error every read gives 0. */
struct lc_reader {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
};

/* One pass over the counts of a block. */
struct lc_pass {
	struct lc_block_decoder *d;
	struct lc_block_target *target;
	uint32_t thread;                 /* tree number, for a block of one thread */
	bool all;                        /* a block of all threads */
	bool add;                        /* second pass */
	bool has_pairs;                  /* the block stores pairs in its rows of samples */
	bool left_out;                   /* the current row's process does not count */
	uint32_t who[LC_SLICE_WHO];      /* key for the tree's slices */
	struct lc_section_limits limits; /* limits from the block's definitions */
	uint64_t seen[LC_ENGINES_MAX][LC_BUCKET_COUNT]; /* samples of accesses */
	uint64_t offered[LC_ENGINES_MAX];               /* samples of the block, unfiltered */
	/* For rows without pairs: the fraction of a pair left over, by engine, for the next row. */
	uint64_t left_milli[LC_ENGINES_MAX];
};

static inline void lc_reader_fail(struct lc_reader *r)
{
	r->bad = true;
	r->at = r->end;
}

static inline uint64_t lc_take(struct lc_reader *r)
{
	uint64_t v = 0;

	if (r->at < r->end && *r->at < 0x80) /* most numbers are small */
		return *r->at++;
	if (lc_varint_get(&r->at, r->end, &v))
		lc_reader_fail(r);
	return r->bad ? 0 : v;
}

/* Read a number below `limit`. */
static inline uint32_t lc_take_below(struct lc_reader *r, uint64_t limit)
{
	uint64_t v = lc_take(r);

	if (v >= limit) {
		lc_reader_fail(r);
		return 0;
	}
	return (uint32_t)v;
}

/* Read the number of rows of a section; a row takes at least `row_bytes`. */
static inline uint32_t lc_take_count(struct lc_reader *r, size_t row_bytes)
{
	return lc_take_below(r, (uint64_t)(r->end - r->at) / row_bytes + 1);
}

/* Check that the section was read to its end. */
static inline int lc_reader_finish(const struct lc_reader *r)
{
	return r->bad || r->at != r->end ? -EBADMSG : 0;
}

static inline struct lc_reader lc_reader_of(const struct lc_block_decoder *d, enum lc_section type)
{
	return (struct lc_reader){ d->body[type], d->end[type], false };
}

/* Read a definition's number and return its number in the tree. */
static inline uint32_t lc_take_id(struct lc_reader *r, struct lc_block_decoder *d,
                                  enum lc_section type)
{
	const uint32_t local = lc_take_below(r, d->ids_len[type]);
	const uint32_t id = r->bad ? 0 : d->ids[type][local];

	if (id != LC_LOST_DEFINITION)
		return id;
	d->lost = true;
	lc_reader_fail(r);
	return 0;
}

/*
 * Read the number of a path that may be missing and return its number in the tree. 0 means none,
 * wherever the block's paths begin.
 */
static inline uint32_t lc_take_path_or_none(struct lc_reader *r, struct lc_block_decoder *d)
{
	const uint32_t local = lc_take_below(r, d->ids_len[LC_SECTION_PATHS]);
	const uint32_t id = r->bad || !local ? 0 : d->ids[LC_SECTION_PATHS][local];

	if (id != LC_LOST_DEFINITION)
		return id;
	d->lost = true;
	lc_reader_fail(r);
	return 0;
}

/* Map a number of the block, which is in range, to the tree's number. */
static inline __attribute__((always_inline)) uint32_t
lc_tree_number(const struct lc_pass *p, enum lc_column_type type, uint64_t v)
{
	switch (type) {
	case LC_COLUMN_SITE:
	case LC_COLUMN_SITE_OR_0:
		return p->d->ids[LC_SECTION_SITES][v];
	case LC_COLUMN_PATH:
		return p->d->ids[LC_SECTION_PATHS][v];
	case LC_COLUMN_STRING:
		return p->d->ids[LC_SECTION_STRINGS][v];
	case LC_COLUMN_ENGINE:
		return p->target->engines[v];
	default:
		return (uint32_t)v;
	}
}

/*
 * Estimate the pairs of a row of samples of an old block, which does not store pairs. The result
 * assumes interrupts of mean weight: an interrupt of w samples brings (w - 1) / 2 pairs for each
 * sample. A fraction of a pair goes to the section's next row.
 */
static inline uint64_t lc_guess_pairs(struct lc_pass *p, uint64_t engine, uint64_t samples)
{
	const uint32_t weight_milli = p->target->weight_milli[engine];
	unsigned __int128 sum;

	if (weight_milli <= 1000)
		return 0;
	sum = (unsigned __int128)samples * (weight_milli - 1000) + p->left_milli[engine];
	p->left_milli[engine] = (uint64_t)(sum % 2000);
	sum /= 2000;
	return sum < UINT64_MAX ? (uint64_t)sum : UINT64_MAX;
}

/*
 * Decode the block's definitions into the tree, behind those of earlier blocks of its generation.
 * `root` is the tree's path for the root of the block's paths. Returns 0, or -EBADMSG.
 */
int lc_block_definitions(struct lc_block_decoder *d, const struct lc_block_header *h,
                         struct lc_tree *t, uint32_t root);

/* The block is not used, so its definitions are lost. */
void lc_block_lose_definitions(struct lc_block_decoder *d, const struct lc_block_header *h);

/*
 * The tree's row of the thread that a row is of: in a block of all threads the row begins with it.
 * Sets `left_out`; the row that is returned is no one's then.
 */
uint32_t lc_take_owner(struct lc_reader *r, struct lc_pass *p);

/*
 * Read `n` rows of a flat section in one pass. `owned`: each row begins with its owner. Returns
 * false and reads nothing if the section has no table, or if filters or slices must see each row.
 */
bool lc_block_rows(struct lc_pass *p, struct lc_reader *r, uint32_t n, bool owned,
                   enum lc_section section);

/* Read one section in one pass. Both return 0 or -EBADMSG. */
int lc_block_spans(struct lc_pass *p);
int lc_block_trace(struct lc_pass *p);

#endif
