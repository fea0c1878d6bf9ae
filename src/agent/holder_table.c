/* SPDX-License-Identifier: Apache-2.0 */
/* agent/holder_table.c - keeps the nearest known referrer of each object. */
#include "src/agent/holder_table.h"

#include <stddef.h>
#include <stdlib.h>

#include "src/base/order.h"

enum {
	BLOCK_SHIFT = 6, /* 64 addresses, of 512 bytes of heap */
	BLOCK_ROWS = 32,
};
/*
 * A static field says more than another root. A virtual thread is no root: what holds the thread
 * says more than the thread's own references to itself.
 */
enum { STATIC_DISTANCE = 1, ROOT_DISTANCE = 2, VIRTUAL_DISTANCE = 64 };

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)
#define ADDRESS_MASK ((UINT64_C(1) << 39) - 1)

void lc_holder_table_begin(struct lc_holder_table *t)
{
	const uint32_t first = lc_holder_first_row(t->class_count);

	t->len = 0;
	t->room = (t->cap - first) / 8 * 5;
	t->chunk_len = 0;
	for (uint32_t i = 0; i < first; i++)
		t->objects[i] = (struct lc_holder){ .distance = LC_HOLDER_UNREACHED };
}

static int order_named(const void *a, const void *b)
{
	const struct lc_holder_named *x = a, *y = b;

	return lc_order_u64(x->hash, y->hash);
}

void lc_holder_table_mark(struct lc_holder_table *t, struct lc_holder_named *named)
{
	qsort(named, t->class_count, sizeof(*named), order_named);
	for (uint32_t i = 1; i < t->class_count; i++)
		if (named[i].hash == named[i - 1].hash)
			t->classes[named[i].class].again = t->classes[named[i - 1].class].again =
			    true;
}

bool lc_holder_table_reached(const struct lc_holder_table *t, uint32_t number)
{
	return number && number < t->cap && t->objects[number].distance &&
	       t->objects[number].distance != LC_HOLDER_UNREACHED;
}

/* ---- objects with a row ---- */

static uint64_t stored(uint64_t address)
{
	return address >> 3 & ADDRESS_MASK;
}

/*
 * The object's row, or the free one where it would be. Three in eight are free. Neighbours in the
 * heap are neighbours in the table: objects that the JVM visits one after the other often are.
 */
static uint32_t row_of(const struct lc_holder_table *t, uint64_t address)
{
	const uint32_t first = lc_holder_first_row(t->class_count), rows = t->cap - first;
	const uint64_t wanted = stored(address), block = (wanted >> BLOCK_SHIFT) * GOLDEN >> 32;
	uint32_t at = (uint32_t)(block * rows >> 32) + (uint32_t)(wanted >> 1) % BLOCK_ROWS;

	at = at < rows ? at : at - rows;
	while (t->objects[first + at].distance && t->objects[first + at].address != wanted)
		at = at + 1 < rows ? at + 1 : 0;
	return first + at;
}

uint32_t lc_holder_table_find(const struct lc_holder_table *t, uint64_t address)
{
	const uint32_t row = row_of(t, address);

	return t->objects[row].distance ? row : 0;
}

static uint32_t distance_of(const struct lc_holder_table *t, const struct lc_holder_reference *r)
{
	uint32_t parent;

	if (r->kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD && lc_holder_is_alone(t, r->parent))
		return STATIC_DISTANCE;
	if (!r->parent)
		return r->kind == LC_HOLDER_VIRTUAL_LOCAL ? VIRTUAL_DISTANCE : ROOT_DISTANCE;
	parent = t->objects[r->parent].distance;
	return parent < LC_HOLDER_DISTANCE_MAX ? parent + 1 : LC_HOLDER_DISTANCE_MAX;
}

/* ---- leaf objects ---- */

/* The chunk's place; -1: there is no room for it. */
static ptrdiff_t chunk_of(struct lc_holder_table *t, uint64_t number)
{
	const uint32_t mask = t->chunk_cap - 1;
	uint32_t at = (uint32_t)(number * GOLDEN >> 32) & mask;

	while (t->chunks[at] && t->chunks[at] != number + 1)
		at = (at + 1) & mask;
	if (!t->chunks[at]) {
		if (t->chunk_len == t->chunk_room)
			return -1;
		t->chunk_len++;
		t->chunks[at] = number + 1;
	}
	return (ptrdiff_t)at;
}

