/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/place.c - keeps the table of places: it learns, grows and evicts.
 *
 * A table is direct-mapped in sets of `ways` entries, and grows when live entries push each other
 * out, so that a thread with three places pays for three.
 *
 * A kind with `far` has a second table of the same size. Places that have frame and key in common
 * lie in one set of the first table; when that is full, further ones lie in the second, at a hash
 * of their words. An entry of the first tells at which offsets to read the words to hash: its
 * shape.
 */
#include "src/stack/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/stack/generated.h"

enum { TABLE_MIN = 16, TABLE_MAX = 4096 };

/* The ways of every table in which nothing was kept yet. Never written. */
static _Alignas(uint64_t) unsigned char none[LC_PLACES_NONE_BYTES];

static bool has_none(const struct lc_places *p)
{
	return p->near == none;
}

static void forget_last(struct lc_places *p)
{
	for (unsigned i = 0; i < LC_PLACES_LAST; i++)
		for (unsigned way = 0; way < LC_PLACES_LAST_WAYS; way++)
			p->last[i][way] = lc_place_at(none, p->kind, 0);
}

void lc_places_init(struct lc_places *p, const struct lc_place_kind *kind, lc_place_same *same)
{
	*p = (struct lc_places){
		.near = none, .generation = lc_generated_generation(), .kind = kind, .same = same
	};
	forget_last(p);
}

void lc_places_free(struct lc_places *p)
{
	if (has_none(p))
		return;
	for (uint32_t i = 0; i <= p->mask; i++) {
		free(lc_place_at(p->near, p->kind, i)->words.more);
		if (p->far)
			free(lc_place_at(p->far, p->kind, i)->words.more);
	}
	free(p->near);
	free(p->far);
	lc_places_init(p, p->kind, p->same);
}

static uint32_t current_generation(const struct lc_places *p)
{
	return atomic_load_explicit(p->generation, memory_order_relaxed); /* a hint: events lag */
}

static bool is_empty(const struct lc_place *x)
{
	return !(x->frame | x->key);
}

static bool same_key(const struct lc_place *a, const struct lc_place *b)
{
	return a->frame == b->frame && a->key == b->key;
}

/* Would the same words be compared for both? */
static bool same_shape(const struct lc_place *a, const struct lc_place *b)
{
	return same_key(a, b) && lc_words_same_offsets(&a->words, &b->words);
}

/* The hash of a place of this shape in the far table, by its own words. */
static uint32_t far_hash(const struct lc_place *x)
{
	const struct lc_words *w = &x->words;
	uint64_t h = x->frame ^ x->key;

	for (unsigned i = 0; i < w->len; i++)
		h = lc_hash_add(h, w->value[i]);
	for (uint32_t i = 0; w->more && i < w->more->len; i++)
		h = lc_hash_add(h, w->more->word[i].value);
	return (uint32_t)(h >> 20);
}

/* The same for the words that are on the stack. */
static uint32_t far_hash_of_stack(const struct lc_place *shape)
{
	const uint64_t *stack = (const uint64_t *)(uintptr_t)shape->frame; /* NOLINT */
	const struct lc_words *w = &shape->words;
	uint64_t h = shape->frame ^ shape->key;

	for (unsigned i = 0; i < w->len; i++)
		h = lc_hash_add(h, stack[w->offset[i]]);
	for (uint32_t i = 0; w->more && i < w->more->len; i++)
		h = lc_hash_add(h, stack[w->more->word[i].offset]);
	return (uint32_t)(h >> 20);
}

struct lc_place *lc_places_find_far(const struct lc_places *p, uint64_t frame, uint64_t key)
{
	const struct lc_place_kind *kind = p->kind;
	uint32_t at = lc_place_hash(frame, key) & p->mask, now = current_generation(p);

	for (uint32_t way = 0; way < kind->ways; way++) {
		const struct lc_place *shape = lc_place_at(p->near, kind, at ^ way);
		uint32_t far;

		if (shape->frame != frame || shape->key != key || shape->generation != now)
			continue;
		far = far_hash_of_stack(shape) & p->mask;
		for (uint32_t i = 0; i < kind->ways; i++) {
			struct lc_place *x = lc_place_at(p->far, kind, far ^ i);

			if (x->frame == frame && x->key == key && x->generation == now &&
			    lc_words_same(&x->words, frame))
				return x;
		}
	}
	return NULL;
}

/* An entry of the set at `at` that is empty or outdated; NULL: there is none. */
static struct lc_place *free_way(const struct lc_places *p, unsigned char *table, uint32_t at)
{
	for (uint32_t way = 0; way < p->kind->ways; way++) {
		struct lc_place *x = lc_place_at(table, p->kind, (at & p->mask) ^ way);

		if (is_empty(x) || x->generation != current_generation(p))
			return x;
	}
	return NULL;
}

