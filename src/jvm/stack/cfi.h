/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/stack/cfi.h - leaves frames of native code by the tables that its compiler made for
 * exceptions.
 *
 * Compiled Java code calls some functions of the JVM and of libc without leaving a trace of where
 * it was. Their frames are of any shape; .eh_frame describes them for each instruction.
 */
#ifndef LC_JVM_STACK_CFI_H
#define LC_JVM_STACK_CFI_H

#include <stdbool.h>
#include <stdint.h>

/* Registers as DWARF numbers them on x86-64. */
enum { LC_CFI_RBP = 6, LC_CFI_RSP = 7, LC_CFI_R13 = 13, LC_CFI_PC = 16, LC_CFI_REGISTERS = 17 };

struct lc_cfi_registers {
	uint64_t r[LC_CFI_REGISTERS];
};

/* Find how libraries are found. Context: [attach]. */
void lc_cfi_init(void);

/*
 * Make *r what the registers are when the function at the program counter returns; `is_return`: the
 * program counter is a return address itself. Words are read between the stack pointer and
 * `stack_end` only. Returns false, *r undefined, where there is no description, or one of a kind
 * that is not known here. Context: [signal].
 */
bool lc_cfi_step(struct lc_cfi_registers *r, bool is_return, uint64_t stack_end);

#endif
