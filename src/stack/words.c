/* SPDX-License-Identifier: Apache-2.0 */
/* stack/words.c - reads words of a stack and keeps those that an entry cannot hold. */
#include "src/stack/words.h"

#include <stdlib.h>
#include <string.h>

#include "src/jvm/stack/frame_step.h"
#include "src/stack/generated.h"
#include "src/stack/walker.h"

enum {
	GUESS_WORDS = 1024, /* 8 KiB of stack hold the nearest frames of any program seen */
	INTERPRETED_WORDS = 2,
	INTERPRETED_BYTES = -LC_INTERPRETED_BYTECODE * 8, /* of a frame, from the lowest of these */
	ENTRY_WORDS = 64, /* for where native code called Java code on the way */
};

/* Words from an interpreted frame's rbp that tell where it is. */
static const int interpreted_words[INTERPRETED_WORDS] = { LC_INTERPRETED_METHOD,
	                                                  LC_INTERPRETED_BYTECODE };

void lc_words_add(struct lc_words *w, uint64_t frame, uint64_t address)
{
	uint16_t offset = (uint16_t)((address - frame) / 8);

	if (w->len == LC_WORDS_MAX)
		return;
	w->offset[w->len] = offset;
	w->value[w->len++] = *(const uint64_t *)(uintptr_t)address; /* NOLINT */
	if (w->reach < offset)
		w->reach = offset;
}

uint64_t lc_words_interpreted_rbp(uint64_t at, uint64_t end)
{
	const uint64_t rbp = ((const uint64_t *)(uintptr_t)at)[-1]; /* NOLINT */

	return rbp > at + INTERPRETED_BYTES && rbp < end && !(rbp & 7) ? rbp : 0;
}

void lc_words_add_interpreted(struct lc_words *w, uint64_t frame, uint64_t rbp)
{
	for (unsigned i = 0; i < INTERPRETED_WORDS; i++)
		lc_words_add(w, frame, lc_frame_interpreted_word(rbp, interpreted_words[i]));
}

void lc_words_guess(struct lc_words *w, uint64_t frame, uint64_t stack_end, unsigned frames_max)
{
	const struct lc_generated *code = lc_generated();
	uint64_t end = frame + (uint64_t)GUESS_WORDS * 8, rbp;

	w->len = 0;
	w->reach = 0;
	w->more = NULL;
	if (end > stack_end)
		end = stack_end;
	for (uint64_t at = frame; at + 8 <= end && frames_max; at += 8) {
		const uint64_t *word = (const uint64_t *)(uintptr_t)at; /* NOLINT */

		if (!lc_generated_is_code(code, *word))
			continue;
		if (!lc_generated_is_interpreter(code, *word)) {
			lc_words_add(w, frame, at);
			frames_max--;
			continue;
		}
		rbp = at == frame ? 0 : lc_words_interpreted_rbp(at, end);
		if (!rbp)
			continue;
		lc_words_add_interpreted(w, frame, rbp);
		frames_max--;
	}
}

static void set_reach(struct lc_words *w)
{
	w->reach = 0;
	for (unsigned i = 0; i < w->len; i++)
		if (w->reach < w->offset[i])
			w->reach = w->offset[i];
	for (uint32_t i = 0; w->more && i < w->more->len; i++)
		if (w->reach < w->more->word[i].offset)
			w->reach = w->more->word[i].offset;
}

bool lc_words_find(struct lc_words *w, struct lc_walker *walker, const struct lc_native_frame *at,
                   unsigned frames)
{
	const unsigned cap = frames * LC_FRAME_WORDS_MAX + ENTRY_WORDS;
	uint64_t *values =
	    lc_walker_scratch(walker, LC_WALKER_WORDS, cap * (sizeof(*values) + sizeof(uint16_t)));
	struct lc_frame_words found;
	uint16_t *offsets;
	unsigned first;

	w->len = 0;
	w->reach = 0;
	w->more = NULL;
	if (!values)
		return false;
	offsets = (uint16_t *)(values + cap);
	found = lc_frames_words(at, lc_walker_end(walker), frames, cap, values, offsets);
	if (!found.complete || !found.len)
		return false;
	first = found.len < LC_WORDS_MAX ? found.len : LC_WORDS_MAX;
	if (found.len > first) {
		w->more = malloc(sizeof(*w->more) + (found.len - first) * sizeof(struct lc_word));
		if (!w->more)
			return false;
		w->more->len = found.len - first;
		for (unsigned i = first; i < found.len; i++)
			w->more->word[i - first] = (struct lc_word){ values[i], offsets[i] };
	}
	memcpy(w->value, values, first * sizeof(*values));
	memcpy(w->offset, offsets, first * sizeof(*offsets));
	w->len = (uint16_t)first;
	set_reach(w);
	return true;
}

bool lc_words_find_nearest(struct lc_words *w, struct lc_walker *walker,
                           const struct lc_native_frame *at, unsigned frames)
{
	struct lc_frame_words found =
	    lc_frames_words(at, lc_walker_end(walker), frames, LC_WORDS_MAX, w->value, w->offset);

	w->len = (uint16_t)found.len;
	w->more = NULL;
	set_reach(w);
	return found.whole;
}

void lc_words_drop_changed(struct lc_words *w, uint64_t frame)
{
	const uint64_t *stack = (const uint64_t *)(uintptr_t)frame; /* NOLINT */
	uint16_t kept = 0;

	for (unsigned i = 0; i < w->len; i++) {
		if (stack[w->offset[i]] != w->value[i])
			continue;
		w->offset[kept] = w->offset[i];
		w->value[kept++] = w->value[i];
	}
	w->len = kept;
	set_reach(w);
}

static bool more_same_offsets(const struct lc_words_more *a, const struct lc_words_more *b)
{
	if (!a || !b || a->len != b->len)
		return a == b;
	for (uint32_t i = 0; i < a->len; i++)
		if (a->word[i].offset != b->word[i].offset)
			return false;
	return true;
}

bool lc_words_same_offsets(const struct lc_words *a, const struct lc_words *b)
{
	return a->len == b->len && !memcmp(a->offset, b->offset, a->len * sizeof(a->offset[0])) &&
	       more_same_offsets(a->more, b->more);
}
