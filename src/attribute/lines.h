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

#endif
