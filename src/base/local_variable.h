/* SPDX-License-Identifier: Apache-2.0 */
/* base/local_variable.h - declares a local variable of a method, as class files and HotSpot have
 * it. */
#ifndef LC_BASE_LOCAL_VARIABLE_H
#define LC_BASE_LOCAL_VARIABLE_H

#include <stdint.h>

/* A local variable in `len` bytes of bytecode, which may be none, from `from` on. */
struct lc_local_variable {
	uint16_t from, len;
	uint16_t name, descriptor; /* indices of the constant pool */
	uint16_t slot;
};

#endif
