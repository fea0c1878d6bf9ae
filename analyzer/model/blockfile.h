/* SPDX-License-Identifier: Apache-2.0 */
/* model/blockfile.h - reads one file of blocks, and skips its damaged parts. */
#ifndef LC_MODEL_BLOCKFILE_H
#define LC_MODEL_BLOCKFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/block_decoder.h"

/* Losses in damaged files. Add up over files. */
struct lc_damage {
	uint64_t blocks;    /* lost, as far as sequence numbers tell; at least 1 for a cut end */
	uint64_t bytes;     /* skipped */
	uint64_t undefined; /* of the blocks: whole, but names that they use were in lost ones */
	uint16_t newer;     /* version of a block that is too new to be read, or 0 */
};

struct lc_blockfile; /* opaque, see blockfile.c */

/*
 * Make a reader; it keeps its memory from file to file. Stops the program without memory.
 * Free it with lc_blockfile_free().
 */
struct lc_blockfile *lc_blockfile_create(void);
void lc_blockfile_free(struct lc_blockfile *f);

/* Bounds of a file's blocks. */
struct lc_blockfile_stats {
	uint64_t blocks;      /* read and counted */
	uint64_t last_end_ns; /* largest t_end_ns */
	uint32_t process;     /* of the last block, in the file's profile */
	uint64_t paths;       /* definitions of call paths */
	uint64_t bytes;       /* of the file */
};

/*
 * Add every block of the file at `path` to the target. Returns 0 or -errno of the file system;
 * damage is no error. Adds to *damage and *stats, except that last_end_ns and process are set.
 * Stops reading when target->stop becomes true.
 */
int lc_blockfile_read(struct lc_blockfile *f, const char *path, struct lc_block_target *target,
                      struct lc_damage *damage, struct lc_blockfile_stats *stats);

/* The same for a file in memory. */
void lc_blockfile_read_memory(struct lc_blockfile *f, const uint8_t *data, size_t len,
                              struct lc_block_target *target, struct lc_damage *damage,
                              struct lc_blockfile_stats *stats);

#endif
