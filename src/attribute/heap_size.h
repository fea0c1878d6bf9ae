/* SPDX-License-Identifier: Apache-2.0 */
/* attribute/heap_size.h - tells how large the Java heap is, and may become. */
#ifndef LC_ATTRIBUTE_HEAP_SIZE_H
#define LC_ATTRIBUTE_HEAP_SIZE_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lc_area;

/* Ask the JVM for the limits: counters `heap_max_bytes` and `direct_max_bytes`. [writer] */
void lc_heap_size_begin(JNIEnv *jni);

/* Bytes in use in a layout. Context: any. */
uint64_t lc_heap_size_of(const struct lc_area *areas, size_t len);

/* Bytes in use now, by the JVM; 0: unknown. Context: [writer]. */
uint64_t lc_heap_size_now(JNIEnv *jni);

/*
 * With a concurrent collector: has it collected old objects since the last call? Context: [writer].
 */
bool lc_heap_size_old_collected(void);

#endif
