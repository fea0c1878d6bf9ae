/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/arena.c - makes and frees the arrays of an arena. Each array is memory of its own, so that a
 * sanitizer sees its bounds.
 */
#include "analyzer/base/arena.h"

#include <stdlib.h>

#include "analyzer/base/memory.h"

void *lc_arena_zeroed(struct lc_arena *a, size_t count, size_t size)
{
	a->blocks = lc_mem_grow(a->blocks, &a->cap, a->len + 1, sizeof(*a->blocks));
	a->blocks[a->len] = lc_mem_zeroed(count, size);
	return a->blocks[a->len++];
}

void lc_arena_free(struct lc_arena *a)
{
	for (size_t i = 0; i < a->len; i++)
		free(a->blocks[i]);
	free(a->blocks);
	*a = (struct lc_arena){ 0 };
}
