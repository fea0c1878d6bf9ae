/* model/block_decoder_impl.h - reads numbers of a payload, for decode.c and decode_spans.c. */
#ifndef LC_MODEL_BLOCK_DECODER_IMPL_H
#define LC_MODEL_BLOCK_DECODER_IMPL_H

#include <errno.h>

#include "analyzer/model/block_decoder.h"
#include "analyzer/model/slices.h"
#include "src/format/block.h"
#include "src/format/section.h"

/* What is left of a section. After an error every read gives 0. */
struct lc_reader {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
};

/* One pass over the counts of a block. */
struct lc_pass {
	struct lc_block_decoder *d;
	struct lc_block_target *target;
	uint32_t thread;            /* tree number; of a block of one thread only */
	bool all;                   /* a block of all threads */
	bool add;                   /* second pass */
	bool has_pairs;             /* the block's rows of samples say how many pairs they are */
	bool left_out;              /* the row that is read is of a process that does not count */
	uint32_t who[LC_SLICE_WHO]; /* of the tree's slices */
	struct lc_section_limits limits;                /* of the block's definitions */
	uint64_t seen[LC_ENGINES_MAX][LC_BUCKET_COUNT]; /* samples of the accesses */
	uint64_t offered[LC_ENGINES_MAX]; /* samples of the block, before any filter */
	/* Of rows without pairs: what of a pair each engine's rows of the section have left. */
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

	if (r->at < r->end && *r->at < 0x80) /* most are small */
		return *r->at++;
	if (lc_varint_get(&r->at, r->end, &v))
		lc_reader_fail(r);
	return r->bad ? 0 : v;
}

/* A number below `limit`. */
static inline uint32_t lc_take_below(struct lc_reader *r, uint64_t limit)
{
	uint64_t v = lc_take(r);

	if (v >= limit) {
		lc_reader_fail(r);
		return 0;
	}
	return (uint32_t)v;
}

/* The number of rows of a section: each takes at least `row_bytes`. */
static inline uint32_t lc_take_count(struct lc_reader *r, size_t row_bytes)
{
	return lc_take_below(r, (uint64_t)(r->end - r->at) / row_bytes + 1);
}

/* A section must have been used up. */
static inline int lc_reader_finish(const struct lc_reader *r)
{
	return r->bad || r->at != r->end ? -EBADMSG : 0;
}

static inline struct lc_reader lc_reader_of(const struct lc_block_decoder *d, enum lc_section type)
{
	return (struct lc_reader){ d->body[type], d->end[type], false };
}

/* A definition's number in the tree. */
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
 * A path's number in the tree, of one that may be missing: 0 is none, whatever paths begin below.
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

/* A number of the block, which is in range, as the tree has it. */
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
 * The pairs of a row of samples of an old block, which does not tell: as many as interrupts of the
 * mean weight bring. What is less than a pair goes to the section's next row. An interrupt of w
 * samples brings (w - 1) / 2 pairs for each of them.
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
 * The tree's row of the thread that a row is of: in a block of all threads the row begins with it.
 * Sets `left_out`; the row that is returned is no one's then.
 */
uint32_t lc_take_owner(struct lc_reader *r, struct lc_pass *p);

/*
 * Read `n` rows of a flat section, `owned` as lc_take_owner() says, in one pass. Returns false
 * where the section has no table, or filters or slices are to see each row: then nothing was read.
 */
bool lc_block_rows(struct lc_pass *p, struct lc_reader *r, uint32_t n, bool owned,
                   enum lc_section section);

/* Each reads one section in one pass. Returns 0 or -EBADMSG. */
int lc_block_spans(struct lc_pass *p);
int lc_block_trace(struct lc_pass *p);

#endif
