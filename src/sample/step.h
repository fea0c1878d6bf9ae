/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/step.h - finds, from the code of a loop, the distance in bytes between one instruction's
 * accesses in two rounds.
 */
#ifndef LC_SAMPLE_STEP_H
#define LC_SAMPLE_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lc_code_bytes;
struct lc_registers;

enum lc_step_kind {
	LC_STEP_NOT_SOUGHT = 0,
	LC_STEP_NOT_YET, /* try again at the next sample */
	LC_STEP_UNKNOWN,
	LC_STEP_CONSTANT, /* `bytes` */
	LC_STEP_REGISTER, /* bytes + factor * the low 32 bits of `reg`, which the loop does not
	                     change */
	LC_STEP_STACK,    /* the same with the 32 bits at the stack pointer + `slot` */
};

struct lc_step {
	uint8_t kind; /* enum lc_step_kind */
	uint8_t reg;
	int16_t slot;
	int32_t bytes, factor;
};

/*
 * The step of the memory instruction at bytes[at], in the innermost loop around it that begins at
 * bytes[from] or later, from <= at. In an unrolled loop, the step is the distance between
 * neighbouring accesses. An address that the loop loads from memory, or computes other than by
 * adding constants of the loop, has no step. A vector of a whole cache line counts as its two
 * halves. `regs` are those of a sample in the loop: registers that the loop does not change tell
 * which other accesses are unrolled copies of this one. Reads nothing outside the bytes but, with
 * `same_stack`, the frame. Context: [signal].
 */
void lc_step_find(const struct lc_code_bytes *code, size_t from, size_t at,
                  const struct lc_registers *regs, bool same_stack, struct lc_step *out);

/*
 * Bytes by the registers of a sample in that loop, as a magnitude; 0: unknown. `same_stack`: the
 * stack pointer is the loop's. Context: [signal].
 */
uint32_t lc_step_bytes(const struct lc_step *step, const struct lc_registers *regs,
                       bool same_stack);

#endif
