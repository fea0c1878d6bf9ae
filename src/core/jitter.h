/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/jitter.h - draws random numbers for the distances between samples, so that no rhythm of
 * the program keeps step with sampling.
 *
 * Each thread has a generator of its own for each engine; that of allocations is used under a lock.
 */
#ifndef LC_CORE_JITTER_H
#define LC_CORE_JITTER_H

#include <stdbool.h>
#include <stdint.h>

/* A generator. Used by one thread at a time. */
struct lc_jitter {
	uint64_t state; /* 0: nothing is random */
};

/* Begin with `seed`. The same seed gives the same numbers. Context: any. */
void lc_jitter_begin(struct lc_jitter *j, uint64_t seed);

/* A seed for thread `tid`, another one each time. Context: any. */
uint64_t lc_jitter_seed(int32_t tid);

/* A number below `limit`; 0 where nothing is random. Context: [signal]. */
uint64_t lc_jitter_below(struct lc_jitter *j, uint64_t limit);

/*
 * A number from `mean` - `spread` to `mean` + `spread`, each as likely; `spread` < `mean`. It is
 * `mean` where nothing is random. Context: [signal].
 */
uint64_t lc_jitter_around(struct lc_jitter *j, uint64_t mean, uint64_t spread);

#endif
