/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/unsafe.h - finds jdk.internal.misc.Unsafe, which tells where the JVM puts the fields
 * of a class. It neither initialises the class nor loads another.
 */
#ifndef LC_JVM_LAYOUT_UNSAFE_H
#define LC_JVM_LAYOUT_UNSAFE_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

/* Local references. */
struct lc_unsafe {
	jclass class;
	jobject object;
	jmethodID offset_of; /* objectFieldOffset(Class, String) */
};

/*
 * Returns whether it is there; lc_unsafe_end() in either case deletes the references. No exception
 * is pending afterwards. Context: [attach] [java] [writer]; it runs Java code.
 */
bool lc_unsafe_find(JNIEnv *jni, struct lc_unsafe *out);
void lc_unsafe_end(JNIEnv *jni, const struct lc_unsafe *u);

/*
 * The offset of the instance field that `class` itself declares, in bytes; -1: there is none.
 * Context: as above.
 */
int64_t lc_unsafe_offset(JNIEnv *jni, jobject unsafe, jmethodID offset_of, jclass class,
                         const char *name);

/* Bytes of a reference in an object; 0: unknown. Context: as above. */
uint32_t lc_unsafe_reference_bytes(JNIEnv *jni, const struct lc_unsafe *u);

#endif
