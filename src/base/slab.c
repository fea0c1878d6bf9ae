/* SPDX-License-Identifier: Apache-2.0 */
/* base/slab.c - keeps elements in blocks that double in size, and a hash table of their numbers. */
#include "src/base/slab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/zeroed.h"

static void put_index(uint64_t *index, uint32_t cap, uint64_t entry)
{
	uint32_t i = (uint32_t)(entry >> 32) & (cap - 1);

	while (index[i])
		i = (i + 1) & (cap - 1);
	index[i] = entry;
}

/* Keep the index at most half full with `len` + 1 elements. Returns 0 or -ENOMEM. */
static int reserve_index(struct lc_slab *s, const struct lc_slab_kind *kind, uint32_t len)
{
	uint32_t cap = s->index_cap ? s->index_cap * 2 : 16;
	uint64_t *index;

	if (s->index_cap && len < s->index_cap / 2)
		return 0;
	while (!s->index_cap && cap < kind->first * 2)
		cap *= 2;
	index = lc_zeroed(cap, sizeof(*index));
	if (!index)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->index_cap; i++)
		if (s->index[i])
			put_index(index, cap, s->index[i]);
	free(s->index);
	s->index = index;
	s->index_cap = cap;
	return 0;
}

/* The block of element number `len`. */
static unsigned block_of(const struct lc_slab_kind *kind, uint32_t len)
{
	return 31u - (unsigned)__builtin_clz(len / kind->first + 1);
}

size_t lc_slab_next_bytes(const struct lc_slab *s, const struct lc_slab_kind *kind)
{
	const uint32_t len = atomic_load_explicit(&s->len, memory_order_relaxed); /* ours */
	const unsigned block = block_of(kind, len);
	size_t bytes = 0;

	if (block < kind->blocks && !s->block[block])
		bytes = ((size_t)kind->first << block) * kind->element_bytes;
	if (len >= s->index_cap / 2) /* the old index is there until the new one is filled */
		bytes +=
		    (size_t)(s->index_cap ? s->index_cap : kind->first) * 2 * sizeof(*s->index);
	return bytes;
}

void *lc_slab_add(struct lc_slab *s, const struct lc_slab_kind *kind, uint32_t hash)
{
	uint32_t len = atomic_load_explicit(&s->len, memory_order_relaxed); /* ours */
	unsigned block = block_of(kind, len);

	if (block >= kind->blocks)
		return NULL;
	if (!s->block[block])
		s->block[block] = calloc((size_t)kind->first << block, kind->element_bytes);
	if (!s->block[block] || reserve_index(s, kind, len))
		return NULL;
	put_index(s->index, s->index_cap, (uint64_t)hash << 32 | (len + 1));
	return lc_slab_at(s, kind, len);
}

void lc_slab_free(struct lc_slab *s)
{
	for (unsigned i = 0; i < LC_SLAB_BLOCKS; i++)
		free(s->block[i]);
	free(s->index);
	memset(s, 0, sizeof(*s));
}
