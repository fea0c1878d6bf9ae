/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format/block.h - describes the bytes that a block is made of: its header, its checksums, integers
 * and varints.
 *
 * docs/FORMAT.md is the norm. The agent and the analyzer share this file. Its functions take no
 * locks and make no system calls, and only lc_bytes_varint() allocates. Context: any, and [writer]
 * for that one.
 */
#ifndef LC_FORMAT_BLOCK_H
#define LC_FORMAT_BLOCK_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "src/base/bytes.h"

#define LC_FORMAT_VERSION 1      /* of manifests and reports */
#define LC_BLOCK_VERSION 4       /* the newest of blocks, which refers to others */
#define LC_BLOCK_VERSION_ALONE 3 /* the newest of blocks that stand alone */

#define LC_MANIFEST_NAME "manifest.json"
#define LC_BLOCK_SUFFIX ".lcb"
/* An empty file, for which a full disk has room: the last manifest could not be written. */
#define LC_DISK_FULL_NAME "disk-full"
#define LC_LOOP_DIGITS 6 /* of the names of directories that --loop makes, at least */

/* First eight bytes of a block. Not text, and changed by every newline conversion. */
#define LC_BLOCK_MAGIC "\x89LCB\r\n\x1a\n"

enum {
	LC_BLOCK_MAGIC_LEN = 8,
	LC_BLOCK_HEADER_LEN = 72,        /* of versions 1 and 3 */
	LC_BLOCK_HEADER2_LEN = 104,      /* of versions 2 and 4 */
	LC_BLOCK_HEADER_LEN_MAX = 4096,  /* of any later one */
	LC_BLOCK_DEFINITIONS = 5,        /* sections STRINGS, METHODS, FRAMES, PATHS, SITES */
	LC_BLOCK_FIRST_MAX = 1 << 24,    /* definitions before a block's */
	LC_BLOCK_RAW_MAX = 256 << 20,    /* payload bytes, uncompressed */
	LC_BLOCK_STORED_MAX = 257 << 20, /* payload bytes in the file */
	LC_BLOCK_DEPTH_MAX = 4096,       /* frames of a path */
	LC_VARINT_MAX = 10,              /* bytes of the longest varint */
};

/* Header field `thread_index` (and then `process`) of a block that holds all threads as one. */
#define LC_THREAD_ALL UINT32_MAX

/* XXH64 with seed 0: every checksum of the format. */
__attribute__((nonnull)) static inline uint64_t lc_checksum(const void *bytes, size_t len)
{
	return XXH64(bytes, len, 0);
}

/* Little-endian integers at any alignment. */
static inline void lc_put_u16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static inline void lc_put_u32(uint8_t *p, uint32_t v)
{
	lc_put_u16(p, (uint16_t)v);
	lc_put_u16(p + 2, (uint16_t)(v >> 16));
}

static inline void lc_put_u64(uint8_t *p, uint64_t v)
{
	lc_put_u32(p, (uint32_t)v);
	lc_put_u32(p + 4, (uint32_t)(v >> 32));
}

static inline uint16_t lc_get_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t lc_get_u32(const uint8_t *p)
{
	return lc_get_u16(p) | (uint32_t)lc_get_u16(p + 2) << 16;
}

static inline uint64_t lc_get_u64(const uint8_t *p)
{
	return lc_get_u32(p) | (uint64_t)lc_get_u32(p + 4) << 32;
}

/* Write `v` with seven bits to a byte, low ones first. `out` has LC_VARINT_MAX bytes. */
static inline size_t lc_varint_put(uint8_t *out, uint64_t v)
{
	size_t n = 0;

	while (v >= 0x80) {
		out[n++] = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	out[n++] = (uint8_t)v;
	return n;
}

/*
 * Read a varint at *p and advance *p past it. Returns 0, or -EBADMSG when it runs past `end` or
 * over 64 bits; then *p and *v are untouched.
 */
static inline int lc_varint_get(const uint8_t **p, const uint8_t *end, uint64_t *v)
{
	const uint8_t *q = *p;
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte;

		if (q == end)
			return -EBADMSG;
		byte = *q++;
		if (shift == 63 && byte > 1)
			return -EBADMSG;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*p = q;
			*v = value;
			return 0;
		}
	}
	return -EBADMSG;
}

/* Append `v` as a varint to `b`, which is marked as failed where there is no memory. */
static inline void lc_bytes_varint(struct lc_bytes *b, uint64_t v)
{
	if (lc_bytes_reserve(b, LC_VARINT_MAX))
		b->len += lc_varint_put(b->data + b->len, v);
}

/* Numbers with a sign as varints: 0, -1, 1, -2 .. are 0, 1, 2, 3 .. */
static inline uint64_t lc_zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