static enum lc_holder_result reach_leaf(struct lc_holder_table *t, uint64_t address)
{
	const ptrdiff_t chunk = chunk_of(t, address >> LC_HOLDER_CHUNK_SHIFT);
	const uint32_t bit = (uint32_t)(address >> 3) % (LC_HOLDER_CHUNK_WORDS * 64);
	uint64_t *word;

	if (chunk < 0)
		return LC_HOLDER_FULL;
	word = &t->bits[chunk][bit / 64];
	if (*word >> bit % 64 & 1)
		return LC_HOLDER_KNOWN;
	*word |= UINT64_C(1) << bit % 64;
	return LC_HOLDER_NEW;
}

/* ---- both ---- */

/* Count the object, which is new. `row`: 0 for a leaf. */
static void count(struct lc_holder_table *t, const struct lc_holder_reference *r, uint32_t row)
{
	struct lc_holder_class *c = &t->classes[r->class];
	const uint64_t before = c->objects++;

	c->bytes += r->bytes;
	if (!c->wanted)
		return;
	c->step += !c->step;
	if (before % c->step)
		return;
	if (c->samples == LC_HOLDER_SAMPLES) {
		c->samples /= 2;
		c->step *= 2;
		for (uint32_t i = 0; i < c->samples; i++)
			c->sample[i] = c->sample[(size_t)i * 2];
	}
	c->sample[c->samples++] = (struct lc_holder_sample){ row, r->parent, r->kind, r->index };
}

static struct lc_holder with_reference(struct lc_holder o, const struct lc_holder_reference *r,
                                       uint32_t distance)
{
	o.parent = r->parent;
	o.kind = r->kind & 31;
	o.index = r->index & ((1U << 20) - 1);
	o.distance = distance & ((1U << 12) - 1);
	return o;
}

enum lc_holder_result lc_holder_table_reach(struct lc_holder_table *t,
                                            const struct lc_holder_reference *r)
{
	const uint32_t row = r->object ? r->object : 0;
	const uint32_t distance = distance_of(t, r);
	enum lc_holder_result result = LC_HOLDER_KNOWN;
	struct lc_holder *o;
	uint32_t at;

	if (!row && t->classes[r->class].leaf) {
		result = reach_leaf(t, r->address);
		if (result == LC_HOLDER_NEW)
			count(t, r, 0);
		return result;
	}
	at = row ? row : row_of(t, r->address);
	o = &t->objects[at];
	if (!o->distance) {
		if (t->len == t->room)
			return LC_HOLDER_FULL;
		t->len++;
		*o = (struct lc_holder){ .address = stored(r->address) & ADDRESS_MASK,
			                 .distance = LC_HOLDER_UNREACHED };
	}
	if (o->distance == LC_HOLDER_UNREACHED) {
		o->class = r->class & LC_HOLDER_CLASSES_MAX;
		count(t, r, at);
		result = LC_HOLDER_NEW;
	}
	if (distance < o->distance)
		*o = with_reference(*o, r, distance);
	return result;
}

void lc_holder_table_note(const struct lc_holder_table *t, const struct lc_holder_reference *r,
                          struct lc_holder_leaf *leaf)
{
	const uint32_t distance = distance_of(t, r);

	if (!leaf->distance || distance < leaf->distance)
		*leaf = (struct lc_holder_leaf){
			.class = r->class,
			.distance = distance,
			.sample = { 0, r->parent, r->kind, r->index },
		};
}

uint32_t lc_holder_table_leaf(struct lc_holder_table *t, const struct lc_holder_leaf *leaf)
{
	const struct lc_holder_sample *s = &leaf->sample;
	const struct lc_holder_reference r = { .kind = s->kind,
		                               .index = s->index,
		                               .parent = s->parent };
	const uint32_t row = lc_holder_first_row(t->class_count) - 1;

	t->objects[row] =
	    with_reference((struct lc_holder){ .class = leaf->class & LC_HOLDER_CLASSES_MAX }, &r,
	                   distance_of(t, &r));
	return row;
}

uint32_t lc_holder_table_sample(struct lc_holder_table *t, uint32_t class, uint32_t i)
{
	const struct lc_holder_sample *s = &t->classes[class].sample[i];

	return s->object ? s->object
	                 : lc_holder_table_leaf(
	                       t, &(struct lc_holder_leaf){ .class = class, .sample = *s });
}
