/* model/decode_impl.h - what the files that decode a payload share: decode.c, decode_rows.c, decode_spans.c. */
#ifndef LC_MODEL_DECODE_IMPL_H
#define LC_MODEL_DECODE_IMPL_H

#include <errno.h>

#include "analyzer/model/decode.h"
#include "src/format/block.h"

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
	uint32_t thread; /* tree number; of a block of one thread only */
	bool all;        /* a block of all threads */
	bool add;        /* second pass */
	uint64_t seen[LC_ENGINES_MAX][LC_BUCKET_COUNT]; /* samples of the accesses */
};

static inline void lc_reader_fail(struct lc_reader *r)
{
	r->bad = true;
	r->at = r->end;
}

static inline uint64_t lc_take(struct lc_reader *r)
{
	uint64_t v = 0;

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

/* A row of a definition in the block: its number in the tree. */
static inline uint32_t lc_take_id(struct lc_reader *r, const struct lc_block_decoder *d,
                                  enum lc_section type)
{
	uint32_t local = lc_take_below(r, d->ids_len[type]);

	return r->bad ? 0 : d->ids[type][local];
}

static inline uint32_t lc_take_engine(struct lc_reader *r, const struct lc_pass *p)
{
	return lc_take_below(r, p->target->engines_len);
}

/* Sums never wrap: a sum that would stays at the top. */
static inline void lc_sum_add(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

/* Likewise a sum with a sign, which stays at the end that it would pass. */
static inline void lc_sum_add_signed(uint64_t *sum, int64_t more)
{
	int64_t v;

	if (__builtin_add_overflow((int64_t)*sum, more, &v))
		v = more < 0 ? INT64_MIN : INT64_MAX;
	*sum = (uint64_t)v;
}

/* The tree's row of a thread; `name` of a later block replaces that of an earlier one. */
uint32_t lc_pass_thread(struct lc_block_target *target, uint32_t process, uint32_t index,
                        uint32_t tid, uint32_t name);

/* engine; bucket; site; path: four columns of a key. The engine is the block's. */
void lc_take_place(struct lc_reader *r, const struct lc_pass *p, uint32_t *columns);

/* process; thread_index, in a block of all threads: the tree's row of the thread. */
uint32_t lc_take_thread(struct lc_reader *r, const struct lc_pass *p);

/* Each reads one section in one pass. Returns 0 or -EBADMSG. */
int lc_block_fields(struct lc_pass *p);
int lc_block_metrics(struct lc_pass *p);
int lc_block_lines(struct lc_pass *p);
int lc_block_merged_lines(struct lc_pass *p);
int lc_block_estimates(struct lc_pass *p);
int lc_block_splits(struct lc_pass *p);
int lc_block_placements(struct lc_pass *p);
int lc_block_nodes(struct lc_pass *p);
int lc_block_homes(struct lc_pass *p);
int lc_block_spans(struct lc_pass *p);
int lc_block_tasks(struct lc_pass *p);
int lc_block_span_accesses(struct lc_pass *p);
int lc_block_timeline(struct lc_pass *p);
int lc_block_pauses(struct lc_pass *p);
int lc_block_trace(struct lc_pass *p);

#endif
