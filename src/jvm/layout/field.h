/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/field.h - tells what lies at an offset of an object: a field, an element, a part of
 * the header.
 */
#ifndef LC_JVM_LAYOUT_FIELD_H
#define LC_JVM_LAYOUT_FIELD_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A field, like that of lc_block_field (format/rows.h). */
struct lc_field {
	const char *name; /* "" for elements; valid for ever, equal names have equal addresses */
	uint64_t first, last;
	uint64_t element; /* the accessed element, if the name is "" */
};

/* Names of the classes that lc_field_find() is asked for; without, it looks at all classes. */
struct lc_field_classes {
	/* The signature of a Klass *, or NULL: lc_klass_signature() of klass.h. */
	const char *(*signature_of)(uint64_t klass);
	/* Calls `is` with the classes of a signature, but not surely with all of them, until it
	 * returns true: lc_loaded_code_each() of heap/loaded_code.h. */
	void (*each_of)(JNIEnv *jni, const char *signature,
	                bool (*is)(JNIEnv *jni, jclass class, void *user), void *user);
};

/*
 * Returns 0 or -errno; without it every lookup fails. Context: [attach]; lc_layout_find() first.
 */
int lc_field_init(JNIEnv *jni, const struct lc_field_classes *classes);

/*
 * Find the field at `offset` bytes in an object of class `klass` (a Klass *) of `size_bytes` (0:
 * unknown). An element gives one of at most 16 ranges of equal length, so that an array needs few
 * rows. Learns a class's fields at the first call. Returns 0 and sets *out, or -ENOENT. Context:
 * [writer]; `jni` its own.
 */
int lc_field_find(JNIEnv *jni, uint64_t klass, uint64_t size_bytes, uint64_t offset,
                  struct lc_field *out);

struct lc_field_table; /* jvm/layout/field_layout.h */

/*
 * The fields of a class that lc_field_find() has learnt, once: NULL when the class was returned
 * before, or is not known, or is an array's. Valid until the next call of this module. Context:
 * [writer].
 */
const struct lc_field_table *lc_field_learnt(uint64_t klass);

/* From now on lc_field_learnt() returns each class once more. Context: [writer]. */
void lc_field_tell_again(void);

/*
 * Offset and width of a field by name, superclasses included; of element `index` of an array.
 * Return 0 or -ENOENT. Context: [java] [writer].
 */
int lc_field_offset(JNIEnv *jni, jclass class, const char *name, uint64_t *offset, uint8_t *bytes);
int lc_field_element(JNIEnv *jni, jclass class, uint64_t index, uint64_t *offset, uint8_t *bytes);

/* Offset of element 0, or of the end of another object's header. Context: as above. */
uint64_t lc_field_first(JNIEnv *jni, jclass class);

/* The field most like `name`, superclasses included; "" if none is near. Context: as above. */
void lc_field_nearest(JNIEnv *jni, jclass class, const char *name, char *out, size_t out_len);

#endif
