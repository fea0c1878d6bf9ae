/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/table.h - a table holds rows that are found by a key of a few numbers; each row has a few
 * sums.
 */
#ifndef LC_BASE_TABLE_H
#define LC_BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct lc_table_slot {
	uint32_t hash;
	uint32_t row1; /* row + 1, or 0 */
};

/*
 * Rows are numbered from 0 in the order they came. The fields are for reading; `keys` and
 * `values` move when a row is added.
 */
struct lc_table {
	uint32_t key_len;   /* numbers of a key */
	uint32_t value_len; /* sums of a row; 0 at first */
	uint32_t count;
	uint32_t next; /* the row behind the one that lc_table_put_batch() found last */
	uint32_t *keys;
	uint64_t *values;
	size_t keys_cap; /* in numbers */
	size_t values_cap;
	struct lc_table_slot *slots;
	size_t slots_len;
};

/* Stops the program without memory, or after 2^31 rows. */
void lc_table_init(struct lc_table *t, uint32_t key_len, uint32_t value_len);
void lc_table_free(struct lc_table *t);

/* The row with this key, made where there is none. */
uint32_t lc_table_put(struct lc_table *t, const uint32_t *key);

/* Keys that are put together, and rows behind the last one in which the next one is looked for. */
enum { LC_TABLE_BATCH = 64, LC_TABLE_AHEAD = 4 };

/*
 * The same for `n` keys, LC_TABLE_BATCH at most, that stand behind each other: rows[i] is that of
 * the key i. Faster, since the memory that they need is asked for together.
 */
void lc_table_put_batch(struct lc_table *t, const uint32_t *keys, uint32_t n, uint32_t *rows);

/* The row with this key, or UINT32_MAX. */
uint32_t lc_table_find(const struct lc_table *t, const uint32_t *key);

/* Bytes of memory that the rows take, and what finds them. */
size_t lc_table_bytes(const struct lc_table *t);

static inline const uint32_t *lc_table_key(const struct lc_table *t, uint32_t row)
{
	return t->keys + (size_t)row * t->key_len;
}

static inline uint64_t *lc_table_values(const struct lc_table *t, uint32_t row)
{
	static uint64_t none; /* of a table without values: never read or written */

	return t->value_len ? t->values + (size_t)row * t->value_len : &none;
}

#endif
