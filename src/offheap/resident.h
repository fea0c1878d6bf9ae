/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offheap/resident.h - divides the resident memory of a process among its owners.
 *
 * Ranges that the JVM or the agent knows, and names of mapped files, tell most owners. Other memory
 * is recognised by its own structures: each proof stands at its function in resident_anonymous.c.
 * Memory without a proof is "rest". All is read through the functions that are given, so tests have
 * a model of a process. Context of all functions: [writer].
 */
#ifndef LC_OFFHEAP_RESIDENT_H
#define LC_OFFHEAP_RESIDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/format/kinds.h"
#include "src/jvm/layout/ranges.h"
#include "src/offheap/blocks.h"
#include "src/offheap/smaps.h"

enum { LC_RESIDENT_PAGE = 4096, LC_RESIDENT_NAMES = 32, LC_RESIDENT_NAME_LEN = 96 };

struct lc_resident_range {
	uint64_t low, high;
	uint8_t part; /* enum lc_resident_part */
};

struct lc_resident_given {
	const struct lc_smaps *maps;
	const struct lc_resident_range *known; /* by low; where two overlap, the first one counts */
	size_t known_len;
	const struct lc_blocks_block *blocks; /* by address */
	size_t blocks_len;
	/* The name of what blocks of a site belong to; NULL: they are mapped files. */
	const char *(*block_name)(uint32_t site);
	struct lc_range heap;    /* that is reserved */
	struct lc_range cards;   /* the card table; both 0: none */
	struct lc_range library; /* libjvm */
	/* The first class that compressed pointers reach (0: unknown), and the size of the space.
	 */
	uint64_t classes, class_space_bytes;
	uint64_t control_block; /* of this thread: pthread_self() */
	/* Copy memory that may not be there. */
	bool (*read)(uint64_t at, void *out, size_t bytes);
	/* Which pages of the process are resident: fill `out` for `len` pages from `page` on. */
	bool (*pages)(uint64_t page, bool *out, size_t len);
};

struct lc_resident_row {
	uint8_t part;
	char name[LC_RESIDENT_NAME_LEN];
	uint64_t resident_bytes, size_bytes;
};

struct lc_resident_rows {
	struct lc_resident_row rows[LC_RESIDENT_PARTS + 2 * (LC_RESIDENT_NAMES + 1)];
	size_t len;
};

/*
 * Fill *out: LC_RESIDENT_ALL, and rows of the parts that have any memory, whose resident bytes add
 * up to it. Returns 0, or -ENOMEM and *out is undefined.
 */
int lc_resident_divide(const struct lc_resident_given *given, struct lc_resident_rows *out);

#endif
