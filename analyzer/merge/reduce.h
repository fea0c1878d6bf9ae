/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge/reduce.h - makes one profile of many with several threads, and if the caller wants with
 * several processes.
 *
 * In one process:
 *	r = lc_reduce_create(&options, paths, count);
 *	status = lc_reduce_open(r, output) || lc_reduce_scan(r) || lc_reduce_read(r, 0, 1) ||
 *	         lc_reduce_write(r);
 *	status = lc_reduce_end(r, status);
 *
 * In several processes (without keep_threads): each process creates the same inputs, scans its
 * share, tells all others, and reads its share. Each passes its result to another process, by
 * lc_reduce_pack() and lc_reduce_add(), until one process has all. That one opens the output,
 * writes and ends. The result's bytes do not depend on the shares, on the order of the inputs, or
 * on the number of threads.
 *
 * Memory: the result, a tree of LC_REDUCE_TREE_BYTES for each thread and one more, and a block for
 * each thread. Context: the analyzer; the threads are the module's own.
 */
#ifndef LC_MERGE_REDUCE_H
#define LC_MERGE_REDUCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/merge/asked.h"
#include "src/base/bytes.h"

#define LC_REDUCE_TREE_BYTES                                                                       \
	((size_t)64 << 20) /* beyond it a thread's tree is added to the result */

struct lc_reduce_options {
	struct lc_merge_asked asked;
	bool keep_threads; /* each thread's paths stay apart */
	unsigned jobs;     /* threads; 0: as many as there are CPUs for us */
	/*
	 * Call paths below this share of all that was counted are folded (model/tree_prune.h); 0:
	 * none. Not with keep_threads.
	 */
	double prune;
	/*
	 * Memory for everything; 0: no limit. A result that would need more is pruned on the way,
	 * and then depends on the order of reading. Without `prune` the merge fails instead.
	 */
	uint64_t max_memory_bytes;
};

struct lc_reduce; /* opaque, see reduce.c */

/* Sums over the work that was done. */
struct lc_reduce_stats {
	uint64_t files;  /* of blocks, read */
	uint64_t blocks; /* read and counted */
	uint64_t
	    paths; /* definitions of call paths that were read: nodes of calling context trees */
	uint64_t bytes; /* of the files */
};

/* The paths stay the caller's. Stops the program without memory. Free with lc_reduce_free(). */
struct lc_reduce *lc_reduce_create(const struct lc_reduce_options *o, char **paths, size_t count);
void lc_reduce_free(struct lc_reduce *r);

/*
 * End what is under way soon: lc_reduce_read() and lc_reduce_write() return 1 then, without a line.
 * Context: any, and signal handlers.
 */
void lc_reduce_stop(void);

/* Read all manifests. Returns 0, or 1 after lines on stderr where nothing can be merged. */
int lc_reduce_scan(struct lc_reduce *r);

/*
 * The same in several processes: each scans its share of the inputs, packs it, and adds what the
 * others have packed; then each plans. lc_reduce_scan() is both for a process alone. Each returns
 * 0, or 1 after a line on stderr, but for lc_reduce_plan() where nothing can be merged:
 * lc_reduce_end() says so. lc_reduce_pack_scan() appends to *out the share that was scanned last.
 */
int lc_reduce_scan_share(struct lc_reduce *r, unsigned share, unsigned of);
int lc_reduce_pack_scan(const struct lc_reduce *r, struct lc_bytes *out);
int lc_reduce_add_scan(struct lc_reduce *r, const uint8_t *data, size_t len);
int lc_reduce_plan(struct lc_reduce *r);

/*
 * Prune what is added up, where `prune` is not 0: on the way, which makes what is packed smaller
 * and the bound of what a path may lack larger by one share. lc_reduce_write() prunes anyway.
 */
void lc_reduce_prune(struct lc_reduce *r);

/* Read share number `share` of `of` of the blocks. Returns 0, or 1 after a line on stderr. */
int lc_reduce_read(struct lc_reduce *r, unsigned share, unsigned of);

/*
 * Append to *out what was read so far, which is then no longer here. Returns 0, or 1 after a line
 * on stderr.
 */
int lc_reduce_pack(struct lc_reduce *r, struct lc_bytes *out);

/* Add what another process packed, of the same inputs. Returns 0, or 1 after a line on stderr. */
int lc_reduce_add(struct lc_reduce *r, const uint8_t *data, size_t len);

/*
 * Make directory `output`, or take an empty one: before lc_reduce_read() where threads are kept,
 * else before lc_reduce_write(). It stays the caller's. Returns 0, or 1 after a line on stderr.
 */
int lc_reduce_open(struct lc_reduce *r, const char *output);

/* Write the profile. Returns 0, or 1 after a line on stderr. */
int lc_reduce_write(struct lc_reduce *r);

/*
 * Print what is wrong with inputs, in their order; remove the output where it is not whole. Returns
 * the exit status, where `status` is not 0 if a step before has failed.
 */
int lc_reduce_end(struct lc_reduce *r, int status);

struct lc_reduce_stats lc_reduce_stats(const struct lc_reduce *r);

#endif
