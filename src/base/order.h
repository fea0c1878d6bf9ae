/* SPDX-License-Identifier: Apache-2.0 */
/* base/order.h - compares numbers for qsort() and bsearch(), and computes shares. Context: any. */
#ifndef LC_BASE_ORDER_H
#define LC_BASE_ORDER_H

#include <stdint.h>

/* Below, at or above 0 as a is less than b, equal to it, or greater. */
static inline int lc_order_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* part / whole, 0 for 0 / 0. */
static inline double lc_share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

#endif
