/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/common_tree.h - keeps the call paths of walks for which a thread's own tree has no room.
 *
 * All threads share this tree, so that a path that many of them have is there once. It has a lock,
 * where the threads' own trees have none. Recursion is folded as there.
 */
#ifndef LC_STACK_COMMON_TREE_H
#define LC_STACK_COMMON_TREE_H

#include <stdint.h>

struct lc_shadow_frame; /* stack/shadow.h */

/* A walk that found `len` frames, outermost first, and what is asked about it; `key` is not 0. */
struct lc_common_walk {
	const struct lc_shadow_frame *frames;
	uint32_t len;
	uint64_t key;
};

/* The note of that walk; 0: there is none. Context: [hook]. */
uint64_t lc_common_tree_note(const struct lc_common_walk *w);

/* Note it. Without room nothing is noted, and the tree begins anew. Context: [hook]; slow. */
void lc_common_tree_set(const struct lc_common_walk *w, uint64_t note);

#endif
