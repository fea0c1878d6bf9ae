/*
 * jvm/frames.h - the frames of generated code on the calling thread's own stack, one by one.
 *
 * Unlike a guess by what looks like a return address (stack/words.h), it finds no dead words: the size of a compiled
 * method's frame stands in its code blob, which is found as the JVM finds it. HotSpot on x86.
 */
#ifndef LC_JVM_FRAMES_H
#define LC_JVM_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

/* After lc_vm_init(). Returns 0; -ENOENT when this JVM does not tell. Context: [attach]. */
int lc_frames_init(uint64_t interpreter_low, uint64_t interpreter_high);

enum { LC_FRAME_WORDS_MAX = 2 }; /* that a frame has */

/* What tells where the thread is: words of its stack. */
struct lc_frame_words {
	unsigned len;
	unsigned frames; /* that they are of */
	bool whole;      /* all that were asked for, or all that there are up to the JVM's own */
	/* All that were asked for, or all that the thread has: none is beyond, on its stack or off it. */
	bool complete;
};

/* Where a native method is: read at its start, since a call at its end may reuse its frame. */
struct lc_native_frame {
	uint64_t frame;  /* of its C function */
	uint64_t native; /* rbp of the JVM's frame around it */
	uint64_t into;   /* where the C function returns to: the JVM's code for the native method */
};

/* `frame`: __builtin_frame_address(0). */
static inline struct lc_native_frame lc_native_frame(const void *frame)
{
	const uint64_t *word = frame;

	return (struct lc_native_frame){ (uint64_t)(uintptr_t)frame, word[0], word[1] };
}

/*
 * The words above `at->frame` which tell where its nearest `frames_max` callers are: of a compiled one its return
 * address, of an interpreted one its method and bytecode. Where native code called Java code on the way, the words
 * that lead to the frames beyond. At most `words_max` values, and their offsets from it in
 * words. Context: [hook], own stack.
 */
struct lc_frame_words lc_frames_words(const struct lc_native_frame *at, uint64_t stack_end,
                                      unsigned frames_max, unsigned words_max, uint64_t *value,
                                      uint16_t *offset);

#endif
