/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge/spool.h - keeps the blocks of single threads until all are read and can be ordered, for
 * `locus merge --keep-threads`.
 *
 * A worker appends the blocks of each thread to a file of its own. In the end the threads of a
 * process are copied, in order, to files of up to 32 neighbours each, as the agent writes them.
 */
#ifndef LC_MERGE_SPOOL_H
#define LC_MERGE_SPOOL_H

#include "analyzer/merge/output.h"
#include "analyzer/model/merge_writer.h"

/* The blocks of a thread. */
struct lc_merge_piece {
	uint32_t process, index;
	uint64_t unit; /* where it was read: tells pieces of one thread apart */
	FILE *file;
	uint64_t at, bytes; /* in it */
	uint32_t blocks;
};

/* The spool of one worker. */
struct lc_merge_spool {
	char *name;
	FILE *file; /* NULL: nothing was kept */
	uint64_t bytes;
	struct lc_merge_piece *pieces;
	size_t len, cap;
};

/* Keep the blocks of *t, which has one thread. Returns 0, or 1 after a line on stderr. */
int lc_merge_spool_put(struct lc_merge_spool *s, struct lc_merge_output *o, unsigned worker,
                       uint64_t unit, struct lc_merge_writer *w, const struct lc_tree *t);

/*
 * Make the files of all threads that the spools hold, add the number of blocks to *blocks, and
 * remove the spools. Returns 0, or 1 after a line on stderr.
 */
int lc_merge_spools_write(struct lc_merge_spool *const *spools, size_t len,
                          struct lc_merge_output *o, uint64_t *blocks);

#endif
