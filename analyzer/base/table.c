/*
 * base/table.c - finds rows by their keys. A table is a hash table with open addressing, at most
 * half full.
 */
#include "analyzer/base/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "analyzer/base/memory.h"

enum { SLOTS_MIN = 64 };

void lc_table_init(struct lc_table *t, uint32_t key_len, uint32_t value_len)
{
	*t = (struct lc_table){ .key_len = key_len, .value_len = value_len };
}

void lc_table_free(struct lc_table *t)
{
	free(t->keys);
	free(t->values);
	free(t->slots);
	lc_table_init(t, t->key_len, t->value_len);
}

/* The slot that holds the key, or the free one where it belongs. */
static size_t find_slot(const struct lc_table *t, const uint32_t *key)
{
	size_t bytes = t->key_len * sizeof(*key);
	size_t i = (size_t)XXH3_64bits(key, bytes) & (t->slots_len - 1);

	while (t->slots[i] && memcmp(lc_table_key(t, t->slots[i] - 1), key, bytes) != 0)
		i = (i + 1) & (t->slots_len - 1);
	return i;
}

static void rehash(struct lc_table *t)
{
	free(t->slots);
	t->slots_len = t->slots_len ? t->slots_len * 2 : SLOTS_MIN;
	t->slots = lc_mem_zeroed(t->slots_len, sizeof(*t->slots));
	for (uint32_t row = 0; row < t->count; row++)
		t->slots[find_slot(t, lc_table_key(t, row))] = row + 1;
}

uint32_t lc_table_find(const struct lc_table *t, const uint32_t *key)
{
	uint32_t found = t->slots_len ? t->slots[find_slot(t, key)] : 0;

	return found ? found - 1 : UINT32_MAX;
}

uint32_t lc_table_put(struct lc_table *t, const uint32_t *key)
{
	size_t slot, need;

	if (((size_t)t->count + 1) * 2 > t->slots_len)
		rehash(t);
	slot = find_slot(t, key);
	if (t->slots[slot])
		return t->slots[slot] - 1;
	if (t->count == INT32_MAX) {
		fputs("locus: profile too large: more than 2147483647 rows of a kind\n", stderr);
		exit(1);
	}
	need = (size_t)t->count + 1;
	t->keys = lc_mem_grow(t->keys, &t->keys_cap, need * t->key_len, sizeof(*t->keys));
	memcpy(t->keys + (size_t)t->count * t->key_len, key, t->key_len * sizeof(*key));
	if (t->value_len) {
		t->values =
		    lc_mem_grow(t->values, &t->values_cap, need * t->value_len, sizeof(*t->values));
		memset(lc_table_values(t, t->count), 0, t->value_len * sizeof(*t->values));
	}
	t->slots[slot] = t->count + 1;
	return t->count++;
}
