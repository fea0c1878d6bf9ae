/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/stack/frames.h - walks the frames of generated code on the calling thread's own stack, one by
 * one.
 *
 * The size of a compiled method's frame stands in its code blob, which is found as the JVM finds
 * it: dead words, which only look like return addresses, are never taken. HotSpot on x86.
 */
#ifndef LC_JVM_STACK_FRAMES_H
#define LC_JVM_STACK_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Find the code heaps. Returns 0; -ENOENT when this JVM does not export them: then there are no
 * words. Context: [attach]; lc_layout_find() first.
 */
int lc_frames_init(uint64_t interpreter_low, uint64_t interpreter_high);

/* Is that code of the interpreter? Context: any. */
bool lc_frames_interpreted(uint64_t pc);

/* Is `pc` in the stub through which the JVM calls Java code? Context: any. */
bool lc_frames_entry(uint64_t pc);

/*
 * Addresses of the words that lead from the stub through which the JVM called Java code to the
 * thread's earlier Java frame. The word at `sp_at` is 0 if there is no earlier frame.
 */
struct lc_entry_frame {
	uint64_t wrapper_at, sp_at, pc_at, rbp_at;
};

/*
 * The words for the stub that has this `rbp`. Returns false where they do not all lie between
 * `low` and `high`. Context: [hook], own stack.
 */
bool lc_frames_entry_frame(uint64_t rbp, uint64_t low, uint64_t high, struct lc_entry_frame *out);

enum { LC_FRAME_WORDS_MAX = 2 }; /* of one frame */

/* How many words tell where the thread is, and how far they go. */
struct lc_frame_words {
	unsigned len;
	unsigned frames; /* Java frames whose words they are; a native one counts as one */
	bool whole;      /* all frames that were asked for, or all up to the JVM's own */
	/* True if no further frame exists: all that were asked for, or all that the thread has. */
	bool complete;
};

/* A native method's frame: read it at the start, since a call at the end may reuse the frame. */
struct lc_native_frame {
	uint64_t frame;  /* of its C function */
	uint64_t native; /* rbp of the JVM's frame around it */
	uint64_t into;   /* return address of the C function, in the JVM's code for the method */
};

/* `frame`: __builtin_frame_address(0). */
static inline struct lc_native_frame lc_frame_native(const void *frame)
{
	const uint64_t *word = frame;

	return (struct lc_native_frame){ (uint64_t)(uintptr_t)frame, word[0], word[1] };
}

/*
 * The native method's return address in Java code, compiled or interpreted: HotSpot's frames of
 * native methods begin with the caller's rbp, and the return address. 0 if the frame looks
 * different.
 */
static inline uint64_t lc_frame_native_return(const struct lc_native_frame *at)
{
	if (__builtin_expect(at->native - at->frame < 4096, 1))
		return ((const uint64_t *)(uintptr_t)at->native)[1]; /* NOLINT */
	return 0;
}

/*
 * The frame at which a thread left Java code: the JVM's anchor. Interpreted code alone needs `rbp`.
 */
struct lc_last_java {
	uint64_t sp, pc, rbp;
};

/*
 * The words above `at->frame` that identify its nearest `frames_max` callers: a compiled frame's
 * return address, an interpreted frame's method and bytecode. If native code called Java code on
 * the way, also the words that lead to the frames beyond. At most `words_max` values, and their
 * offsets from the frame in words. Context: [hook], own stack.
 */
struct lc_frame_words lc_frames_words(const struct lc_native_frame *at, uint64_t stack_end,
                                      unsigned frames_max, unsigned words_max, uint64_t *value,
                                      uint16_t *offset);

/*
 * A number made of such words of the thread that goes on at `pc`, with its stack pointer and rbp.
 * Returns false where not all can be read. Context: [signal], own stack.
 */
bool lc_frames_key(uint64_t pc, uint64_t sp, uint64_t rbp, uint64_t stack_end, unsigned frames_max,
                   uint64_t *key);

#endif
