/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute/live_holders.c - keeps each text of a chain once: texts in rows have equal addresses if
 * they are equal. Their number is bounded; rows with further texts count as other chains.
 */
#include "src/attribute/live_holders.h"

#include <string.h>

#include "src/base/vector.h"
#include "src/core/counters.h"
#include "src/core/thread.h"
#include "src/profile/tally.h"

enum { TEXTS_MAX = 4096 };

static struct {
	struct lc_vector texts;   /* char *, until the recording ends */
	struct lc_vector pending; /* struct lc_block_holder */
	struct lc_vector held;    /* struct lc_block_held */
	uint64_t rows, lost;
} holders = { .texts = { .element_bytes = sizeof(char *) },
	      .pending = { .element_bytes = sizeof(struct lc_block_holder) },
	      .held = { .element_bytes = sizeof(struct lc_block_held) } };

static const char *kept(const char *text)
{
	char *const *texts = holders.texts.data;
	char *copy;

	if (!*text)
		return "";
	for (size_t i = 0; i < holders.texts.len; i++)
		if (!strcmp(texts[i], text))
			return texts[i];
	copy = holders.texts.len < TEXTS_MAX ? strdup(text) : NULL;
	if (copy && lc_vector_push(&holders.texts, &copy)) {
		free(copy);
		copy = NULL;
	}
	return copy ? copy : "";
}

void lc_live_holders_add(uint64_t time_ns, uint32_t site, const char *chain, uint64_t objects)
{
	const struct lc_block_holder row = {
		.time_ns = time_ns, .site = site, .chain = kept(chain), .objects = objects
	};

	if (lc_vector_push(&holders.pending, &row))
		holders.lost++;
	else
		holders.rows++;
}

void lc_live_holders_add_held(const struct lc_block_held *row)
{
	if (lc_vector_push(&holders.held, row))
		holders.lost++;
}

void lc_live_holders_take(struct lc_thread *t)
{
	const struct lc_block_holder *rows = holders.pending.data;
	const struct lc_block_held *held = holders.held.data;
	size_t taken = 0;

	while (taken < holders.pending.len && !lc_tally_holder(t->tally, &rows[taken]))
		taken++;
	lc_vector_drop(&holders.pending, taken);
	taken = 0;
	while (taken < holders.held.len && !lc_tally_held(t->tally, &held[taken]))
		taken++;
	lc_vector_drop(&holders.held, taken);
}

static const struct lc_counter counters[] = {
	LC_COUNTER("holder_rows", &holders.rows),
	LC_COUNTER("holder_rows_lost", &holders.lost, .limit = "holders_lost",
	           .text = "there was no memory to note what holds live objects"),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
