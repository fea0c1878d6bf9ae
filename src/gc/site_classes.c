/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gc/site_classes.c - a set of pairs of site and class, in a hash table that is at most half full.
 *
 * Objects of one site mostly follow each other, so the last pair is compared first.
 */
#include "src/gc/site_classes.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"

enum { SLOTS_AT_FIRST = 1024 };

static struct {
	uint64_t *pairs; /* 0: the slot is free. No site is 0 */
	size_t slots, used;
	uint64_t last;
} set;

static uint64_t pair_of(uint32_t site, uint32_t class_word)
{
	return (uint64_t)site << 32 | class_word;
}

/* The slot of the pair, or the free one where it belongs. */
static uint64_t *slot_of(uint64_t *pairs, size_t slots, uint64_t pair)
{
	size_t i = (size_t)(lc_hash(pair) >> 32) & (slots - 1);

	while (pairs[i] && pairs[i] != pair)
		i = (i + 1) & (slots - 1);
	return &pairs[i];
}

static bool grow(void)
{
	const size_t slots = set.slots ? set.slots * 2 : SLOTS_AT_FIRST;
	uint64_t *pairs = calloc(slots, sizeof(*pairs));

	if (!pairs)
		return false;
	for (size_t i = 0; i < set.slots; i++)
		if (set.pairs[i])
			*slot_of(pairs, slots, set.pairs[i]) = set.pairs[i];
	free(set.pairs);
	set.pairs = pairs;
	set.slots = slots;
	return true;
}

bool lc_site_classes_add(uint32_t site, uint32_t class_word)
{
	const uint64_t pair = pair_of(site, class_word);
	uint64_t *slot;

	if (pair == set.last)
		return true;
	if (set.used >= set.slots / 2 && !grow())
		return false;
	slot = slot_of(set.pairs, set.slots, pair);
	set.used += !*slot;
	*slot = pair;
	set.last = pair;
	return true;
}

bool lc_site_classes_has(uint32_t site, uint32_t class_word)
{
	const uint64_t pair = pair_of(site, class_word);

	return set.slots && *slot_of(set.pairs, set.slots, pair) == pair;
}

void lc_site_classes_forget(void)
{
	free(set.pairs);
	memset(&set, 0, sizeof(set));
}
