/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/attribution_impl.h - declares what the parts of attribute/attribution.h share. No other
 * file includes it.
 *
 * attribution.c runs the thread and decides when it looks at the logs and when it writes.
 * attribution_epochs.c brings the map from one collection to the next, and resolves the samples of
 * the open epoch. attribution_blocks.c takes what threads have counted and writes it into blocks.
 * attribution_ended.c frees the records of threads that have ended.
 *
 * All functions run on the attribution thread. Context: [writer].
 */
#ifndef LC_ATTRIBUTE_ATTRIBUTION_IMPL_H
#define LC_ATTRIBUTE_ATTRIBUTION_IMPL_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/attribute/attribution.h"

struct lc_map;
struct lc_thread;

/* lc_attribution_start() sets it before the thread runs; from then on it is the thread's own. */
struct lc_attribution_state {
	struct lc_attribution_config config;
	struct lc_map *map;
	JNIEnv *jni;
	uint32_t open_epoch;
	uint64_t block_begin_ns;
	bool appended; /* a block was written since the last manifest */
	struct lc_attribution_stats stats;
};
extern struct lc_attribution_state lc_attribution;

/* ---- attribution_epochs.c ---- */

/* Resolve the samples of the epochs that collections have ended, and carry the map over them. */
void lc_attribution_close_epochs(void);

/* Resolve the samples of the open epoch that were taken until `until_ns`. */
void lc_attribution_resolve_open(uint64_t until_ns);

/* Look at some more headers of objects in doubt, if there are any. */
void lc_attribution_check_headers(void);

/* Note what stays. `now`: also what there is at this time; `last`: and what is younger. */
void lc_attribution_note_live(uint64_t now_ns, bool now, bool last);

/*
 * Keep the records of a thread whose log is freed next: those of the open epoch, or all that are
 * left if there are no epochs. Returns 0 or -ENOMEM.
 */
int lc_attribution_adopt(struct lc_thread *t);

/* ---- attribution_blocks.c ---- */

/* On NUMA machines: allocations in a window of time are shared out to the nodes of its samples. */
void lc_attribution_end_numa_windows(void);

/* Write a block of each thread, and those of all threads together. */
void lc_attribution_write_blocks(uint64_t end_ns, bool last);

/* Write a thread's last block. Notes a limit if that fails. */
void lc_attribution_write_last(struct lc_thread *t, uint64_t end_ns);

/*
 * The number of traces has no bound, so write as many blocks as they need. The loop has a bound,
 * since the thread may go on to trace.
 */
void lc_attribution_take_traces(struct lc_thread *t, uint64_t now_ns);

/* ---- attribution_ended.c ---- */

/* Free the records of threads that have ended, once nothing refers to them. */
void lc_attribution_reap(uint64_t now_ns);

#endif
