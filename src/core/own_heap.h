/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/own_heap.h - allocates what a recording needs, apart from the program's malloc().
 *
 * When a recording ends, all of it goes back to the kernel at once, whoever had forgotten to free
 * it. The addresses stay reserved: a thread that comes late reads zeroes, and what it writes
 * changes nothing of the program's.
 */
#ifndef LC_CORE_OWN_HEAP_H
#define LC_CORE_OWN_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * `n` bytes at a multiple of `alignment`, which is a power of two from 16 to a page; all zero if
 * `zero`. NULL: there is no room. The caller frees it with lc_own_heap_free(). Context: any thread,
 * not in a signal handler.
 */
void *lc_own_heap_alloc(size_t n, size_t alignment, bool zero);

/* Is `p` a block of this heap? Context: any. */
bool lc_own_heap_has(const void *p);

/* The addresses that are reserved for this heap. Returns whether there are any. Context: any. */
bool lc_own_heap_range(uint64_t *low, uint64_t *end);

/* How many bytes a block has room for. Context: any. */
size_t lc_own_heap_bytes(const void *p);

/* Context: as lc_own_heap_alloc(). */
void lc_own_heap_free(void *p);

/* All blocks are gone. Context: core/reset.c, when nobody uses them any more. */
void lc_own_heap_give_back(void);

/* `n` bytes at `p`, which are pages that can be written, are zero, and the kernel has them. */
void lc_own_heap_empty(void *p, size_t n);

#endif
