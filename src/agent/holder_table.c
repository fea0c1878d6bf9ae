/* SPDX-License-Identifier: Apache-2.0 */
/* agent/holder_table.c - keeps the nearest known referrer of each object. */
#include "src/agent/holder_table.h"

enum { STATIC_DISTANCE = 1, ROOT_DISTANCE = 2 }; /* of two equal chains, a static field says more */

void lc_holder_table_begin(struct lc_holder_table *t)
{
	t->len = t->class_count + 2;
	for (uint32_t i = 0; i < t->len; i++)
		t->objects[i] = (struct lc_holder){ .distance = UINT32_MAX };
}

bool lc_holder_table_reached(const struct lc_holder_table *t, uint32_t number)
{
	return number && number < t->len && t->objects[number].distance != UINT32_MAX;
}

static uint32_t distance_of(const struct lc_holder_table *t, const struct lc_holder_reference *r)
{
	uint32_t parent;

	if (r->kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD)
		return STATIC_DISTANCE;
	if (!r->parent)
		return ROOT_DISTANCE;
	parent = t->objects[r->parent].distance;
	return parent >= UINT32_MAX - 1 ? UINT32_MAX - 1 : parent + 1;
}

bool lc_holder_table_reach(struct lc_holder_table *t, const struct lc_holder_reference *r,
                           jlong *tag)
{
	uint32_t number = lc_holder_number(t, *tag);
	const uint32_t distance = distance_of(t, r);
	struct lc_holder *o;

	if (!number) {
		if (t->len == t->cap)
			return false;
		number = t->len++;
		t->objects[number] = (struct lc_holder){ .distance = UINT32_MAX };
		*tag = lc_holder_tag(t, number);
	}
	o = &t->objects[number];
	if (o->distance == UINT32_MAX) {
		o->class = r->class;
		t->classes[r->class].objects++;
		t->classes[r->class].bytes += r->bytes;
	}
	if (distance < o->distance) {
		o->parent = r->parent;
		o->edge = lc_holder_edge(r->kind, r->index);
		o->distance = distance;
	}
	return true;
}
