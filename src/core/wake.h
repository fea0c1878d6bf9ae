/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/wake.h - Whoever fills a log or queues work wakes the attribution thread through this
 * header.
 *
 * It is on a low floor so that allocations, samples, spans and collections can all call it without
 * knowing the attribution thread.
 */
#ifndef LC_CORE_WAKE_H
#define LC_CORE_WAKE_H

#include <stdbool.h>
#include <stdint.h>

/* Make waking possible: lc_wake() does nothing before. Returns 0 or -errno. Context: [attach]. */
int lc_wake_init(void);

/*
 * There is work: a log fills up, an epoch is queued. Keeps errno. Context: any, [signal] included.
 */
void lc_wake(void);

/*
 * Sleep until somebody has called lc_wake() since the last time, at most `ns`. Returns whether
 * somebody has. Context: [writer].
 */
bool lc_wake_wait(uint64_t ns);

#endif
