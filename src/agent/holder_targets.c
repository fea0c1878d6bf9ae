/* SPDX-License-Identifier: Apache-2.0 */
/* agent/holder_targets.c - keeps known addresses in a hash table that is at most a quarter full. */
#include "src/agent/holder_targets.h"

#include "src/base/hash.h"

/* The slot of the address, or the free one where it would be. */
static uint16_t *slot_of(struct lc_holder_targets *t, uint64_t address)
{
	size_t at = lc_hash(address >> 3) % LC_HOLDER_TARGET_SLOTS;

	while (t->slots[at] && t->targets[t->slots[at] - 1].address != address)
		at = (at + 1) % LC_HOLDER_TARGET_SLOTS;
	return &t->slots[at];
}

bool lc_holder_targets_add(struct lc_holder_targets *t, uint64_t address, uint32_t group)
{
	uint16_t *slot = slot_of(t, address);

	if (*slot || t->len == LC_HOLDER_TARGETS_MAX)
		return false;
	t->targets[t->len++] = (struct lc_holder_target){ .address = address, .group = group };
	*slot = (uint16_t)t->len;
	return true;
}

bool lc_holder_targets_add_object(struct lc_holder_targets *t, jobject object, uint32_t group)
{
	if (t->len == LC_HOLDER_TARGETS_MAX)
		return false;
	t->targets[t->len++] = (struct lc_holder_target){ .object = object, .group = group };
	return true;
}

struct lc_holder_target *lc_holder_targets_find(struct lc_holder_targets *t, uint64_t address)
{
	const uint16_t *slot = t->len ? slot_of(t, address) : NULL;

	return slot && *slot ? &t->targets[*slot - 1] : NULL;
}
