/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/bytes.h - collects bytes in an array that grows: blocks of the profile, and class files.
 *
 * Context: any thread that may call malloc(). One thread at a time uses an array.
 */
#ifndef LC_BASE_BYTES_H
#define LC_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * All zero is an empty array. After a failed allocation `failed` is set and additions do nothing,
 * so that a writer checks once, at its end.
 */
struct lc_bytes {
	uint8_t *data; /* from malloc(); the owner of the struct frees it */
	size_t len;
	size_t cap;
	bool failed;
};

/*
 * Make room for `more` bytes behind the last one. Returns false, and sets `failed`, without memory.
 */
static inline bool lc_bytes_reserve(struct lc_bytes *b, size_t more)
{
	size_t cap = b->cap ? b->cap : 1024;
	uint8_t *data;

	if (b->failed)
		return false;
	if (b->cap - b->len >= more)
		return true;
	while (cap - b->len < more)
		cap *= 2;
	data = realloc(b->data, cap);
	if (!data) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->cap = cap;
	return true;
}

/* Append a copy of `len` bytes. */
static inline void lc_bytes_add(struct lc_bytes *b, const void *bytes, size_t len)
{
	if (len && lc_bytes_reserve(b, len)) {
		memcpy(b->data + b->len, bytes, len);
		b->len += len;
	}
}

/* Drop all bytes and a past failure; the memory is kept for the next ones. */
static inline void lc_bytes_empty(struct lc_bytes *b)
{
	b->len = 0;
	b->failed = false;
}

#endif
