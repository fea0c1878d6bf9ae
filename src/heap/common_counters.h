/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/common_counters.h - counts allocations of sites for all threads together, where the memory
 * limit has no room for a counter of the thread's own (core/memory.h).
 *
 * The counts of a site stay exact; only whose they are is not known. Any thread adds.
 *
 * Order:  C1  a block is stored (release) when it is zeroed -> it is loaded (acquire).
 */
#ifndef LC_HEAP_COMMON_COUNTERS_H
#define LC_HEAP_COMMON_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

/* One more object of the site. Returns false without memory. Context: [hook]. */
bool lc_common_counters_add(uint32_t site, uint64_t bytes);

/* Allocations of one site since the last call. */
struct lc_common_count {
	uint32_t site;
	uint64_t allocations, bytes;
};

/*
 * Set *out to the next site from *cursor on, which starts at 0, that has new allocations. Returns
 * false after the last. Context: [writer].
 */
bool lc_common_counters_take(uint32_t *cursor, struct lc_common_count *out);

/* All that was ever added. Context: any. */
void lc_common_counters_sum(uint64_t *allocations, uint64_t *bytes);

#endif
