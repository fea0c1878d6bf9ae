/* SPDX-License-Identifier: Apache-2.0 */
/* base/sum.h - adds up counts that may come from a damaged file: sums never wrap. Context: any. */
#ifndef LC_BASE_SUM_H
#define LC_BASE_SUM_H

#include <stdint.h>

/* Add `more` to *sum, which stays at UINT64_MAX where it would pass that. */
static inline void lc_sum_add(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

/* Add to a sum with a sign, held as its 64 bits: it stays at the end that it would pass. */
static inline void lc_sum_add_signed(uint64_t *sum, int64_t more)
{
	int64_t v;

	if (__builtin_add_overflow((int64_t)*sum, more, &v))
		v = more < 0 ? INT64_MIN : INT64_MAX;
	*sum = (uint64_t)v;
}

#endif
