/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/class_file.h - finds the parts of a class file: constant pool, members, attributes.
 *
 * Nothing is copied: all positions are offsets into the caller's bytes, and each was checked
 * against their length before it is handed out. Pure functions. Context: any but [signal].
 */
#ifndef LC_CLASSFILE_CLASS_FILE_H
#define LC_CLASSFILE_CLASS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/classfile/status.h"

/* The versions of class files that are read: 45.3 (JDK 1.0.2) to 69 (JDK 25). */
enum { LC_CLASS_MAJOR_MIN = 45, LC_CLASS_MINOR_MIN = 3, LC_CLASS_MAJOR_MAX = 72 };
enum { LC_CLASS_MAJOR_LDC_CLASS = 49 }; /* the first that may load a class as a constant */
enum { LC_CLASS_MAJOR_STACKMAP = 50 };  /* the first that has StackMapTable attributes */

enum lc_pool_tag {
	LC_POOL_UTF8 = 1,
	LC_POOL_INTEGER = 3,
	LC_POOL_LONG = 5,
	LC_POOL_DOUBLE = 6,
	LC_POOL_CLASS = 7,
	LC_POOL_FIELDREF = 9,
	LC_POOL_METHODREF = 10,
	LC_POOL_INTERFACE_METHODREF = 11,
	LC_POOL_NAME_AND_TYPE = 12,
	LC_POOL_METHOD_HANDLE = 15,
	LC_POOL_INVOKE_DYNAMIC = 18,
};

/* A Utf8 constant: modified UTF-8, not terminated. data is NULL where there is none. */
struct lc_class_text {
	const char *data;
	size_t len;
};

struct lc_class {
	const uint8_t *bytes; /* owner: the caller */
	size_t len;
	uint16_t major;
	uint16_t pool_count;
	uint32_t *pool;    /* offset of each constant's tag; 0: no such constant */
	uint32_t pool_end; /* offset of access_flags */
	uint16_t access_flags;
	uint16_t this_class;
	uint16_t super_class;
	uint32_t interfaces; /* offset of interfaces_count */
	uint32_t fields;     /* offset of fields_count */
	uint32_t methods;    /* offset of methods_count */
	uint32_t attributes; /* offset of attributes_count, of the class's own */
};

/* A field or a method. */
struct lc_member {
	uint16_t access_flags;
	uint16_t name;       /* index of a Utf8 constant */
	uint16_t descriptor; /* index of a Utf8 constant */
	uint32_t attributes; /* offset of attributes_count */
	uint32_t end;        /* offset behind the member */
};

struct lc_attribute {
	uint16_t name;
	uint32_t body; /* offset of info[] */
	uint32_t len;  /* of info[] */
};

/*
 * Parse and check the outline of `bytes`: pool, fields, methods and all attribute lengths.
 * Returns LC_REWRITE_DONE and fills *out (release it with lc_class_close()), or another status
 * with *out untouched.
 */
enum lc_rewrite_status lc_class_open(const uint8_t *bytes, size_t len, struct lc_class *out);
void lc_class_close(struct lc_class *c);

/* The member at offset `at`, which must be where one begins: lc_class_open() has checked them. */
struct lc_member lc_class_member(const struct lc_class *c, uint32_t at);

/* Set *out to the attribute at `at`, if it ends at or before `limit`; else return false. */
bool lc_class_attribute(const struct lc_class *c, uint32_t at, uint32_t limit,
                        struct lc_attribute *out);

/*
 * Look up a constant by its pool index. If it is of another kind, the text is empty (data NULL), or
 * false is returned.
 */
struct lc_class_text lc_class_utf8(const struct lc_class *c, uint32_t index);
struct lc_class_text lc_class_name(const struct lc_class *c, uint32_t index);
struct lc_class_ref {
	struct lc_class_text holder;
	struct lc_class_text name;
	struct lc_class_text descriptor;
	uint16_t holder_index; /* of the Class constant */
};
bool lc_class_field_ref(const struct lc_class *c, uint32_t index, struct lc_class_ref *out);
bool lc_class_method_ref(const struct lc_class *c, uint32_t index, struct lc_class_ref *out);
bool lc_class_interface_ref(const struct lc_class *c, uint32_t index, struct lc_class_ref *out);

/* Kinds of method handles, as the class file numbers them. */
enum { LC_HANDLE_STATIC = 6, LC_HANDLE_INTERFACE = 9 };

/* The kind of the method handle `index`, and *ref, the constant it refers to; 0: it is none. */
unsigned lc_class_method_handle(const struct lc_class *c, uint32_t index, uint16_t *ref);

struct lc_class_text lc_class_dynamic_descriptor(const struct lc_class *c, uint32_t index);

bool lc_class_text_is(struct lc_class_text t, const char *s);
bool lc_class_text_begins(struct lc_class_text t, const char *s);
bool lc_class_text_ends(struct lc_class_text t, const char *s);

#endif
