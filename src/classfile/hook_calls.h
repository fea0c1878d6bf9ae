/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/hook_calls.h - finds calls of the agent's classes in code that the JVM has loaded.
 *
 * The JVM gives the constant pool of a class as its class file has it, and the bytecode of each
 * method. Pure functions. Context: any but [signal].
 */
#ifndef LC_CLASSFILE_HOOK_CALLS_H
#define LC_CLASSFILE_HOOK_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/classfile/class_file.h"

struct lc_hook_calls {
	struct lc_class class; /* of the pool and nothing else */
	uint8_t *bytes;        /* malloc'ed; the class refers to them */
};

/*
 * Read a constant pool of `count` constants, that is, one more than there are, in `len` bytes.
 * Returns false when it is none, or there is no memory. Close it otherwise.
 */
bool lc_hook_calls_open(struct lc_hook_calls *out, const uint8_t *pool, size_t len, uint32_t count);
void lc_hook_calls_close(struct lc_hook_calls *h);

/* Does this code of a method call a method of the agent's classes? */
bool lc_hook_calls_in(const struct lc_hook_calls *h, const uint8_t *code, size_t len);

#endif
