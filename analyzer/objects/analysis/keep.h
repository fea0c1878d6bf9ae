/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects/analysis/keep.h - tells for each class of live objects how many of their bytes are
 * headers, fields and padding, and what smaller headers or fields would save.
 *
 * All follows from numbers of the JVM (its headers, its alignment) and the fields of the class. If
 * the fields are not known, neither are fields, padding and savings. The smallest object that holds
 * the fields is header + fields, rounded up to the alignment: HotSpot puts smaller fields into the
 * gaps before larger ones. Classes whose superclasses have fields may need more.
 */
#ifndef LC_OBJECTS_ANALYSIS_KEEP_H
#define LC_OBJECTS_ANALYSIS_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/objects/analysis/live.h"

enum { LC_KEEP_COMPACT_BYTES = 8 }; /* of a compact header: JEP 450 */

/* How a JVM lays out objects, in bytes; all 0: unknown, or not the same in all processes. */
struct lc_keep_jvm {
	uint64_t header, alignment, reference;
	uint64_t array_base, array_base_longs, array_base_references; /* of element 0 */
};

/* The parts of one object, in bytes. */
struct lc_keep_object {
	bool array;
	uint64_t header;       /* of an array with its length; 0: unknown */
	uint64_t padding_most; /* of an array, behind its elements, if its length is the worst */
	bool known;            /* the next four */
	uint64_t bytes, fields, padding;
	uint64_t compact; /* that compact headers would save at most */
	/* Fields that took so many bytes less would save `alignment` bytes; 0: no such number. */
	uint64_t narrower;
};

struct lc_keep_class {
	uint32_t class;
	struct lc_live_held held;
	struct lc_keep_object object; /* each */
	/*
	 * Arrays at whose lines enough dead arrays were looked at (section CONTENTS): their live
	 * bytes, and those of elements that are not used if they are used like the dead ones.
	 */
	double looked_bytes, unused_bytes;
};

struct lc_keep {
	struct lc_keep_jvm jvm;
	struct lc_keep_class *classes; /* most bytes first */
	size_t len;
};

/* From the live objects of a ranking. Free with lc_keep_free(). */
void lc_keep_build(struct lc_keep *k, const struct lc_live *live, const struct lc_load *load);
void lc_keep_free(struct lc_keep *k);

/* An object that is no array, of `bytes`, whose fields take `fields`. Pure. */
struct lc_keep_object lc_keep_instance(const struct lc_keep_jvm *jvm, uint64_t bytes,
                                       uint64_t fields);

/* An array of that class. Pure. */
struct lc_keep_object lc_keep_array(const struct lc_keep_jvm *jvm, struct lc_text class);

#endif
