/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/own_memory.h - says how much memory the agent itself holds.
 *
 * The linker redirects the agent's calls of malloc, mmap and their kin to own_memory.c, and
 * libJudy's calls too. Allocations of other libraries are not counted.
 */
#ifndef LC_CORE_OWN_MEMORY_H
#define LC_CORE_OWN_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Bytes allocated, and the touched pages of anonymous mappings. Context: [writer]. */
uint64_t lc_own_memory_bytes(void);

/* [low, end) */
struct lc_own_memory_range {
	uint64_t low, end;
};

/*
 * The addresses that the agent has mapped or reserved, at most `cap` ranges, in no order. Returns
 * how many. Context: [writer].
 */
size_t lc_own_memory_ranges(struct lc_own_memory_range *out, size_t cap);

/*
 * Give back the pages of all that is allocated or mapped. The addresses stay for the next
 * recording: a thread that comes late reads zeroes. Context: core/reset.c.
 */
void lc_own_memory_give_back(void);

#endif
