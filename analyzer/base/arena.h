/* SPDX-License-Identifier: Apache-2.0 */
/* base/arena.h - an arena holds the arrays of an analysis, which are freed together at its end. */
#ifndef LC_BASE_ARENA_H
#define LC_BASE_ARENA_H

#include <stddef.h>

/* All zero at first; the members are the arena's own. */
struct lc_arena {
	void **blocks;
	size_t len, cap;
};

/*
 * An array of zeroes, which stays where it is until lc_arena_free(). Never NULL; `count` may be 0.
 */
void *lc_arena_zeroed(struct lc_arena *a, size_t count, size_t size);

/* Free all of it; the arena is as new, and may be used again. */
void lc_arena_free(struct lc_arena *a);

#endif
