/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/place.h - recognises a place where a thread has been before, without walking its stack.
 *
 * Walking the stack costs hundreds of times what a hook may cost, and a program calls a hook mostly
 * from places that it has called it from before. So a thread keeps a table of places. A place is
 * recognised by the frame of the hook, by a key (what the hook asks), and by the words of the stack
 * that tell where the thread is (stack/words.h): the first visit walks the stack and learns which
 * words these are, and later hooks only compare them.
 *
 * Streams and tasks each have a table of their own kind. An entry of a table is a
 * structure of its user that begins with a struct lc_place; behind that is what the walk has found.
 * Owner of all: the thread, without a lock.
 */
#ifndef LC_STACK_PLACE_H
#define LC_STACK_PLACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash.h"
#include "src/stack/words.h"

/*
 * All tables in which nothing was kept yet share one empty set of ways, so that a search needs no
 * test for them. It has this size, and each kind asserts that its ways fit in.
 */
enum { LC_PLACES_NONE_BYTES = 16384 };

enum {
	LC_PLACES_LAST = 16, /* sets of places that were found last: a power of two */
	LC_PLACES_LAST_WAYS = 2
};

#define LC_PLACE_KIND_FITS(entry, ways)                                                            \
	_Static_assert(sizeof(entry) * (ways) <= LC_PLACES_NONE_BYTES, "too few bytes")

/* How a table works. Make it a static constant, so that a search is compiled for its kind. */
struct lc_place_kind {
	uint32_t entry_bytes; /* size of the user's structure */
	uint32_t ways;        /* entries in which a place may lie: a power of two */
	/*
	 * Places are recognised at any depth of the stack: the frame is no part of them. For
	 * recursion, whose places are nested deeply.
	 */
	bool any_depth;
	/*
	 * Any number of places may have frame and key in common. A place without a way of its own
	 * is looked up by its words, at the offsets of the other places' words.
	 */
	bool far;
};

struct lc_place {
	uint64_t frame;      /* of the hook; 0 with any_depth */
	uint64_t key;        /* what else matters; frame and key are not both 0 */
	uint32_t generation; /* of the generated code, when the words were learnt */
	struct lc_words words;
};

/* Did the walks to two entries of one frame and key find the same? */
typedef bool lc_place_same(const struct lc_place *a, const struct lc_place *b);

struct lc_places {
	unsigned char *near; /* entries; the shared empty set until one is kept; never NULL */
	uint32_t mask;       /* entries - 1 */
	uint32_t evictions;  /* since the table grew */
	const _Atomic uint32_t *generation;
	unsigned char *far; /* as many entries; NULL: another kind, or nothing was kept yet */
	const struct lc_place_kind *kind;
	lc_place_same *same; /* NULL: none is replaced for being the same */
	/* Last results of lc_places_find_again(), by their hash. Never NULL. Two ways: a thread
	 * often goes to and fro between two places. */
	struct lc_place *last[LC_PLACES_LAST][LC_PLACES_LAST_WAYS];
};

/* An empty table, which takes memory when the first place is kept. Context: [attach] [hook]. */
void lc_places_init(struct lc_places *p, const struct lc_place_kind *kind, lc_place_same *same);

/* Free what the table holds. Context: [writer], when the thread has ended. */
void lc_places_free(struct lc_places *p);

/*
 * Keep a copy of *new, whose frame, key and words are set; another place may be forgotten for it.
 * Returns the entry, which then owns new->words.more, and which is valid until the next call; or
 * NULL without memory: then `more` stays the caller's. Context: [hook], owner; slow.
 */
struct lc_place *lc_places_keep(struct lc_places *p, struct lc_place *new);

/* The place among those that have no way of their own; NULL: it is not known. [hook], owner. */
struct lc_place *lc_places_find_far(const struct lc_places *p, uint64_t frame, uint64_t key);

/* The first way of a place, without the mask. */
static inline uint32_t lc_place_hash(uint64_t frame, uint64_t key)
{
	return (uint32_t)(lc_hash((frame >> 4) + key) >> 40);
}

static inline struct lc_place *lc_place_at(unsigned char *table, const struct lc_place_kind *kind,
                                           uint32_t i)
{
	return (struct lc_place *)(table + (size_t)i * kind->entry_bytes);
}

/* Is it the place of the hook with this frame and key? */
static inline __attribute__((always_inline)) bool lc_place_is(const struct lc_place *x,
                                                              const struct lc_place_kind *kind,
                                                              uint32_t generation, uint64_t frame,
                                                              uint64_t key, uint64_t stack_end)
{
	return x->key == key && x->generation == generation &&
	       (kind->any_depth ? frame + (uint64_t)x->words.reach * 8 < stack_end
	                        : x->frame == frame) &&
	       lc_words_same(&x->words, frame);
}

/*
 * The known place of the hook with this frame and key, or NULL. `kind` is the table's own; what
 * lies at `stack_end` and beyond is not read (needed with any_depth only). Context: [hook], owner.
 */
static inline __attribute__((always_inline)) struct lc_place *
lc_places_find(const struct lc_places *p, const struct lc_place_kind *kind, uint64_t frame,
               uint64_t key, uint64_t stack_end)
{
	uint32_t at = lc_place_hash(kind->any_depth ? 0 : frame, key) & p->mask;
	uint32_t now = atomic_load_explicit(p->generation, memory_order_relaxed); /* a hint */

	for (uint32_t way = 0; way < kind->ways; way++) {
		struct lc_place *x = lc_place_at(p->near, kind, at ^ way);

		if (lc_place_is(x, kind, now, frame, key, stack_end))
			return x;
	}
	return kind->far ? lc_places_find_far(p, frame, key) : NULL;
}

/* The same, which first asks the places that were found last. For kinds of many ways. */
static inline __attribute__((always_inline)) struct lc_place *
lc_places_find_again(struct lc_places *p, const struct lc_place_kind *kind, uint64_t frame,
                     uint64_t key, uint64_t stack_end)
{
	uint32_t hash = lc_place_hash(kind->any_depth ? 0 : frame, key);
	uint32_t now = atomic_load_explicit(p->generation, memory_order_relaxed); /* a hint */
	struct lc_place **last = p->last[hash % LC_PLACES_LAST], *x;

	for (unsigned way = 0; way < LC_PLACES_LAST_WAYS; way++)
		if (lc_place_is(last[way], kind, now, frame, key, stack_end))
			return last[way];
	x = lc_places_find(p, kind, frame, key, stack_end);
	if (x) {
		last[1] = last[0];
		last[0] = x;
	}
	return x;
}

#endif
