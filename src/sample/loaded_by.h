/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/loaded_by.h - finds the instruction that loaded the reference through which another one
 * accesses an object.
 */
#ifndef LC_SAMPLE_LOADED_BY_H
#define LC_SAMPLE_LOADED_BY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lc_code_bytes;
struct lc_ways;

/*
 * Find the load whose result is the base of the memory operand at bytes[at]; `ways` are those
 * around it. Copies between registers are followed, a word of the stack is not. Returns false
 * unless all ways that lead to the access come by that one load. Reads nothing outside code->bytes.
 * Context: [signal].
 */
bool lc_loaded_by(const struct lc_code_bytes *code, const struct lc_ways *ways, size_t at,
                  size_t *load);

/*
 * Is it a mov from memory to a register, of a reference by its width? If so, *disp is the constant
 * part of the operand. Context: [signal].
 */
bool lc_loaded_by_disp(const struct lc_code_bytes *code, size_t at, int32_t *disp);

#endif
