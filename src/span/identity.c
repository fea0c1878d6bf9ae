/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span/identity.c - tells LocusSpan where objects have their identity hash, so that it can give
 * them one itself.
 */
#include <jni.h>

#include "src/jvm/layout/layout.h"

/* Exported. Context: [attach]. */
JNIEXPORT jlong JNICALL Java_java_lang_LocusSpan_hashBits(JNIEnv *jni, jclass span);

jlong Java_java_lang_LocusSpan_hashBits(JNIEnv *jni, jclass span)
{
	return (jlong)lc_layout_hash_bits();
}
