/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/holder_table.h - keeps for each object that a heap walk reaches one reference that leads to
 * it, so that a chain of references from a root can be read off afterwards.
 *
 * The JVM walks depth first, so the first reference to an object is often on a long way. The table
 * therefore replaces the reference when a later one comes from nearer a root. The distance of an
 * object never grows, and was at its last change greater than that of its referrer. So distances
 * fall along a chain, and a chain has an end.
 *
 * Pure functions on memory of the caller. Context: the VM thread in the walk, then the caller.
 */
#ifndef LC_AGENT_HOLDER_TABLE_H
#define LC_AGENT_HOLDER_TABLE_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* An object's number is its index in the table; 0 stands for "a root". */
struct lc_holder {
	uint32_t parent; /* the referrer's number */
	uint32_t edge;   /* lc_holder_edge() */
	uint32_t class;  /* the number of the object's class; 0: a class that has no number */
	uint32_t distance;
};

struct lc_holder_class {
	uint64_t objects, bytes; /* that were reached */
	uint32_t weak; /* index + 1 of the field that holds its referent weakly; 0: none */
	bool wanted;   /* its objects are asked for */
	bool skipped;  /* its objects hold nothing, and are not wanted */
};

struct lc_holder_table {
	struct lc_holder *objects; /* [cap], zero; 1 to class_count are the class objects */
	uint32_t len, cap;
	struct lc_holder_class *classes; /* [class_count + 1], by number */
	uint32_t class_count;
	uint32_t walk; /* not 0; a tag of another walk means nothing */
};

/* A reference, as far as the table needs it. */
struct lc_holder_reference {
	jvmtiHeapReferenceKind kind;
	uint32_t index; /* of the field, or the number of the root's method */
	uint32_t class; /* of the object */
	uint64_t bytes; /* of the object */
	uint32_t parent;
};

static inline uint32_t lc_holder_edge(jvmtiHeapReferenceKind kind, uint32_t index)
{
	return (uint32_t)kind << 27 | (index & ((1U << 27) - 1));
}

static inline jvmtiHeapReferenceKind lc_holder_edge_kind(uint32_t edge)
{
	return (jvmtiHeapReferenceKind)(edge >> 27);
}

static inline uint32_t lc_holder_edge_index(uint32_t edge)
{
	return edge & ((1U << 27) - 1);
}

static inline jlong lc_holder_tag(const struct lc_holder_table *t, uint32_t number)
{
	return (jlong)((uint64_t)t->walk << 32 | number);
}

/* The object with that tag; 0: none. */
static inline uint32_t lc_holder_number(const struct lc_holder_table *t, jlong tag)
{
	return (uint64_t)tag >> 32 == t->walk ? (uint32_t)tag : 0;
}

/* The number of the thread that has asked for the walk: its own references are left out. */
static inline uint32_t lc_holder_own_thread(const struct lc_holder_table *t)
{
	return t->class_count + 1;
}

/* Begin, with the class objects and the thread in the table. There is room for them. */
void lc_holder_table_begin(struct lc_holder_table *t);

/*
 * A reference to the object with the tag *tag, which is set if it is new. Returns false, and
 * changes nothing, if there is no room for a new object.
 */
bool lc_holder_table_reach(struct lc_holder_table *t, const struct lc_holder_reference *r,
                           jlong *tag);

/* Was the object reached? A class object is in the table from the start. */
bool lc_holder_table_reached(const struct lc_holder_table *t, uint32_t number);

#endif
