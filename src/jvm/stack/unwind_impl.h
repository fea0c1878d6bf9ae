/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/stack/unwind_impl.h - what the files of jvm/stack/unwind.h share: a place that is being left,
 * and how walking goes on behind it. Private to src/jvm.
 */
#ifndef LC_JVM_STACK_UNWIND_IMPL_H
#define LC_JVM_STACK_UNWIND_IMPL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "src/jvm/code/blob.h"
#include "src/jvm/os/peek.h"
#include "src/jvm/stack/unwind.h"

/* A return address, and the registers after the return. */
struct lc_unwind_at {
	uint64_t pc, sp, fp;
};

/* State while unwinding from one place. */
struct lc_leaving {
	uint64_t pc, sp, fp, rax, rcx, rdx, r13;
	uint64_t end;        /* of the stack */
	struct lc_blob blob; /* around pc */
	struct lc_unwound *out;
};

static inline const uint8_t *lc_unwind_bytes(uint64_t pc)
{
	return (const uint8_t *)(uintptr_t)pc; /* NOLINT */
}

/* The number in 4 bytes of an instruction. */
static inline int32_t lc_unwind_signed32(const uint8_t *at)
{
	int32_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

/* Is that a word of the stack, from the stack pointer on? */
static inline bool lc_unwind_is_word(const struct lc_leaving *l, uint64_t address)
{
	return address >= l->sp && address + 8 <= l->end && !(address & 7);
}

/* The word; 0 where it is none. */
static inline uint64_t lc_unwind_word(const struct lc_leaving *l, uint64_t address)
{
	return lc_unwind_is_word(l, address) ? lc_peek_load64(address) : 0;
}

/* Does Java code go on at `pc` when what it called returns? Context: any. */
bool lc_unwind_returns_to_java(uint64_t pc);

/*
 * Walking goes on at *at, if that is Java code: fills l->out. Context: [signal].
 */
bool lc_unwind_go_on(struct lc_leaving *l, const struct lc_unwind_at *at);

/*
 * Words that are popped at `pc`. Behind a call they are its arguments, which the frame's size does
 * not count. Context: any.
 */
unsigned lc_unwind_words_popped(uint64_t pc);

/*
 * The compiled method around l->pc is being entered, left, or has pushed something: fill l->out.
 * False: not so. Context: [signal].
 */
bool lc_unwind_prologue(struct lc_leaving *l);
bool lc_unwind_epilogue(struct lc_leaving *l);
bool lc_unwind_pushed(struct lc_leaving *l);

#endif
