/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/table.c - finds rows by their keys. A table is a hash table with open addressing, at most
 * two thirds full. A slot has the hash beside the row, so that most other rows' keys are not read.
 */
#include "analyzer/base/table.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "analyzer/base/memory.h"

enum { SLOTS_MIN = 64, HUGE_PAGE_BYTES = 2 << 20 };

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

/*
 * Seeds the hash that gives a key its slot. The seed differs in each run, so nobody can make a
 * profile whose keys all meet in one slot to slow the analyzer down. No output depends on slots.
 */
static uint64_t seed;

__attribute__((constructor)) static void choose_seed(void)
{
	const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM); /* NOLINT: 16 bytes */

	if (random)
		memcpy(&seed, random, sizeof(seed));
}

static inline uint32_t hash_of(const uint32_t *key, uint32_t len)
{
	uint64_t v;

	if (len != 2)
		return (uint32_t)XXH3_64bits_withSeed(key, len * sizeof(*key), seed);
	memcpy(&v, key, sizeof(v));
	v ^= seed;
	v = (v ^ v >> 32) * UINT64_C(0xd6e8feb86659fd93);
	v = (v ^ v >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return (uint32_t)(v >> 32);
}

static inline bool same_key(const struct lc_table *t, uint32_t row, const uint32_t *key)
{
	const uint32_t *other = lc_table_key(t, row);
	uint64_t a, b;

	if (t->key_len != 2) {
		for (uint32_t i = 0; i < t->key_len; i++)
			if (other[i] != key[i])
				return false;
		return true;
	}
	memcpy(&a, key, sizeof(a));
	memcpy(&b, other, sizeof(b));
	return a == b;
}

/* The slot that holds the key, or the free one where it belongs. */
static inline size_t find_slot(const struct lc_table *t, const uint32_t *key, uint32_t hash)
{
	size_t i = hash & (t->slots_len - 1);

	while (t->slots[i].row1 &&
	       (t->slots[i].hash != hash || !same_key(t, t->slots[i].row1 - 1, key)))
		i = (i + 1) & (t->slots_len - 1);
	return i;
}

/*
 * All zero. A large table is looked at everywhere, so that few large pages are found sooner than
 * many small ones.
 */
static struct lc_table_slot *new_slots(size_t len)
{
	const size_t bytes = len * sizeof(struct lc_table_slot);
	void *slots;

	if (bytes < HUGE_PAGE_BYTES)
		return lc_mem_zeroed(len, sizeof(struct lc_table_slot));
	slots = aligned_alloc(HUGE_PAGE_BYTES, bytes);
	if (!slots)
		lc_no_memory();
	(void)madvise(slots, bytes, MADV_HUGEPAGE);
	memset(slots, 0, bytes);
	return slots;
}

static void rehash(struct lc_table *t)
{
	free(t->slots);
	t->slots_len = t->slots_len ? t->slots_len * 2 : SLOTS_MIN;
	t->slots = new_slots(t->slots_len);
	for (uint32_t row = 0; row < t->count; row++) {
		const uint32_t hash = hash_of(lc_table_key(t, row), t->key_len);
		size_t i = hash & (t->slots_len - 1);

		while (t->slots[i].row1)
			i = (i + 1) & (t->slots_len - 1);
		t->slots[i] = (struct lc_table_slot){ hash, row + 1 };
	}
}

uint32_t lc_table_find(const struct lc_table *t, const uint32_t *key)
{
	uint32_t found =
	    t->slots_len ? t->slots[find_slot(t, key, hash_of(key, t->key_len))].row1 : 0;

	return found ? found - 1 : UINT32_MAX;
}

/* Make room for `more` rows. */
static void reserve(struct lc_table *t, uint32_t more)
{
	const size_t need = (size_t)t->count + more;

	if (need > INT32_MAX) {
		fputs("locus: the profile is too large: it has more than 2147483647 rows of one "
		      "kind\n",
		      stderr);
		exit(1);
	}
	while (need * 3 > t->slots_len * 2)
		rehash(t);
	t->keys = lc_mem_grow(t->keys, &t->keys_cap, need * t->key_len, sizeof(*t->keys));
	if (t->value_len)
		t->values =
		    lc_mem_grow(t->values, &t->values_cap, need * t->value_len, sizeof(*t->values));
}

/* There is room for a row. */
static inline uint32_t put(struct lc_table *t, const uint32_t *key, uint32_t hash)
{
	const size_t slot = find_slot(t, key, hash);

	if (!t->slots[slot].row1) {
		memcpy(t->keys + (size_t)t->count * t->key_len, key, t->key_len * sizeof(*key));
		if (t->value_len)
			memset(lc_table_values(t, t->count), 0, t->value_len * sizeof(*t->values));
		t->slots[slot] = (struct lc_table_slot){ hash, ++t->count };
	}
	return t->slots[slot].row1 - 1;
}

uint32_t lc_table_put(struct lc_table *t, const uint32_t *key)
{
	reserve(t, 1);
	return put(t, key, hash_of(key, t->key_len));
}

/*
 * Whether one of the rows that follow the one that was found last has the key: profiles of one
 * program tell of the same names in much the same order. The row, or UINT32_MAX.
 */
static inline uint32_t expected(const struct lc_table *t, uint32_t next, const uint32_t *key)
{
	for (uint32_t row = next; row < next + LC_TABLE_AHEAD && row < t->count; row++)
		if (same_key(t, row, key))
			return row;
	return UINT32_MAX;
}

void lc_table_put_batch(struct lc_table *t, const uint32_t *keys, uint32_t n, uint32_t *rows)
{
	uint32_t hashes[LC_TABLE_BATCH], others[LC_TABLE_BATCH], len = 0, next = t->next;

	reserve(t, n);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t *key = keys + (size_t)i * t->key_len;

		rows[i] = expected(t, next, key);
		if (rows[i] != UINT32_MAX) {
			next = rows[i] + 1;
			continue;
		}
		hashes[len] = hash_of(key, t->key_len);
		__builtin_prefetch(&t->slots[hashes[len] & (t->slots_len - 1)], 1);
		others[len++] = i;
	}
	for (uint32_t k = 0; k < len; k++) {
		const struct lc_table_slot *slot = &t->slots[hashes[k] & (t->slots_len - 1)];

		if (!slot->row1)
			continue;
		__builtin_prefetch(lc_table_key(t, slot->row1 - 1));
		__builtin_prefetch(lc_table_values(t, slot->row1 - 1), 1);
	}
	for (uint32_t k = 0; k < len; k++)
		rows[others[k]] = put(t, keys + (size_t)others[k] * t->key_len, hashes[k]);
	if (n)
		t->next = rows[n - 1] + 1;
}

size_t lc_table_bytes(const struct lc_table *t)
{
	return (size_t)t->count *
	           (t->key_len * sizeof(*t->keys) + t->value_len * sizeof(*t->values)) +
	       t->slots_len * sizeof(*t->slots);
}
