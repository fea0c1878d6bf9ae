/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/field_layout.h - tells what lies at an offset of an object, once its class's fields
 * are known. Pure.
 */
#ifndef LC_JVM_LAYOUT_FIELD_LAYOUT_H
#define LC_JVM_LAYOUT_FIELD_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/jvm/layout/field.h"

struct lc_layout; /* jvm/layout/layout.h */

enum { LC_FIELD_RANGES = 16 }; /* a report divides an array into so many parts at most */

/* Parts of an object that are no fields. */
enum lc_field_part {
	LC_PART_MARK,     /* "(mark)" */
	LC_PART_CLASS,    /* "(class)" */
	LC_PART_LENGTH,   /* "(length)" */
	LC_PART_PADDING,  /* "(padding)" */
	LC_PART_INTERNAL, /* "(internal)": padding, or a field that the JVM adds */
	LC_PART_STATICS,  /* "(static fields)", of a java.lang.Class */
	LC_PART_UNKNOWN,  /* "(unknown)" */
	LC_PART_COUNT
};

/* Its name; the same address each time. */
const char *lc_field_part_name(enum lc_field_part part);

struct lc_field_entry {
	uint32_t offset;
	uint8_t bytes;
	const char *name;
};

/* The instance fields of a class and its superclasses, sorted by offset. */
struct lc_field_table {
	struct lc_field_entry *entries;
	size_t len;
	uint64_t instance_bytes; /* of an object; 0 where unknown */
	bool incomplete;         /* some field's offset is not known: a hole is not padding */
	bool internal;           /* a class to which the JVM may add fields of its own */
	bool mirror;             /* java.lang.Class: static fields follow the instance's */
};

/* Sort the entries of *t. */
void lc_field_table_sort(struct lc_field_table *t);

/* lc_field_find() for an object that is no array. Returns 0 or -ENOENT. */
int lc_field_in_instance(const struct lc_layout *layout, const struct lc_field_table *t,
                         uint64_t offset, struct lc_field *out);

/* Offset and width of an array's elements. */
struct lc_field_array {
	uint32_t base;
	uint8_t width;
};

/*
 * Set *out for the class with this signature ("[J"), or with this layout helper (of its Klass:
 * negative for arrays). Returns 0, or -ENOENT if the class is no array's.
 */
int lc_field_array_of(const struct lc_layout *layout, const char *signature,
                      struct lc_field_array *out);
int lc_field_array_of_helper(const struct lc_layout *layout, int32_t helper,
                             struct lc_field_array *out);

/* lc_field_find() for an array. Returns 0 or -ENOENT. */
int lc_field_in_array(const struct lc_layout *layout, const struct lc_field_array *array,
                      uint64_t size_bytes, uint64_t offset, struct lc_field *out);

/* The same for a block outside the heap: its bytes are the elements. Returns 0 or -ENOENT. */
int lc_field_in_block(uint64_t size_bytes, uint64_t offset, struct lc_field *out);

#endif
