/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delay/delay_depth.h - computes how many words are on the operand stack before each instruction.
 *
 * Pure functions. Context: any but [signal].
 */
#ifndef LC_DELAY_DEPTH_H
#define LC_DELAY_DEPTH_H

#include <stdbool.h>
#include <stdint.h>

#include "src/classfile/class_file.h"
#include "src/classfile/method_code.h"

enum { LC_DELAY_UNREACHED = -1 };

/*
 * Set depths[at] of each instruction, [code->len]; LC_DELAY_UNREACHED where no way leads.
 * LC_AT_START must be set for all instructions. `work` is scratch of the same length. Returns false
 * where two ways to an instruction differ, or the code is not well formed.
 */
bool lc_delay_depths(const struct lc_class *c, const struct lc_method_code *code, int32_t *depths,
                     uint32_t *work);

#endif
