/*
 * model/slices.h - slices keep which thread sampled and allocated what, and when, for a page whose
 * reader chooses threads and a stretch of time. The tree adds both up.
 *
 * The time of a count is that of its block: the agent writes one for each thread each second. In a
 * merged profile neither is known.
 */
#ifndef LC_MODEL_SLICES_H
#define LC_MODEL_SLICES_H

#include <stdint.h>

#include "analyzer/base/table.h"
#include "src/format/block.h"
#include "src/format/section.h"

/* A stretch of time in which blocks were written: a process, and the end of the blocks. */
enum { LC_EPOCH_PROCESS, LC_EPOCH_END, LC_EPOCH_END_HIGH, LC_EPOCH_KEY };
enum { LC_EPOCH_BEGIN_NS, LC_EPOCH_VALUES };

/* Who and when: row of the tree's threads + 1, row of epochs + 1; 0 is unknown. */
enum { LC_SLICE_THREAD1, LC_SLICE_EPOCH1, LC_SLICE_WHO };

/* All samples of a bucket. */
enum { LC_TOTAL_ENGINE = LC_SLICE_WHO, LC_TOTAL_BUCKET, LC_TOTAL_KEY };

/* Samples of an access; LC_TOTAL_ENGINE and so on, then: */
enum { LC_SAMPLED_SITE = LC_TOTAL_KEY, LC_SAMPLED_PATH, LC_SAMPLED_KEY };
enum {
	LC_SAMPLED_SAMPLES,
	LC_SAMPLED_LATENCY, /* sum, in cycles */
	LC_SAMPLED_PLACED,  /* of the samples: the nodes of CPU and page are known */
	LC_SAMPLED_REMOTE,  /* of these: they differ */
	LC_SAMPLED_VALUES
};

enum { LC_MADE_AT_SITE = LC_SLICE_WHO, LC_MADE_AT_KEY };
enum {
	LC_MADE_AT_OBJECTS,
	LC_MADE_AT_BYTES,
	LC_MADE_AT_ESTIMATED_MILLI, /* objects that are not tracked, in thousandths */
	LC_MADE_AT_ESTIMATED_BYTES,
	LC_MADE_AT_VALUES
};

struct lc_slices {
	struct lc_table epochs;
	struct lc_table totals; /* value: samples */
	struct lc_table sampled;
	struct lc_table made;
};

void lc_slices_init(struct lc_slices *s);
void lc_slices_free(struct lc_slices *s);

/*
 * Who and when the counts of a block are of; `thread` is a row of the tree's threads, `process` a
 * number of the load's. A block of all threads has neither: both are 0.
 */
void lc_slices_of_block(struct lc_slices *s, uint32_t process, uint32_t thread,
                        const struct lc_block_header *h, uint32_t who[LC_SLICE_WHO]);

/* Samples of a bucket. */
void lc_slices_add_total(struct lc_slices *s, const uint32_t who[LC_SLICE_WHO], uint32_t engine,
                         uint32_t bucket, uint64_t samples);

/*
 * A row of a section that has one: `key` as it stands in the tree's table, without an owner; of
 * ALLOCATIONS, which has none, the site. `v` are its values. Rows of other sections are left out.
 */
void lc_slices_add(struct lc_slices *s, const uint32_t who[LC_SLICE_WHO], enum lc_section section,
                   const uint32_t *key, const uint64_t *v);

/* Each path and site counts for the one in `paths` and `sites` from now on: see lc_tree_renumber().
 */
void lc_slices_renumber(struct lc_slices *s, const uint32_t *paths, const uint32_t *sites);

#endif