/*
 * The entry of a full set that gives way to a new one: one that means the same, since a path may
 * lie on the stack in more than one way (a method compiled again, a loop body that was copied);
 * else each in its turn.
 */
static struct lc_place *victim(struct lc_places *p, const struct lc_place *new, uint32_t at)
{
	struct lc_place *same = NULL;

	for (uint32_t way = 0; p->same && way < p->kind->ways; way++) {
		struct lc_place *x = lc_place_at(p->near, p->kind, at ^ way);

		if (same_key(x, new) && p->same(x, new))
			same = x;
	}
	p->evictions++;
	return same ? same
	            : lc_place_at(p->near, p->kind, at ^ (p->evictions & (p->kind->ways - 1)));
}

/*
 * The entry of a full set that gives way to a new shape: one whose shape another one has too, else
 * each in its turn. NULL: the shape is there, so that the new place will be found in the far table.
 */
static struct lc_place *shape_victim(struct lc_places *p, const struct lc_place *new, uint32_t at)
{
	struct lc_place *twin = NULL;

	for (uint32_t way = 0; way < p->kind->ways; way++) {
		struct lc_place *x = lc_place_at(p->near, p->kind, at ^ way);

		if (same_shape(x, new))
			return NULL;
		for (uint32_t i = 0; i < way; i++)
			if (same_shape(x, lc_place_at(p->near, p->kind, at ^ i)))
				twin = x;
	}
	return twin ? twin
	            : lc_place_at(p->near, p->kind, at ^ (p->evictions & (p->kind->ways - 1)));
}

/* The entry for a new place of a kind with far ones. */
static struct lc_place *way_with_far(struct lc_places *p, const struct lc_place *new, uint32_t at)
{
	struct lc_place *to = shape_victim(p, new, at);

	if (to) {
		p->evictions++;
		return to;
	}
	at = far_hash(new) & p->mask;
	to = free_way(p, p->far, at);
	return to ? to : lc_place_at(p->far, p->kind, at ^ (p->evictions++ & (p->kind->ways - 1)));
}

/* The entry for a new place. */
static struct lc_place *way_for(struct lc_places *p, const struct lc_place *new)
{
	uint32_t at = lc_place_hash(new->frame, new->key) & p->mask;
	struct lc_place *to = free_way(p, p->near, at);

	if (to)
		return to;
	return p->kind->far ? way_with_far(p, new, at) : victim(p, new, at);
}

static void overwrite(const struct lc_places *p, struct lc_place *to, const struct lc_place *x)
{
	free(to->words.more);
	memcpy(to, x, p->kind->entry_bytes);
}

/* Put an entry of a smaller table into `p`; it is dropped if it is outdated or its set is full. */
static void move(struct lc_places *p, struct lc_place *x)
{
	uint32_t at = lc_place_hash(x->frame, x->key) & p->mask;
	struct lc_place *to = NULL;

	if (x->generation == current_generation(p))
		to = free_way(p, p->near, at);
	if (!to && x->generation == current_generation(p) && p->kind->far)
		to = way_with_far(p, x, at);
	if (to)
		overwrite(p, to, x);
	else
		free(x->words.more);
}

static void move_all(struct lc_places *p, unsigned char *table, uint32_t len)
{
	for (uint32_t i = 0; table && i < len; i++) {
		struct lc_place *x = lc_place_at(table, p->kind, i);

		if (!is_empty(x))
			move(p, x);
	}
	free(table);
}

/* Returns 0 or -ENOMEM: then the old table still serves, if there is one. */
static int grow(struct lc_places *p)
{
	const uint32_t min = p->kind->ways > TABLE_MIN ? p->kind->ways : TABLE_MIN;
	const uint32_t cap = has_none(p) ? min : (p->mask + 1) * 4;
	struct lc_places bigger = *p;

	p->evictions = 0;
	bigger.mask = cap - 1;
	bigger.evictions = 0;
	bigger.near = calloc(cap, p->kind->entry_bytes);
	bigger.far = p->kind->far ? calloc(cap, p->kind->entry_bytes) : NULL;
	if (!bigger.near || (p->kind->far && !bigger.far)) {
		free(bigger.near);
		free(bigger.far);
		return -ENOMEM;
	}
	if (!has_none(p)) {
		move_all(&bigger, p->near, p->mask + 1);
		move_all(&bigger, p->far, p->mask + 1);
	}
	bigger.evictions = 0;
	*p = bigger;
	forget_last(p);
	return 0;
}

struct lc_place *lc_places_keep(struct lc_places *p, struct lc_place *new)
{
	struct lc_place *to;

	if (!has_none(p) && p->evictions > (p->mask + 1) / 2 && p->mask + 1 < TABLE_MAX)
		(void)grow(p);
	if (has_none(p) && grow(p))
		return NULL;
	new->generation = current_generation(p);
	to = way_for(p, new);
	overwrite(p, to, new);
	return to;
}
