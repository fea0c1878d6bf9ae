/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/path_times.h - remembers roughly when each call path had samples. So a call that a program
 * makes again and again is told from one that takes long once: only the first has samples in
 * between that are not below the call.
 *
 * A path has a bit for each of 64 stretches of the recording. A stretch has a second at first, and
 * twice as much when the recording is longer than all stretches.
 */
#ifndef LC_MODEL_PATH_TIMES_H
#define LC_MODEL_PATH_TIMES_H

#include <stddef.h>
#include <stdint.h>

struct lc_path_times {
	uint64_t *bits; /* by number of the path */
	size_t cap;
	uint64_t begin_ns, stretch_ns; /* 0: no block was read */
	uint64_t now;                  /* the bit of the block that is read; 0: it has no time */
};

void lc_path_times_free(struct lc_path_times *t);

/* Begin a block that ended at `end_ns`; 0: a merged block, whose samples have no time. */
void lc_path_times_block(struct lc_path_times *t, uint64_t end_ns);

/* The path has samples of the block. */
void lc_path_times_seen(struct lc_path_times *t, uint32_t path);

/* The stretches in which samples ended at the path, as bits; 0: none, or they are not known. */
uint64_t lc_path_times_of(const struct lc_path_times *t, uint32_t path);

/* Replace each of `count` paths by its entry in `paths`, and join paths that become equal. */
void lc_path_times_renumber(struct lc_path_times *t, const uint32_t *paths, uint32_t count);

#endif
