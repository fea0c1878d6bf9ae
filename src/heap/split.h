/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap/split.h - splits the accesses to a class over its allocation sites, by a sample of its
 * objects.
 *
 * Pure arithmetic; docs/engines/estimates.md has the formulas. An object in the sample was picked
 * with a known chance, and stands for 1 / chance objects like it.
 *
 * LIVE gives an access to an object of the sample to its site, and divides each other access over
 * the sites of the class by their shares of the live objects that are not in the sample. HITS
 * counts only accesses to an object that is in the sample itself, as 1 / chance accesses.
 *
 * Owner: one thread at a time. Context of all functions: [writer].
 */
#ifndef LC_HEAP_SPLIT_H
#define LC_HEAP_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/profile/profile_writer.h"

struct lc_split; /* opaque, see heap/split.c */

enum { LC_SPLIT_ADDRESSES = 4 };
#define LC_SPLIT_ALIVE UINT32_MAX

/* The objects of a class that an access may have been to. */
enum lc_split_age {
	LC_SPLIT_ANY = 0, /* unknown */
	LC_SPLIT_NEW,     /* allocated since the last collection */
	LC_SPLIT_OLD,     /* older than that */
};

/* An object of the sample. */
struct lc_split_object {
	uint32_t class_site, site;
	uint32_t born; /* epoch in which it was allocated */
	uint32_t died; /* epoch at whose end it was found dead, or LC_SPLIT_ALIVE */
	uint32_t last; /* epoch of address[0]; address[i] is of epoch last - i; 0: unknown */
	uint64_t address[LC_SPLIT_ADDRESSES];
	double chance; /* that it is in the sample, above 0 and at most 1 */
	double hits;   /* samples that fell into it so far; lc_split_settle() adds to it */
	void *user;    /* `user` and `number` belong to the caller */
	size_t number;
};

struct lc_split_access {
	uint32_t class_site;
	uint32_t epoch;
	uint64_t start; /* of the object */
	uint32_t thread;
	uint16_t engine;
	uint8_t age; /* enum lc_split_age */
	uint64_t samples;
	const struct lc_split_object *object; /* of the sample; lc_split_settle() finds it */
};

struct lc_split *lc_split_create(void); /* NULL without memory */
void lc_split_destroy(struct lc_split *s);

/* Note an access, to be settled later. Returns 0, or -ENOMEM if the access gets no site. */
int lc_split_note(struct lc_split *s, const struct lc_split_access *a);

/* The number of accesses that are noted and not settled. */
size_t lc_split_noted(const struct lc_split *s);

/*
 * Split the accesses noted since the last call over the sites of `objects`, which it sorts.
 * `from_start`: the objects are a sample of all that the program allocated. Otherwise some are
 * older than the sample and have no site. LIVE then divides only accesses to objects of age NEW,
 * which must be younger than the sample, and hits stand for no others.
 *
 * Give each row to emit() with the number of the accessing thread. Rows of one engine, class, site
 * and method add up, over threads and calls, to an estimate S and its variance V. Errors of
 * different sites are independent, so the variance of site i's share r of the class is ((1 - r)^2
 * V_i + r^2 (V_1 + V_2 + .. - V_i)) / (S_1 + S_2 + ..)^2. Returns the number of samples that match
 * no object in the sample by class and age.
 */
uint64_t
lc_split_settle(struct lc_split *s, struct lc_split_object *objects, size_t len, bool from_start,
                void (*emit)(void *user, uint32_t thread, const struct lc_block_split *row),
                void *user);

#endif
