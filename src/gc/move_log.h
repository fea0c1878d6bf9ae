/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc/move_log.h - logs copies all the time, for collectors that move objects while the program
 * runs.
 *
 * Every copy within the heap of at least `min_bytes` is noted with the time, before it is made. The
 * copier is unknown: the collector, a thread of the program in a load barrier, or
 * `System.arraycopy`. So a record is a move only if an object of that size begins at its source. If
 * one object was copied twice, one copy may not have become the object.
 *
 * Order:  M1  a record's fields are stored, then its `time` (release) -> the reader loads it
 *             (acquire). Effects of the copy in any thread come later, so a reader that has seen an
 *             effect sees the record.
 *         M2  a chunk's successor is stored (release) -> the reader loads it (acquire).
 *         M3  a chunk is pushed on the free list (release) -> it is popped (acquire).
 */
#ifndef LC_GC_MOVE_LOG_H
#define LC_GC_MOVE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lc_timed_move {
	uint64_t time_ns; /* CLOCK_MONOTONIC, before the copy */
	uint64_t src, dst;
	uint64_t size_bytes;
};

/* Reserve the log's memory. Returns 0 or -errno. Called again, it does nothing. [attach] */
int lc_move_log_init(void);

/* Undo it. Context: tests, no other call is running. */
void lc_move_log_destroy(void);

/* Note a copy that is about to be made. Context: any thread, not in handlers. */
void lc_move_log_put(uint64_t dst, uint64_t src, uint64_t size_bytes);

/*
 * Give each record that is not taken yet to `use`, in no order. Context: [writer].
 */
void lc_move_log_take(void (*use)(void *user, const struct lc_timed_move *move), void *user);

/* Was any copy noted since the last call? Context: [gc]. */
bool lc_move_log_any(void);

/* Copies that found no room, ever. Context: any. */
uint64_t lc_move_log_lost(void);

#endif
