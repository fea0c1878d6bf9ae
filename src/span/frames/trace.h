/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/frames/trace.h - carries single spans from their threads to the attribution thread, for
 * --trace.
 *
 * Each thread has a list of chunks. The owner appends and adds chunks, the attribution thread reads
 * and frees them. All threads' chunks have a common bound, beyond which spans are lost, and
 * counted. Times are in ticks of the TSC until lc_span_take_traces() converts them to ns.
 */
#ifndef LC_SPAN_FRAMES_TRACE_H
#define LC_SPAN_FRAMES_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/profile/profile_writer.h"

enum {
	LC_TRACE_CHUNK_ROWS = 1 << 12,
	LC_TRACE_CHUNKS_MAX = 1 << 8, /* 128 MB, beside the first chunk of each thread */
};

struct lc_trace_log; /* opaque */

/* Returns 0 or -ENOMEM. Context: [hook]; slow, once a thread. */
int lc_trace_log_create(struct lc_trace_log **out);
void lc_trace_log_destroy(struct lc_trace_log *l);

/* Append a row. Returns whether many rows wait. Context: [hook], owner; allocates once a chunk. */
bool lc_trace_log_put(struct lc_trace_log *l, const struct lc_block_trace *row);

/* Take the oldest row. Returns false if there is none. Context: [writer]. */
bool lc_trace_log_take(struct lc_trace_log *l, struct lc_block_trace *out);

/* Rows that found no room; rows that were not taken yet. Context: [writer]. */
uint64_t lc_trace_log_lost(const struct lc_trace_log *l);
uint64_t lc_trace_log_left(const struct lc_trace_log *l);

#endif
