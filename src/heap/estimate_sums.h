/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/estimate_sums.h - adds up sampled allocations by thread and site until they go to a tally.
 *
 * An object that was sampled with a known chance counts for 1 / chance objects. Sums of independent
 * samples are unbiased estimates, and so are their variances. Context of all functions: any but
 * signal handlers; the caller keeps threads apart.
 */
#ifndef LC_HEAP_ESTIMATE_SUMS_H
#define LC_HEAP_ESTIMATE_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "src/profile/profile_writer.h"

/* The sums of one thread and site. */
struct lc_estimate_sum {
	uint32_t thread, site; /* site 0: free */
	uint64_t sampled;
	double objects, objects_variance, bytes, bytes_variance;
	double live[LC_LIVE_COLUMNS];
	double copied_bytes; /* by collections; each copy counts */
};

/* A table of sums. All zero: empty. */
struct lc_estimate_sums {
	struct lc_estimate_sum *slots; /* open addressing; cap is a power of two, or 0 */
	size_t len, cap;
};

/*
 * The chance that HotSpot samples an object of this size: its thread's sample points are
 * `interval_bytes` apart on average, exponentially distributed, and one falls into the object.
 */
double lc_estimate_chance(uint64_t size_bytes, uint64_t interval_bytes);

/* The sum of a thread and site, made if it is new; NULL without memory. */
struct lc_estimate_sum *lc_estimate_sum_of(struct lc_estimate_sums *s, uint32_t thread,
                                           uint32_t site);

/* Add a sampled object. */
void lc_estimate_sum_add(struct lc_estimate_sum *x, uint64_t size_bytes, double chance);

/* The sum as a row. Variances are rounded up, other numbers to the nearest. */
struct lc_block_estimate lc_estimate_sum_row(const struct lc_estimate_sum *x);

void lc_estimate_sums_free(struct lc_estimate_sums *s); /* leaves it empty */

#endif
