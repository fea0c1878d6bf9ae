/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/lines.h - finds the cache lines that more than one thread touches.
 *
 * Between two collections an address means one object, so within an epoch the touches of a line
 * can be compared across threads. Lines that one thread touches alone are forgotten with their
 * epoch; the others go to the tallies of the threads that touched them.
 */
#ifndef LC_ATTRIBUTE_LINES_H
#define LC_ATTRIBUTE_LINES_H

#include <stdint.h>

#include "src/profile/profile_writer.h"

struct lc_counters;
struct lc_thread;

enum { LC_LINE_BYTES = 64 };

/*
 * Note a sample of `t` at `addr`; `row` is complete but for `line`. Context of all functions:
 * [writer].
 */
void lc_lines_touch(struct lc_thread *t, uint64_t addr, const struct lc_block_line *row);

/* Hand the rows of shared lines to the tallies, before blocks are written. */
void lc_lines_flush(void);

/* A collection ended the epoch: flush, then forget all lines. */
void lc_lines_close_epoch(void);

/*
 * Forget `t`, which has ended; its last block is about to be written. Its rows of shared lines go
 * to its tally, and nothing here refers to `t` any more.
 */
void lc_lines_forget(const struct lc_thread *t);

struct lc_lines_stats {
	uint64_t shared;  /* lines found to be shared, ever */
	uint64_t dropped; /* samples whose touch found no room, or was dropped to make room */
	uint64_t touches; /* held now */
};

void lc_lines_stats(struct lc_lines_stats *out);
void lc_lines_counters(struct lc_counters *out); /* Context: [writer]. */

#endif
