/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/words.h - reads the words of a stack that tell where its thread is, and compares them.
 *
 * A thread is at the same place when its stack holds the same return addresses. Equal return
 * addresses mean equal call sites, inlined ones included. The return address of an interpreted
 * frame says nothing, so for such a frame the words with its method and its bytecode pointer are
 * compared. The words are remembered by their distance from the frame of the hook that asks.
 */
#ifndef LC_STACK_WORDS_H
#define LC_STACK_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/jvm/stack/frames.h"

struct lc_walker;

/*
 * Words that are compared by themselves: the return addresses of the nearest compiled frames, or
 * half as many interpreted frames. Callers further out are told apart by the depth of the stack
 * alone (docs/engines/allocations.md), unless the words of all frames were asked for.
 */
enum { LC_WORDS_MAX = 20 };

/* One of the words beyond the nearest LC_WORDS_MAX. */
struct lc_word {
	uint64_t value;
	uint32_t offset; /* in words above the hook's frame */
};

struct lc_words_more {
	uint32_t len;
	struct lc_word word[];
};

/* All 0: no words, which any stack has. */
struct lc_words {
	uint16_t len;
	uint32_t reach;             /* the largest offset, those of `more` included */
	struct lc_words_more *more; /* further words; NULL: none. Owner: who holds these words */
	uint64_t value[LC_WORDS_MAX];
	uint16_t offset[LC_WORDS_MAX]; /* in words above the hook's frame */
};

static inline bool lc_words_more_same(const struct lc_words_more *m, uint64_t frame)
{
	const uint64_t *stack = (const uint64_t *)(uintptr_t)frame; /* NOLINT */

	for (uint32_t i = 0; i < m->len; i++)
		if (stack[m->word[i].offset] != m->word[i].value)
			return false;
	return true;
}

/* Does the stack above this frame hold these words? `frame`: of a hook. Context: [hook], owner. */
static inline __attribute__((always_inline)) bool lc_words_same(const struct lc_words *w,
                                                                uint64_t frame)
{
	const uint64_t *stack = (const uint64_t *)(uintptr_t)frame; /* NOLINT */

	for (unsigned i = 0; i < w->len; i++)
		if (stack[w->offset[i]] != w->value[i])
			return false;
	return __builtin_expect(!w->more, 1) || lc_words_more_same(w->more, frame);
}

/*
 * Find the words of the nearest `frames` callers of the hook `at`, frame by frame, with `more`
 * where LC_WORDS_MAX do not hold them. Sets *w and returns true; returns false, with *w empty,
 * where they cannot be found or there is no memory. Uses the scratch memory of `walker` for words.
 * Context: [hook], own stack; slow.
 */
bool lc_words_find(struct lc_words *w, struct lc_walker *walker, const struct lc_native_frame *at,
                   unsigned frames);

/*
 * Find the words of as many of the nearest `frames` callers as LC_WORDS_MAX hold. Sets *w, and
 * returns whether these are the words of all of them, or of all Java frames there are.
 * Context: [hook], own stack; slow.
 */
bool lc_words_find_nearest(struct lc_words *w, struct lc_walker *walker,
                           const struct lc_native_frame *at, unsigned frames);

/* Are the same words compared, whatever their values? */
bool lc_words_same_offsets(const struct lc_words *a, const struct lc_words *b);

#endif
