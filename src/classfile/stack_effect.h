/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/stack_effect.h - tells what each instruction takes off the operand stack and puts on
 * it.
 *
 * Pure functions. Context: [java] (ClassFileLoadHook).
 */
#ifndef LC_CLASSFILE_STACK_EFFECT_H
#define LC_CLASSFILE_STACK_EFFECT_H

#include <stdbool.h>
#include <stdint.h>

#include "src/classfile/class_file.h"
#include "src/classfile/method_code.h"

/*
 * Words that the instruction at `at` pops, and then pushes. Returns false where it is none, or what
 * it names is not what it should be.
 */
bool lc_stack_effect(const struct lc_class *c, const struct lc_method_code *code, uint32_t at,
                     int32_t *pops, int32_t *pushes);

/* Is the instruction behind one of this opcode reached by jumps alone? */
bool lc_stack_ends_flow(uint8_t op);

#endif
