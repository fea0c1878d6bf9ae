/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/layout/local_variables.h - reads the names of a method's local variables out of HotSpot.
 *
 * JVMTI tells them only to an agent with can_access_local_variables, with which the JIT keeps every
 * variable alive. HotSpot has them at the end of the method's ConstMethod, behind the bytecode. Its
 * constMethod.hpp has the order of the tables, each with its length behind it.
 */
#ifndef LC_JVM_LAYOUT_LOCAL_VARIABLES_H
#define LC_JVM_LAYOUT_LOCAL_VARIABLES_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/local_variable.h"

/* Find the structures. Context: [attach]. lc_local_variables_known(): have they been found? */
void lc_local_variables_init(void);
bool lc_local_variables_known(void);

/*
 * Copy the table of a method to *out, which the caller frees. `method` is where
 * lc_method_ids_method() says, `code_bytes` and `max_locals` what JVMTI says of it. Returns how
 * many there are; 0, and *out NULL, where the method has no table, or it cannot be one: a variable
 * is beyond the code or the frame. The caller checks the indices. Context: [writer].
 */
size_t lc_local_variables_of(uint64_t method, uint32_t code_bytes, uint32_t max_locals,
                             struct lc_local_variable **out);

#endif
