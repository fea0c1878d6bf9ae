/*
 * stack/words.h - words of a stack beyond those that an entry of a table of places holds itself: with
 * --span-paths all frames that a path is made of are compared, however many they are.
 *
 * Owner: the entry that points to them, and so its thread. Free with free().
 */
#ifndef LC_STACK_WORDS_H
#define LC_STACK_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/jvm/frames.h"

struct lc_contexts;

struct lc_span_word {
	uint64_t value;
	uint32_t offset; /* in words above the hook's frame */
};

struct lc_span_words {
	uint32_t len;
	struct lc_span_word word[];
};

static inline bool lc_span_words_same(const struct lc_span_words *m, uint64_t frame)
{
	const uint64_t *stack = (const uint64_t *)(uintptr_t)frame; /* NOLINT */

	for (uint32_t i = 0; i < m->len; i++)
		if (stack[m->word[i].offset] != m->word[i].value)
			return false;
	return true;
}

/*
 * The words of the nearest `frames` callers of the hook `at`: the first `max` of them become `value` and
 * `offset`, those beyond `more` (NULL: there are none). Returns how many are the first; 0: they do not tell all
 * of these frames, or there is no memory. Takes the scratch memory of `contexts`. Context: [hook], own stack; slow.
 */
unsigned lc_span_words_read(struct lc_contexts *contexts, const struct lc_native_frame *at,
                            unsigned frames, unsigned max, uint64_t *value, uint16_t *offset,
                            struct lc_span_words **more);

#endif
