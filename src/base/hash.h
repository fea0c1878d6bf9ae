/* SPDX-License-Identifier: Apache-2.0 */
/* base/hash.h - mixes numbers into hashes. Context: any. */
#ifndef LC_BASE_HASH_H
#define LC_BASE_HASH_H

#include <stdint.h>

/* 2^64 divided by the golden ratio: multiplying by it spreads neighbours far apart. */
#define LC_HASH_GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/*
 * The upper bits of the result depend on all bits of `x`, its lower ones do not: take those
 * from 32.
 */
static inline uint64_t lc_hash(uint64_t x)
{
	return x * LC_HASH_GOLDEN;
}

/* Hash a sequence, one word after the other; begin with any `h`. */
static inline uint64_t lc_hash_add(uint64_t h, uint64_t word)
{
	h = (h ^ word) * LC_HASH_GOLDEN;
	return h ^ h >> 29;
}

/* Hash a text, as lc_hash_add() does each of its bytes. */
static inline uint64_t lc_hash_text(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = lc_hash_add(h, (uint8_t)*text);
	return h;
}

#endif
