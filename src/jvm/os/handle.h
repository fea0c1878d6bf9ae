/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/os/handle.h - turns a JNI reference into the address of its object.
 *
 * A reference is the address of a slot that the collector keeps true, with a tag in its low bits
 * (newer JDKs tag weak and global ones; a local's tag is 0, but nothing relies on it). The address
 * is good until the next collection moves the object: compare the GC sequence before and after.
 */
#ifndef LC_JVM_OS_HANDLE_H
#define LC_JVM_OS_HANDLE_H

#include <jni.h>
#include <stdint.h>

#include "src/core/record.h"

/*
 * Address of the referent; 0 where a weak reference is cleared. Context: any; `ref` must be valid.
 */
static inline uint64_t lc_handle_address(jobject ref)
{
	return *(const volatile uint64_t *)((uintptr_t)ref & ~(uintptr_t)7) & LC_ADDR_MASK;
}

#endif
