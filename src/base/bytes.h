/* base/bytes.h - a growing array of bytes, for the profile writer. Context: [writer]. */
#ifndef LC_BASE_BYTES_H
#define LC_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* All zero is empty; free(data) when done. After a failed allocation additions do nothing. */
struct lc_bytes {
	uint8_t *data;
	size_t len;
	size_t cap;
	bool failed;
};

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

static inline void lc_bytes_add(struct lc_bytes *b, const void *bytes, size_t len)
{
	if (len && lc_bytes_reserve(b, len)) {
		memcpy(b->data + b->len, bytes, len);
		b->len += len;
	}
}

static inline void lc_bytes_empty(struct lc_bytes *b)
{
	b->len = 0;
	b->failed = false;
}

#endif
