/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/method_number.h - turns jmethodIDs into numbers that call paths can hold, and back.
 *
 * A jmethodID is opaque. In HotSpot it is an address of a pointer up to JDK 25, and counts up from
 * 1 since JDK 26. A frame has 48 bits for a method, of which core/version.h needs the lowest three,
 * and small values are taken (lc_path_define()). Addresses are kept as they are; counted IDs are
 * shifted beyond both.
 */
#ifndef LC_CORE_METHOD_NUMBER_H
#define LC_CORE_METHOD_NUMBER_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Choose the form by an ID of this JVM. Until this is called IDs are taken for addresses. Returns
 * 0, or -ENOTSUP where the ID has neither form. Context: [attach], before there are frames.
 */
int lc_method_numbers_init(jmethodID specimen);

/* Are IDs counted, or addresses? Context: any, after [attach]. */
bool lc_method_numbers_counted(void);

/* The number of a method; 0 for NULL. Context: any. */
uint64_t lc_method_number(jmethodID id);

/* The method of a number; NULL where the number is none of a method. Context: any. */
jmethodID lc_method_number_id(uint64_t number);

#endif
