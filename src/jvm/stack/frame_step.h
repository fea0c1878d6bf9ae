/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/stack/frame_step.h - moves from a frame of generated code to its caller's.
 *
 * Only this file knows where HotSpot on x86-64 keeps the caller of a frame (frame_x86.hpp, the same
 * from JDK 11 to 27). A compiled frame has, from its lowest address: locals and spills, the
 * caller's rbp, the return address; its size follows from the code. An interpreted frame is found
 * by rbp: at rbp are the same two words, below rbp the words that LC_INTERPRETED_ names. Java code
 * that the JVM called returns to a stub, whose frame leads to where the thread was in Java code
 * before (struct lc_entry_frame of frames.h).
 *
 * A walk first asks whether all words of a frame lie on the stack, and whether the caller lies
 * above: lc_frame_fits_...(). Only after that it moves: lc_frame_step_...(). All functions read the
 * walk's own stack. Context: [hook] [signal].
 */
#ifndef LC_JVM_STACK_FRAME_STEP_H
#define LC_JVM_STACK_FRAME_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "src/jvm/os/peek.h"
#include "src/jvm/stack/frames.h"

/*
 * Words from rbp of an interpreted frame: its caller's stack pointer, its method, and its bytecode
 * pointer.
 */
enum { LC_INTERPRETED_SENDER_SP = -1, LC_INTERPRETED_METHOD = -3, LC_INTERPRETED_BYTECODE = -8 };

enum {
	LC_FRAME_COMPILED_WORDS_MIN = 2
}; /* of a compiled frame: the saved rbp, the return address */

/* The part of the stack that a walk may read: above `low`, below `end`. */
struct lc_stack_part {
	uint64_t low, end;
};

/* Position of a walk: a return address, the address of its word, and the registers there. */
struct lc_frame_at {
	uint64_t pc, pc_at, sp, rbp;
	uint64_t rbp_at; /* the address of the saved rbp; 0: rbp is the thread's own */
};

enum lc_frame_step {
	LC_FRAME_STEP_OK,
	LC_FRAME_STEP_END,   /* the thread was in no Java code before */
	LC_FRAME_STEP_CANNOT /* the words do not lead to a caller */
};

static inline bool lc_frame_is_word(const struct lc_stack_part *stack, uint64_t address)
{
	return address > stack->low && address + 8 <= stack->end && !(address & 7);
}

/* The address of one of the words LC_INTERPRETED_ of the interpreted frame that has this rbp. */
static inline uint64_t lc_frame_interpreted_word(uint64_t rbp, int word)
{
	return rbp + (uint64_t)(int64_t)(word * 8);
}

/* Do all words of the interpreted frame lie on the stack, and its caller above? */
static inline bool lc_frame_fits_interpreted(const struct lc_frame_at *at,
                                             const struct lc_stack_part *stack)
{
	return at->rbp >= at->pc_at && lc_frame_is_word(stack, at->rbp + 8) &&
	       lc_frame_is_word(stack, lc_frame_interpreted_word(at->rbp, LC_INTERPRETED_BYTECODE));
}

/* To the caller of an interpreted frame that fits. */
static inline void lc_frame_step_interpreted(struct lc_frame_at *at)
{
	const uint64_t rbp = at->rbp;

	at->pc_at = rbp + 8;
	at->pc = lc_peek_load64(at->pc_at);
	at->sp = lc_peek_load64(lc_frame_interpreted_word(rbp, LC_INTERPRETED_SENDER_SP));
	at->rbp_at = rbp;
	at->rbp = lc_peek_load64(rbp);
}

/*
 * Begin where a native method that is running returns to. Its frame begins with the words of a
 * compiled frame; below them, the interpreter's has the caller's stack pointer. Returns false if
 * these words are not on the stack.
 */
static inline bool lc_frame_step_native(struct lc_frame_at *at, const struct lc_stack_part *stack,
                                        const struct lc_native_frame *native)
{
	if (!lc_frame_is_word(stack, native->native) ||
	    !lc_frame_is_word(stack, native->native + 8))
		return false;
	*at = (struct lc_frame_at){ .rbp = native->native };
	lc_frame_step_interpreted(at);
	if (!lc_frames_interpreted(native->into))
		at->sp = native->native + 16;
	return true;
}

/* The same of a compiled frame of so many words. */
static inline bool lc_frame_fits_compiled(const struct lc_frame_at *at,
                                          const struct lc_stack_part *stack, int frame_words)
{
	const uint64_t pc_at = at->sp + (uint64_t)frame_words * 8 - 8;

	return frame_words >= LC_FRAME_COMPILED_WORDS_MIN && lc_frame_is_word(stack, pc_at) &&
	       pc_at > at->pc_at;
}

/* To the caller of a compiled frame that fits. */
static inline void lc_frame_step_compiled(struct lc_frame_at *at, int frame_words)
{
	at->pc_at = at->sp + (uint64_t)frame_words * 8 - 8;
	at->pc = lc_peek_load64(at->pc_at);
	at->rbp_at = at->pc_at - 8;
	at->rbp = lc_peek_load64(at->rbp_at);
	at->sp = at->pc_at + 8;
}

/*
 * From the stub through which the JVM called Java code, with its words `e`, to where the thread was
 * in Java code before. *at is unchanged unless the step is LC_FRAME_STEP_OK.
 */
static inline enum lc_frame_step lc_frame_step_entry(struct lc_frame_at *at,
                                                     const struct lc_stack_part *stack,
                                                     const struct lc_entry_frame *e)
{
	const uint64_t sp = lc_peek_load64(e->sp_at);
	uint64_t pc_at;

	if (!sp)
		return LC_FRAME_STEP_END;
	/* The JVM fills in the return address only where it differs from the word below sp. */
	pc_at = lc_peek_load64(e->pc_at) ? e->pc_at : sp - 8;
	if (sp <= at->rbp || !lc_frame_is_word(stack, sp) || !lc_frame_is_word(stack, pc_at))
		return LC_FRAME_STEP_CANNOT;
	*at = (struct lc_frame_at){ .pc = lc_peek_load64(pc_at),
		                    .pc_at = pc_at,
		                    .sp = sp,
		                    .rbp = lc_peek_load64(e->rbp_at),
		                    .rbp_at = e->rbp_at };
	return LC_FRAME_STEP_OK;
}

#endif
