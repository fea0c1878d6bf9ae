/* stack/words.c - see words.h. */
#include "src/stack/words.h"

#include <stdlib.h>
#include <string.h>

#include "src/heap/context.h"

enum { ENTRY_WORDS = 64 }; /* for where native code called Java code on the way */

unsigned lc_span_words_read(struct lc_contexts *contexts, const struct lc_native_frame *at,
                            unsigned frames, unsigned max, uint64_t *value, uint16_t *offset,
                            struct lc_span_words **more)
{
	const unsigned cap = frames * LC_FRAME_WORDS_MAX + ENTRY_WORDS;
	uint64_t *values = lc_contexts_scratch(contexts, cap * (sizeof(*values) + sizeof(*offset)));
	uint16_t *offsets;
	struct lc_frame_words found;
	unsigned first;

	*more = NULL;
	if (!values)
		return 0;
	offsets = (uint16_t *)(values + cap);
	found = lc_frames_words(at, lc_contexts_stack_end(contexts), frames, cap, values, offsets);
	if (!found.complete)
		return 0;
	first = found.len < max ? found.len : max;
	memcpy(value, values, first * sizeof(*value));
	memcpy(offset, offsets, first * sizeof(*offset));
	if (found.len == first)
		return first;
	*more = malloc(sizeof(**more) + (found.len - first) * sizeof((*more)->word[0]));
	if (!*more)
		return 0;
	(*more)->len = found.len - first;
	for (unsigned i = first; i < found.len; i++)
		(*more)->word[i - first] = (struct lc_span_word){ values[i], offsets[i] };
	return first;
}
