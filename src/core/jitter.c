/* SPDX-License-Identifier: Apache-2.0 */
/* core/jitter.c - a xorshift generator, and what is drawn with it. */
#include "src/core/jitter.h"

#include "src/base/time.h"

__extension__ typedef unsigned __int128 lc_u128;

void lc_jitter_begin(struct lc_jitter *j, uint64_t seed)
{
	uint64_t x = seed + LC_HASH_GOLDEN;

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	x ^= x >> 31;
	j->state = x ? x : LC_HASH_GOLDEN;
}

uint64_t lc_jitter_seed(int32_t tid)
{
	/* The time is hashed: two times may differ by just the bits in which two numbers do. */
	return lc_hash_add(lc_hash(lc_time_now_ns()), (uint32_t)tid);
}

uint64_t lc_jitter_below(struct lc_jitter *j, uint64_t limit)
{
	uint64_t x = j->state;

	if (!x)
		return 0;
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	j->state = x;
	x *= UINT64_C(0x2545f4914f6cdd1d);
	return (uint64_t)((lc_u128)x * limit >> 64);
}

uint64_t lc_jitter_around(struct lc_jitter *j, uint64_t mean, uint64_t spread)
{
	if (!j->state)
		return mean;
	return mean - spread + lc_jitter_below(j, 2 * spread + 1);
}
