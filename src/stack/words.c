/* SPDX-License-Identifier: Apache-2.0 */
/* stack/words.c - reads words of a stack and keeps those that an entry cannot hold. */
#include "src/stack/words.h"

#include <stdlib.h>
#include <string.h>

#include "src/stack/walker.h"

enum { ENTRY_WORDS = 64 /* for where native code called Java code on the way */ };

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
