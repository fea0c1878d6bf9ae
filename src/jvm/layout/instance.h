/* SPDX-License-Identifier: Apache-2.0 */
/* jvm/layout/instance.h - estimates how large the instances of a class are before there is one. */
#ifndef LC_JVM_LAYOUT_INSTANCE_H
#define LC_JVM_LAYOUT_INSTANCE_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Bytes of an instance of `class`, from the fields that it and its superclasses declare: a lower
 * bound, since padding is left out. Context: [java]; lc_layout_find() first.
 */
uint64_t lc_instance_bytes(JNIEnv *jni, jclass class);

/*
 * Is an instance of `class`, which declares `method`, smaller than `bytes`, by what the JVM itself
 * has noted? False where that cannot be read too: then ask lc_instance_bytes(), which is
 * slow. Context: [java]; lc_scopes_init() first.
 */
bool lc_instance_is_below(jclass class, const jmethodID *ids, jint len, uint64_t bytes);

#endif
