/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format/section.h - tells what sections.def says of each flat section, for code that treats all of
 * them alike.
 *
 * Such code sees a row as an array of numbers, one for each column, as they stand in the file; but
 * sites, paths, strings and engines are still numbered as the row's owner does (a string of the
 * agent is its address). Context of all functions: any.
 */
#ifndef LC_FORMAT_SECTION_H
#define LC_FORMAT_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/sum.h"
#include "src/format/kinds.h"

enum { LC_COLUMNS_MAX = 13 }; /* of a flat section */

/* Types of columns, as in sections.def; BUCKET, NODE and TENTH are LC_COLUMN_BELOW. */
enum lc_column_type {
	LC_COLUMN_U64,
	LC_COLUMN_PAIRS,
	LC_COLUMN_FROM,
	LC_COLUMN_PART,
	LC_COLUMN_LENGTH,
	LC_COLUMN_BELOW,
	LC_COLUMN_TENTH,
	LC_COLUMN_SUBMIT,
	LC_COLUMN_SITE,
	LC_COLUMN_SITE_OR_0,
	LC_COLUMN_PATH,
	LC_COLUMN_STRING,
	LC_COLUMN_ENGINE,
	LC_COLUMN_TYPES
};

struct lc_column {
	uint64_t below;  /* of BELOW and TENTH: the numbers that it may hold are less */
	uint16_t offset; /* of the member in the row's struct (rows.h) */
	uint8_t bytes;   /* of the member: 1, 2, 4 or 8 */
	uint8_t type;    /* enum lc_column_type */
	bool max;        /* a value that is the largest, not a sum */
};

/* Which path decides whether a row passes a filter of paths: FILTER in sections.def. */
enum lc_section_filter {
	LC_FILTER_NONE,   /* no path: every row passes */
	LC_FILTER_ACCESS, /* the access's: the last PATH among the keys, whose 0 is the root */
	LC_FILTER_SITE,   /* that of the first SITE */
	LC_FILTER_GROUP,  /* the same, but only a filter of groups looks at it */
	LC_FILTER_DROP,   /* unknown: no row passes */
};

struct lc_section_spec {
	uint8_t number; /* enum lc_section */
	uint8_t filter; /* enum lc_section_filter */
	/*
	 * Its number in a block of all threads, where rows begin with their thread; 0: rows have no
	 * thread.
	 */
	uint8_t merged;
	uint8_t columns_len;
	uint8_t keys_len; /* the first columns */
	const struct lc_column *columns;
	size_t row_bytes; /* of the struct */
	size_t list; /* offset in lc_block_input of the pointer to the rows; and of their number */
	size_t list_len;
	/*
	 * The order of two structs by their keys, as qsort() wants it: 0 where they differ in
	 * values alone.
	 */
	int (*order)(const void *a, const void *b);
	/*
	 * Is every column within its limits? Sites, paths and strings may be any; engines are below
	 * `engines`.
	 */
	bool (*valid)(const void *row, unsigned engines);
	/* Add the values of struct `from` to those of struct `to`, which has the same keys. */
	void (*add)(void *to, const void *from);
};

/* For columns whose limit only the reader knows: the numbers that they may hold are less. */
struct lc_section_limits {
	uint64_t below[LC_COLUMN_TYPES]; /* of the types from LC_COLUMN_SITE on */
};

/* NULL where the section is not flat. */
const struct lc_section_spec *lc_section_spec(unsigned section);

/* The columns of a struct of rows.h; `v` has room for LC_COLUMNS_MAX. */
void lc_section_load(const struct lc_section_spec *s, const void *row, uint64_t *v);

/* Is every column within its limits? */
bool lc_section_valid(const struct lc_section_spec *s, const struct lc_section_limits *limits,
                      const uint64_t *v);

/* Add one value to that of another row. */
static inline void lc_section_column_add(const struct lc_column *c, uint64_t *to, uint64_t from)
{
	if (!c->max)
		lc_sum_add(to, from);
	else if (from > *to)
		*to = from;
}

#endif
