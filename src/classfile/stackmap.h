/* SPDX-License-Identifier: Apache-2.0 */
/* classfile/stackmap.h - relocates StackMapTable attributes, and reads what they say of local 0. */
#ifndef LC_CLASSFILE_STACKMAP_H
#define LC_CLASSFILE_STACKMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "src/classfile/big_endian.h"
#include "src/classfile/method_code.h"

/*
 * Append the relocated info[] of the StackMapTable at `body`, `len` bytes, to `out`, and the frames
 * of the code's tail. After lc_method_code_layout(). Returns false if the table does not parse or a
 * position in it is no instruction.
 */
bool lc_stackmap_emit(const struct lc_method_code *code, const uint8_t *body, uint32_t len,
                      struct lc_bytes *out);

/*
 * Does local 0 hold an object in every frame of a constructor? (A frame may declare it dead.)
 * `locals` is the number of verification types that the first, implicit frame has for locals.
 */
bool lc_stackmap_keeps_local0(const uint8_t *body, uint32_t len, uint32_t locals);

#endif
