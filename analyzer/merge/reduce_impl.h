/* SPDX-License-Identifier: Apache-2.0 */
/* merge/reduce_impl.h - declares the state of a merge, which reduce.c and its parts share. */
#ifndef LC_MERGE_REDUCE_IMPL_H
#define LC_MERGE_REDUCE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "analyzer/merge/inputs.h"
#include "analyzer/merge/output.h"
#include "analyzer/merge/reduce.h"
#include "analyzer/merge/spool.h"
#include "analyzer/model/tree.h"

/* A file of blocks. */
struct lc_reduce_file {
	uint32_t input, part, file; /* in lc_merge_inputs */
};

/* The files that a worker reads at once: files[first] and the following. */
struct lc_reduce_unit {
	size_t first, len;
};

struct lc_reduce {
	struct lc_reduce_options options;
	struct lc_merge_inputs inputs;
	struct lc_reduce_file *files;
	struct lc_reduce_unit *units;
	size_t units_len;
	struct lc_merge_output output;
	struct lc_merge_spool *spools; /* of each worker */
	bool begun;                    /* the output's directory is there */
	bool kept;                     /* a thread's blocks are in a spool, and have counts */

	_Atomic size_t next; /* of the inputs or units that nobody has taken; each is taken once */
	size_t share, end, step; /* of a share: every step-th one */
	_Atomic bool failed;     /* a worker has said why */

	pthread_mutex_t lock; /* of all below, and of what workers write in `inputs` */
	struct lc_tree tree;  /* what is added up, where `full` */
	bool full;
	unsigned
	    prunes; /* how often it was pruned, with those of the trees that were added to it */
	struct lc_reduce_stats stats;
	uint64_t new_sections;
	uint64_t not_apart; /* blocks that --where or --by must divide and cannot */
};

/* Set by lc_reduce_stop(). */
extern _Atomic bool lc_reduce_stopped;

/* Call `work` in as many threads as are wanted, with their numbers. Returns whether one has failed.
 */
bool lc_reduce_run(struct lc_reduce *r, void (*work)(struct lc_reduce *r, unsigned worker));

/* The number of threads. */
unsigned lc_reduce_jobs(const struct lc_reduce *r);

/* Read the files of a share: what workers do. */
void lc_reduce_work(struct lc_reduce *r, unsigned worker);

/* Add *t, which becomes empty, to what is added up. Fails where that takes too much memory. */
void lc_reduce_give(struct lc_reduce *r, struct lc_tree *t);

/*
 * How large a worker's tree may become: all of them an eighth of the memory. The result may have a
 * third, since arrays that grow take twice what they need; where it is pruned an eighth, since
 * there are two of it then.
 */
size_t lc_reduce_tree_bytes(const struct lc_reduce *r);

#endif
