/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/sample_log.h - brings samples from a thread's signal handlers to the attribution thread.
 */
#ifndef LC_SAMPLE_SAMPLE_LOG_H
#define LC_SAMPLE_SAMPLE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/core/record.h"

struct lc_sample_log; /* opaque: a byte ring, one producer, one consumer */

enum { LC_SAMPLE_LOG_MIN_BYTES = 4096, LC_SAMPLE_LOG_MAX_BYTES = 1 << 30 };

/*
 * `size_bytes`: a power of two, LC_SAMPLE_LOG_MIN_BYTES to LC_SAMPLE_LOG_MAX_BYTES; memory is
 * mapped, and touched only as it is used. Returns 0 and sets *out, or -EINVAL or -ENOMEM.
 * Context: [attach] [java].
 */
int lc_sample_log_create(size_t size_bytes, struct lc_sample_log **out);

/* Make it as if new, for another owner. Context: any thread, after the last put, peek and drop. */
void lc_sample_log_reset(struct lc_sample_log *log);

/* NULL is allowed. Context: any thread, after the last put, peek and drop. */
void lc_sample_log_destroy(struct lc_sample_log *log);

/*
 * Append *head and its `frames_len` frames (none where it is <= 0). Returns 0, or -EAGAIN when
 * there is no room or when a handler lands inside an append of its own thread; every -EAGAIN is
 * counted.
 * Context: [signal], owner thread only. Wait-free, errno kept.
 */
int lc_sample_log_put(struct lc_sample_log *log, const struct lc_sample *head,
                      const uint64_t *frames);

/* Is at least half of the room taken? Context: [signal], owner thread only. */
bool lc_sample_log_half_full(const struct lc_sample_log *log);

/*
 * Oldest sample, or NULL. Valid until lc_sample_log_drop(). Never wraps inside a record.
 * Context: [writer].
 */
const struct lc_sample *lc_sample_log_peek(struct lc_sample_log *log);

/* Drop the sample of the last peek; do nothing if that was NULL. Context: [writer]. */
void lc_sample_log_drop(struct lc_sample_log *log);

uint64_t lc_sample_log_lost(const struct lc_sample_log *log); /* Context: tests. */

#endif