static inline int64_t lc_zigzag_value(uint64_t v)
{
	return (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
}

/* The header before each payload. */
struct lc_block_header {
	uint16_t version;
	uint16_t header_len;
	uint32_t process;      /* row of `processes` in the manifest */
	uint32_t tid;          /* kernel's thread ID */
	uint32_t thread_index; /* unique within the process; LC_THREAD_ALL for all of them */
	uint64_t sequence;     /* 0, 1, 2 .. within a file */
	uint64_t t_begin_ns;   /* CLOCK_MONOTONIC of the process */
	uint64_t t_end_ns;
	uint32_t raw_len;    /* payload, uncompressed */
	uint32_t stored_len; /* payload in the file: one zstd frame */
	uint64_t checksum;   /* XXH64, seed 0, of the stored payload */
	/* In versions 2 and 4, else 0. */
	uint64_t generation; /* sequence of the first block that definitions may be in */
	uint32_t first[LC_BLOCK_DEFINITIONS]; /* how many of each type are in blocks before */
};

/* Are definitions of other blocks used? */
static inline bool lc_block_header_refers(const struct lc_block_header *h)
{
	return h->version && h->version % 2 == 0;
}

/* Do rows of samples say how many pairs of them came with one interrupt (column PAIRS)? */
static inline bool lc_block_header_has_pairs(const struct lc_block_header *h)
{
	return h->version >= 3;
}

static inline size_t lc_block_header_len(const struct lc_block_header *h)
{
	return lc_block_header_refers(h) ? LC_BLOCK_HEADER2_LEN : LC_BLOCK_HEADER_LEN;
}

/*
 * Write *h as lc_block_header_len() bytes, with the header's own checksum. A version of 0 is
 * LC_BLOCK_VERSION_ALONE.
 */
static inline void lc_block_header_put(uint8_t *out, const struct lc_block_header *h)
{
	const size_t len = lc_block_header_len(h);

	memcpy(out, LC_BLOCK_MAGIC, LC_BLOCK_MAGIC_LEN);
	lc_put_u16(out + 8, h->version ? h->version : LC_BLOCK_VERSION_ALONE);
	lc_put_u16(out + 10, (uint16_t)len);
	lc_put_u32(out + 12, h->process);
	lc_put_u32(out + 16, h->tid);
	lc_put_u32(out + 20, h->thread_index);
	lc_put_u64(out + 24, h->sequence);
	lc_put_u64(out + 32, h->t_begin_ns);
	lc_put_u64(out + 40, h->t_end_ns);
	lc_put_u32(out + 48, h->raw_len);
	lc_put_u32(out + 52, h->stored_len);
	lc_put_u64(out + 56, h->checksum);
	if (lc_block_header_refers(h)) {
		lc_put_u64(out + 64, h->generation);
		for (unsigned i = 0; i < LC_BLOCK_DEFINITIONS; i++)
			lc_put_u32(out + 72 + i * 4, h->first[i]);
		lc_put_u32(out + 92, 0);
	}
	lc_put_u64(out + len - 8, lc_checksum(out, len - 8));
}

/*
 * Read a header from `len` bytes. Returns 0; -EBADMSG when it is none or damaged; -EAGAIN when
 * more bytes are needed to tell; -ENOTSUP when it is whole and of a newer version (then only
 * h->version and h->header_len are set). *h is otherwise untouched on failure.
 */
static inline int lc_block_header_get(const uint8_t *in, size_t len, struct lc_block_header *h)
{
	size_t header_len;
	uint16_t version;

	if (memcmp(in, LC_BLOCK_MAGIC, len < LC_BLOCK_MAGIC_LEN ? len : LC_BLOCK_MAGIC_LEN))
		return -EBADMSG;
	if (len < 12)
		return -EAGAIN;
	version = lc_get_u16(in + 8);
	header_len = lc_get_u16(in + 10);
	if (header_len < 20 || header_len > LC_BLOCK_HEADER_LEN_MAX)
		return -EBADMSG;
	if (len < header_len)
		return -EAGAIN;
	if (lc_get_u64(in + header_len - 8) != lc_checksum(in, header_len - 8))
		return -EBADMSG;
	if (version > LC_BLOCK_VERSION) {
		h->version = version;
		h->header_len = (uint16_t)header_len;
		return -ENOTSUP;
	}
	if (!version || header_len < (version % 2 ? LC_BLOCK_HEADER_LEN : LC_BLOCK_HEADER2_LEN))
		return -EBADMSG;
	if (lc_get_u32(in + 48) > LC_BLOCK_RAW_MAX || lc_get_u32(in + 52) > LC_BLOCK_STORED_MAX)
		return -EBADMSG;
	h->version = version;
	h->header_len = (uint16_t)header_len;
	h->process = lc_get_u32(in + 12);
	h->tid = lc_get_u32(in + 16);
	h->thread_index = lc_get_u32(in + 20);
	h->sequence = lc_get_u64(in + 24);
	h->t_begin_ns = lc_get_u64(in + 32);
	h->t_end_ns = lc_get_u64(in + 40);
	h->raw_len = lc_get_u32(in + 48);
	h->stored_len = lc_get_u32(in + 52);
	h->checksum = lc_get_u64(in + 56);
	h->generation = version % 2 ? 0 : lc_get_u64(in + 64);
	for (unsigned i = 0; i < LC_BLOCK_DEFINITIONS; i++)
		h->first[i] = version % 2 ? 0 : lc_get_u32(in + 72 + i * 4);
	return 0;
}

#endif
