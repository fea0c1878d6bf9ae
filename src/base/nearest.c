/* SPDX-License-Identifier: Apache-2.0 */
/* base/nearest.c - compares words by how many edits turn one into the other. */
#include "src/base/nearest.h"

#include <string.h>

/* How many edits turn `a` into `b`, at most `cap`; exchanging two neighbours is one edit. */
static size_t edit_distance(const char *a, const char *b, size_t cap)
{
	enum { WORD_MAX = 64 };
	size_t rows[3][WORD_MAX + 1] = { { 0 } };
	size_t *before = rows[0], *last = rows[1], *now = rows[2], *free_row;
	size_t a_len = strlen(a), b_len = strlen(b);

	if (a_len > WORD_MAX || b_len > WORD_MAX || a_len + cap <= b_len || b_len + cap <= a_len)
		return cap;
	for (size_t j = 0; j <= b_len; j++)
		last[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		now[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);

			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			now[j] = best;
		}
		free_row = before;
		before = last;
		last = now;
		now = free_row;
	}
	return last[b_len] < cap ? last[b_len] : cap;
}

const char *lc_nearest(const char *word, const char *const *words, size_t count)
{
	size_t len = strlen(word);
	size_t best_distance = len / 3 + 2; /* farther than this is another word */
	const char *best = NULL;

	for (size_t i = 0; i < count; i++) {
		size_t d = edit_distance(word, words[i], best_distance);

		if (d > 1 && len >= 2 && strncmp(word, words[i], len) == 0)
			d = 1; /* a beginning: "inter" */
		if (d < best_distance && d < strlen(words[i])) {
			best_distance = d;
			best = words[i];
		}
	}
	return best;
}
