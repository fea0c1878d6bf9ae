/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/contents.h - what the agent saw in some arrays of a row: how much of those that
 * died was in use, and how many of those that outlived a collection are equal to another.
 */
#ifndef LC_OBJECTS_ANALYSIS_CONTENTS_H
#define LC_OBJECTS_ANALYSIS_CONTENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
	LC_CONTENTS_PARTS = 5,              /* used up to 1/64, 1/16, 1/8, 1/4 and 1/2 */
	LC_CONTENTS_MIN = 20,               /* fewer arrays say nothing of the others */
	LC_CONTENTS_WHOLE_BYTES = 16 << 10, /* larger arrays are looked at in places */
};

/* Sums of rows of the section CONTENTS. */
struct lc_rank_contents {
	uint64_t dead, zero;
	uint64_t bytes, used_bytes; /* of the dead ones that are not `zero` */
	uint64_t parts[LC_CONTENTS_PARTS];
	uint64_t outlived, same, other;
};

/* Was any array looked at? */
static inline bool lc_contents_any(const struct lc_rank_contents *c)
{
	return c->dead || c->outlived;
}

/* Dead arrays in which something is not zero. */
static inline uint64_t lc_contents_written(const struct lc_rank_contents *c)
{
	return c->dead - c->zero;
}

/*
 * The smallest part of an array that at least 95% of the written ones were used up to: 64 for 1/64
 * and so on, with how many these are in *within. 0: a twentieth or more used over a half.
 */
unsigned lc_contents_used(const struct lc_rank_contents *c, uint64_t *within);

/* The part of the written arrays that was in use, on average by bytes; there are some. */
static inline double lc_contents_share(const struct lc_rank_contents *c)
{
	return c->bytes ? (double)c->used_bytes / (double)c->bytes : 0;
}

/*
 * Do the arrays of two recordings differ in how much of them is used? By the classes of used parts,
 * beyond chance (1 in 1,000); false if either has fewer than LC_CONTENTS_MIN written arrays.
 */
bool lc_contents_differ(const struct lc_rank_contents *a, const struct lc_rank_contents *b);

/* Arrays that are equal to another. */
static inline uint64_t lc_contents_equal(const struct lc_rank_contents *c)
{
	return c->same + c->other;
}

/*
 * Write "98 dead arrays looked at: used up to 1/64 in 96, 1.1% of 8.0 KB on average, ...; 90 that
 * outlived a collection: 44 equal to another".
 */
void lc_contents_text(FILE *out, const struct lc_rank_contents *c);

#endif
