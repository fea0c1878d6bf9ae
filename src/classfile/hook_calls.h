/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/hook_calls.h - finds calls of the agent's classes in code that the JVM has loaded.
 *
 * Pure functions. Context: any but [signal].
 */
#ifndef LC_CLASSFILE_HOOK_CALLS_H
#define LC_CLASSFILE_HOOK_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/classfile/class_file.h"

/* Is this member of the pool a method of the agent's classes? */
bool lc_hook_calls_is_ours(const struct lc_class *c, uint32_t index);

/* Does the method's code call one? */
bool lc_hook_calls_in(const struct lc_class *c, const uint8_t *code, size_t len);

#endif
