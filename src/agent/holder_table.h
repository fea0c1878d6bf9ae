/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/holder_table.h - keeps for each object that a heap walk reaches one reference that leads to
 * it, so that a chain of references from a root can be read off afterwards.
 *
 * An object is found by its address, which is good for as long as the walk lasts. Objects of leaf
 * classes, which hold no others, have one bit each, and the table keeps a reference to a few of
 * them.
 *
 * The JVM walks depth first, so the first reference to an object is often on a long way. The table
 * therefore replaces the reference when a later one comes from nearer a root. The distance of an
 * object never grows, and was at its last change greater than that of its referrer, or both were
 * the greatest that the table keeps, and the referrer was reached first. So a chain has an end.
 *
 * Pure functions on memory of the caller. Context: the VM thread in the walk, then the caller.
 */
#ifndef LC_AGENT_HOLDER_TABLE_H
#define LC_AGENT_HOLDER_TABLE_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	LC_HOLDER_CLASSES_MAX = (1 << 20) - 1,
	LC_HOLDER_DISTANCE_MAX = (1 << 12) - 2,
	LC_HOLDER_UNREACHED = LC_HOLDER_DISTANCE_MAX + 1,
	LC_HOLDER_SAMPLES = 32,     /* objects of each class that are remembered; even */
	LC_HOLDER_CHUNK_SHIFT = 20, /* a chunk of the heap has 2^20 bytes */
	LC_HOLDER_CHUNK_WORDS = 1 << (LC_HOLDER_CHUNK_SHIFT - 3 - 6),
};

/* Besides jvmtiHeapReferenceKind: a local variable of a virtual thread that the walk has visited.
 */
enum { LC_HOLDER_VIRTUAL_LOCAL = 31 };

/* An object's number is its index in the table; 0 stands for "a root". */
struct lc_holder {
	uint64_t address : 39; /* divided by 8, the low bits */
	uint64_t kind : 5;     /* jvmtiHeapReferenceKind, or LC_HOLDER_VIRTUAL_LOCAL */
	uint64_t index : 20;   /* of the field, or the number of the root's method */
	uint32_t parent;       /* the referrer's number */
	uint32_t class : 20;   /* the number of the object's class; 0: a class that has no number */
	uint32_t distance : 12; /* 0: the row is free */
};

_Static_assert(sizeof(struct lc_holder) == 16, "the memory of a walk is counted in rows");

/* An object of a class: its number, or the reference to an object of a leaf class. */
struct lc_holder_sample {
	uint32_t object; /* 0: it is of a leaf class */
	uint32_t parent, kind, index;
};

/* An object of a leaf class that is looked for, and the reference from nearest a root. */
struct lc_holder_leaf {
	uint32_t class;    /* its class */
	uint32_t distance; /* 0: no reference was met */
	struct lc_holder_sample sample;
};

struct lc_holder_class {
	uint64_t objects, bytes; /* that were reached */
	uint64_t address;        /* of the class object; 0: unknown yet */
	uint32_t weak; /* index + 1 of the field that holds its referent weakly; 0: none */
	uint32_t step; /* every step-th object is a sample */
	uint32_t samples;
	bool wanted;  /* its objects are asked for */
	bool leaf;    /* its objects hold nothing */
	bool skipped; /* a leaf that is not wanted */
	bool again;   /* other classes have its name: its loader may be what leaks */
	struct lc_holder_sample sample[LC_HOLDER_SAMPLES];
};

/* Rows 1 to class_count are the class objects; then one for the thread, one for a leaf's chain. */
struct lc_holder_table {
	struct lc_holder *objects;       /* [cap], zero */
	uint32_t len, room, cap;         /* objects with an address: how many, and at most */
	struct lc_holder_class *classes; /* [class_count + 1], by number */
	uint32_t class_count;
	uint32_t walk; /* not 0; a tag of another walk means nothing */
	/* Bits of leaf objects: a hash table of chunks of the heap. All zero at first. */
	uint64_t *chunks;                        /* [chunk_cap], number + 1; a power of two */
	uint64_t (*bits)[LC_HOLDER_CHUNK_WORDS]; /* [chunk_cap] */
	uint32_t chunk_len, chunk_room, chunk_cap;
};

/* A reference, as far as the table needs it. */
struct lc_holder_reference {
	uint32_t kind;    /* jvmtiHeapReferenceKind, or LC_HOLDER_VIRTUAL_LOCAL */
	uint32_t index;   /* of the field, or the number of the root's method */
	uint32_t class;   /* of the object */
	uint32_t object;  /* the number of a class object or of the thread; otherwise 0 */
	uint64_t address; /* of the object */
	uint64_t bytes;   /* of the object */
	uint32_t parent;
};

enum lc_holder_result {
	LC_HOLDER_FULL, /* there is no room for the object, and nothing has changed */
	LC_HOLDER_KNOWN,
	LC_HOLDER_NEW,
};

static inline jlong lc_holder_tag(const struct lc_holder_table *t, uint32_t number)
{
	return (jlong)((uint64_t)t->walk << 32 | number);
}

/* The class or thread with that tag; 0: none. */
static inline uint32_t lc_holder_number(const struct lc_holder_table *t, jlong tag)
{
	return (uint64_t)tag >> 32 == t->walk ? (uint32_t)tag : 0;
}

/* The number of the thread that has asked for the walk: its own references are left out. */
static inline uint32_t lc_holder_own_thread(const struct lc_holder_table *t)
{
	return t->class_count + 1;
}

/*
 * May a static field of the class be a root of chains? A class that was loaded since the walk has
 * numbered classes is an object like others.
 */
static inline bool lc_holder_is_alone(const struct lc_holder_table *t, uint32_t class)
{
	return class > t->class_count || !t->classes[class].again;
}

/* Rows that have no address. */
static inline uint32_t lc_holder_first_row(uint32_t class_count)
{
	return class_count + 3;
}

struct lc_holder_named {
	uint64_t hash; /* of a class's name */
	uint32_t class;
};

/* Mark classes of equal names as `again`. `named`: [class_count], which is sorted. */
void lc_holder_table_mark(struct lc_holder_table *t, struct lc_holder_named *named);

/* Begin, with the class objects and the thread in the table. There is room for them. */
void lc_holder_table_begin(struct lc_holder_table *t);

enum lc_holder_result lc_holder_table_reach(struct lc_holder_table *t,
                                            const struct lc_holder_reference *r);

/* The number of the object, which is of no leaf class; 0: it was not reached. */
uint32_t lc_holder_table_find(const struct lc_holder_table *t, uint64_t address);

/* Was the object reached? A class object is in the table from the start. */
bool lc_holder_table_reached(const struct lc_holder_table *t, uint32_t number);

/* Keep the reference to the object of a leaf class, if it comes from nearest a root. */
void lc_holder_table_note(const struct lc_holder_table *t, const struct lc_holder_reference *r,
                          struct lc_holder_leaf *leaf);

/* Its number, from which its chain can be read until the next call; a reference was met. */
uint32_t lc_holder_table_leaf(struct lc_holder_table *t, const struct lc_holder_leaf *leaf);

/*
 * The number of a sample of the class, from which its chain can be read until the next call; i <
 * samples.
 */
uint32_t lc_holder_table_sample(struct lc_holder_table *t, uint32_t class, uint32_t i);

#endif
