/* classfile/big_endian.h - big-endian fields and a growing buffer, for class files. */
#ifndef LC_CLASSFILE_BIG_ENDIAN_H
#define LC_CLASSFILE_BIG_ENDIAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/*
 * A buffer that grows. A failed allocation sets `failed`, drops what follows and is found
 * at the end, so that the writers in between need no checks. Zero-initialised is empty.
 */
struct lc_buf {
	uint8_t *data; /* malloc'ed; owner: the struct */
	size_t len;
	size_t cap;
	bool failed;
};

/* Make room for `more` bytes behind len. Returns false, and sets failed, without memory. */
static inline bool lc_buf_reserve(struct lc_buf *b, size_t more)
{
	size_t cap = b->cap ? b->cap : 256;
	uint8_t *data;

	if (more <= b->cap - b->len)
		return !b->failed;
	while (cap - b->len < more)
		cap *= 2;
	data = b->failed ? NULL : realloc(b->data, cap);
	if (!data) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->cap = cap;
	return true;
}

static inline void lc_buf_add(struct lc_buf *b, const void *bytes, size_t len)
{
	if (len && lc_buf_reserve(b, len)) {
		memcpy(b->data + b->len, bytes, len);
		b->len += len;
	}
}

static inline void lc_buf_add1(struct lc_buf *b, uint32_t v)
{
	uint8_t byte = (uint8_t)v;

	lc_buf_add(b, &byte, 1);
}

static inline void lc_buf_add2(struct lc_buf *b, uint32_t v)
{
	uint8_t bytes[2];

	lc_be_put2(bytes, v);
	lc_buf_add(b, bytes, sizeof(bytes));
}

static inline void lc_buf_add4(struct lc_buf *b, uint32_t v)
{
	uint8_t bytes[4];

	lc_be_put4(bytes, v);
	lc_buf_add(b, bytes, sizeof(bytes));
}

#endif
