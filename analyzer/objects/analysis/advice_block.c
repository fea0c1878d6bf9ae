/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/advice_block.c - holds the table of advice for blocks outside the heap. The
 * collector does not move, clear or free these, so no sentence for objects holds for them.
 */
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/objects/analysis/advice.h"
#include "src/base/glob.h"
#include "src/format/kinds.h"

#define DIRECT "java.nio.DirectByteBuffer" LC_OFFHEAP_SUFFIX
#define SEGMENT "java.lang.foreign.MemorySegment" LC_OFFHEAP_SUFFIX
#define MAPPED LC_OFFHEAP_MAPPED "*" LC_OFFHEAP_SUFFIX

/* Evidence. A sentence needs all that its row names. */
enum evidence {
	MADE = 1 << 0,       /* four in five samples are at the line that allocates */
	STRIDE = 1 << 1,     /* LC_FINDING_STRIDE */
	SEQUENTIAL = 1 << 2, /* a loop goes through it in the order of addresses */
	ALL_OVER = 1 << 3,   /* no part has most samples, and no loop is known to have a step */
	LARGE = 1 << 4,      /* LARGE_BYTES or more on average */
};

enum { LARGE_BYTES = 1 << 20 };

/* The first row that fits is taken. NULL: any class. */
static const struct {
	const char *class;
	unsigned needs;
	const char *text;
} table[] = {
	{ MAPPED, STRIDE,
	  "read the file in the order of its addresses: swap the loops, so that the inner one runs "
	  "along the file, or store the data in the order in which they are read" },
	{ NULL, STRIDE,
	  "swap the loops, so that the inner one runs along the block, or store the data in the "
	  "order in which they are read" },
	{ DIRECT, MADE,
	  "keep one direct buffer and use it again (clear()): most samples are at the line that "
	  "makes and clears it" },
	{ SEGMENT, MADE,
	  "allocate one segment and use it again (SegmentAllocator.prefixAllocator()): most "
	  "samples "
	  "are at the line that makes and clears it" },
	{ NULL, MADE,
	  "keep the block and use it again: most samples are at the line that makes and clears "
	  "it" },
	{ MAPPED, ALL_OVER | LARGE,
	  "look things up in the order of their places in the file, so that neighbouring accesses "
	  "share cache lines and pages" },
	{ NULL, SEQUENTIAL,
	  "do more work on each part while it is in the cache, or use fewer bytes for each value" },
};

static unsigned evidence_of(const struct lc_advice_of *of)
{
	const struct lc_touch *touch = of->touch;
	unsigned evidence = 0;

	if (10 * touch->made >= 8 * of->row->samples)
		evidence |= MADE;
	if (of->kind == LC_FINDING_STRIDE)
		evidence |= STRIDE;
	if (touch->walk == LC_WALK_SEQUENTIAL)
		evidence |= SEQUENTIAL;
	if (touch->kind == LC_TOUCH_ALL_OVER && touch->walk == LC_WALK_UNKNOWN)
		evidence |= ALL_OVER;
	if (of->size >= LARGE_BYTES)
		evidence |= LARGE;
	return evidence;
}

static bool is(struct lc_text class, const char *pattern)
{
	return lc_glob(pattern, pattern + strlen(pattern), class.bytes, class.bytes + class.len,
	               false);
}

char *lc_advice_block(const struct lc_advice_of *of)
{
	const struct lc_text class = lc_tree_text(of->tree, of->row->class);
	const unsigned evidence = evidence_of(of);

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if ((table[i].needs & evidence) == table[i].needs &&
		    (!table[i].class || is(class, table[i].class)))
			return lc_mem_text("%s", table[i].text);
	return NULL;
}
