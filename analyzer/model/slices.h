/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/slices.h - keeps samples and allocations by thread and time, for a page whose reader
 * chooses threads and a stretch of time. The tree sums over both.
 *
 * The time of a count is that of its block: the agent writes a block per thread and second. Merged
 * profiles know neither thread nor time.
 */
#ifndef LC_MODEL_SLICES_H
#define LC_MODEL_SLICES_H

#include <stdint.h>

#include "analyzer/base/table.h"
#include "src/format/block.h"
#include "src/format/section.h"

/* An epoch: a process, and the time in which blocks were written. The key holds the end. */
enum { LC_EPOCH_PROCESS, LC_EPOCH_END, LC_EPOCH_END_HIGH, LC_EPOCH_KEY };
enum { LC_EPOCH_BEGIN_NS, LC_EPOCH_VALUES };

/* Columns of thread and time: row of the tree's threads + 1, row of epochs + 1; 0 is unknown. */
enum { LC_SLICE_THREAD1, LC_SLICE_EPOCH1, LC_SLICE_WHO };

/* Samples of a bucket. */
enum { LC_TOTAL_ENGINE = LC_SLICE_WHO, LC_TOTAL_BUCKET, LC_TOTAL_KEY };

/* Samples of an access: the columns of a total, and: */
enum { LC_SAMPLED_SITE = LC_TOTAL_KEY, LC_SAMPLED_PATH, LC_SAMPLED_KEY };
enum {
	LC_SAMPLED_SAMPLES,
	LC_SAMPLED_LATENCY, /* sum, in cycles */
	LC_SAMPLED_PLACED,  /* samples with known nodes of CPU and page */
	LC_SAMPLED_REMOTE,  /* placed samples whose two nodes differ */
	LC_SAMPLED_VALUES
};

enum { LC_MADE_AT_SITE = LC_SLICE_WHO, LC_MADE_AT_KEY };
enum {
	LC_MADE_AT_OBJECTS,
	LC_MADE_AT_BYTES,
	LC_MADE_AT_ESTIMATED_MILLI, /* estimate, in thousandths of an object */
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
 * Set `who` to the thread and epoch of a block of one thread. `thread` is a row of the tree's
 * threads, `process` a number of the load. For a block of all threads both columns are 0.
 */
void lc_slices_of_block(struct lc_slices *s, uint32_t process, uint32_t thread,
                        const struct lc_block_header *h, uint32_t who[LC_SLICE_WHO]);

/* Add samples of a bucket. */
void lc_slices_add_total(struct lc_slices *s, const uint32_t who[LC_SLICE_WHO], uint32_t engine,
                         uint32_t bucket, uint64_t samples);

/*
 * Add a row of a section, if slices keep that section. `key` is the tree's key without an owner, or
 * the site for ALLOCATIONS. `v` are the values.
 */
void lc_slices_add(struct lc_slices *s, const uint32_t who[LC_SLICE_WHO], enum lc_section section,
                   const uint32_t *key, const uint64_t *v);

/* Replace each path and site by its entry in `paths` and `sites`: see lc_tree_renumber(). */
void lc_slices_renumber(struct lc_slices *s, const uint32_t *paths, const uint32_t *sites);

#endif
