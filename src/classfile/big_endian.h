/* SPDX-License-Identifier: Apache-2.0 */
/* classfile/big_endian.h - reads and writes the big-endian numbers of class files. */
#ifndef LC_CLASSFILE_BIG_ENDIAN_H
#define LC_CLASSFILE_BIG_ENDIAN_H

#include <stdint.h>

#include "src/base/bytes.h"

static inline uint16_t lc_be_get2(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t lc_be_get4(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline int16_t lc_be_get2s(const uint8_t *p)
{
	return (int16_t)lc_be_get2(p);
}

static inline int32_t lc_be_get4s(const uint8_t *p)
{
	return (int32_t)lc_be_get4(p);
}

static inline void lc_be_put2(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline void lc_be_put4(uint8_t *p, uint32_t v)
{
	lc_be_put2(p, v >> 16);
	lc_be_put2(p + 2, v);
}

/* Append the lowest byte of `v`, its lowest two bytes, or `v` to *b. */
static inline void lc_be_add1(struct lc_bytes *b, uint32_t v)
{
	uint8_t byte = (uint8_t)v;

	lc_bytes_add(b, &byte, 1);
}

static inline void lc_be_add2(struct lc_bytes *b, uint32_t v)
{
	uint8_t bytes[2];

	lc_be_put2(bytes, v);
	lc_bytes_add(b, bytes, sizeof(bytes));
}

static inline void lc_be_add4(struct lc_bytes *b, uint32_t v)
{
	uint8_t bytes[4];

	lc_be_put4(bytes, v);
	lc_bytes_add(b, bytes, sizeof(bytes));
}

#endif
