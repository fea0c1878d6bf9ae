/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge/pack.h - packs numbers and texts as bytes for another process of the same program. The
 * reader checks only at the end: after an error all numbers are 0 and all texts empty.
 */
#ifndef LC_MERGE_PACK_H
#define LC_MERGE_PACK_H

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "src/format/block.h"

static inline void lc_pack_number(struct lc_bytes *b, uint64_t v)
{
	lc_bytes_varint(b, v);
}

static inline void lc_pack_text(struct lc_bytes *b, const char *text)
{
	const size_t len = text ? strlen(text) : 0;

	lc_bytes_varint(b, len + (text != NULL)); /* 0: NULL */
	lc_bytes_add(b, text, len);
}

/* The rest of the bytes; at == NULL after an error. */
struct lc_unpack {
	const uint8_t *at, *end;
};

static inline uint64_t lc_unpack_number(struct lc_unpack *u)
{
	uint64_t v = 0;

	if (u->at && lc_varint_get(&u->at, u->end, &v)) {
		u->at = NULL;
		v = 0;
	}
	return v;
}

/* How many of something follow that take a byte each at least. */
static inline size_t lc_unpack_count(struct lc_unpack *u)
{
	const uint64_t n = lc_unpack_number(u);

	if (!u->at || n <= (uint64_t)(u->end - u->at))
		return (size_t)n;
	u->at = NULL;
	return 0;
}

/* For free(); NULL where NULL was packed. */
static inline char *lc_unpack_text(struct lc_unpack *u)
{
	const uint64_t len = lc_unpack_number(u);
	char *text;

	if (!len)
		return NULL;
	if (len - 1 > (uint64_t)(u->end - u->at)) {
		u->at = NULL;
		return NULL;
	}
	text = lc_mem_zeroed(len, 1);
	memcpy(text, u->at, len - 1);
	u->at += len - 1;
	return text;
}

#endif
