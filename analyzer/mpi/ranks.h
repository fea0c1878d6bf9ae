/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi/ranks.h - runs a merge on all ranks: each reads its share, and a tree of ranks with root 0
 * adds up the results.
 */
#ifndef LC_MPI_RANKS_H
#define LC_MPI_RANKS_H

#include <stdbool.h>

#include "analyzer/merge/reduce.h"
#include "analyzer/mpi/timings.h"

struct lc_ranks {
	int rank, size;  /* this one, and how many there are */
	int fan_in;      /* so many partial results become one: 2 or more */
	bool prune_each; /* at each step, not in the end alone */
	/* Set by lc_ranks_reduce(): */
	struct lc_reduce_stats read; /* by this rank, of its share */
	struct lc_timings timings;   /* the owner of the struct frees `received` */
};

/*
 * Have all ranks read the manifests and the blocks of *r, and add up at rank 0 what they have read.
 * All ranks call it, with the same inputs. Returns 0 at each rank or not 0 at each, after a line on
 * stderr of one of them, unless nothing can be merged: lc_reduce_end() says so.
 */
int lc_ranks_reduce(struct lc_ranks *x, struct lc_reduce *r);

#endif
