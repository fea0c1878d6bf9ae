/* jvm/layout.h - how this JVM lays out arrays, found by looking at two of them. */
#ifndef LC_JVM_LAYOUT_H
#define LC_JVM_LAYOUT_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

struct lc_layout {
	uint32_t byte_base;        /* offset of element 0 of a byte[] */
	uint32_t long_base;        /* of a long[]: larger where the header is not 8-aligned */
	uint32_t reference_base;   /* of an Object[] */
	uint32_t reference_bytes;  /* 4 with compressed references, else 8 */
	uint32_t length_offset;    /* of the int that holds an array's length */
	bool class_in_mark;        /* compact headers: the class is in the mark word */
	uint32_t object_alignment; /* bytes, a power of two, at least 8 */
};

/*
 * Fill *out from arrays made for the purpose. Returns 0, or -ENOTSUP when what stands in memory
 * is not an array as any known JVM lays it out. Context: [attach], from VMInit on.
 */
int lc_layout_find(JNIEnv *jni, struct lc_layout *out);

#endif
