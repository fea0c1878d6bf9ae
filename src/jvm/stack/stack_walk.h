/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/stack/stack_walk.h - walks the Java frames of the calling thread, interrupted anywhere, as
 * AsyncGetCallTrace does, in a fraction of its time.
 *
 * The sizes of frames stand in the code blobs, and which Java frames a return address stands for
 * is remembered (jvm/code/code_frames.h). A walk is believed only if it comes to the end of the
 * stack, and each return address on its way is one that the JVM knows. HotSpot on x86.
 */
#ifndef LC_JVM_STACK_STACK_WALK_H
#define LC_JVM_STACK_STACK_WALK_H

#include <stdbool.h>
#include <stdint.h>

struct lc_walk_steps; /* jvm/stack/walk_proof.h */

/* Start of a walk. */
struct lc_stack_at {
	uint64_t pc, sp, rbp;
	bool anchor; /* the thread left Java code there; else it is running there */
	bool framed; /* .. and, in the interpreter, rbp is certainly a frame's */
	/*
	 * Not NULL: the walk passes kinds of frames that are not proved yet, and notes each step
	 * before it reads the frame.
	 */
	struct lc_walk_steps *proves;
};

/* Why there is no walk. */
enum lc_stack_refusal {
	LC_STACK_INTERPRETED, /* it begins in the interpreter: rbp may not be the frame's */
	LC_STACK_NOT_WHOLE,   /* ... where compiled code has no whole frame, or in a stub */
	LC_STACK_NO_SCOPE,    /* ... in compiled code that the JVM has recorded nothing of */
	LC_STACK_UNKNOWN,     /* it comes to what is no known return address */
	LC_STACK_NO_METHOD,   /* ... to an interpreted frame whose method cannot be read */
	LC_STACK_ENTRY,       /* ... to where the JVM called Java code, and no further */
	LC_STACK_BEYOND,      /* ... to words that are not on the stack */
	LC_STACK_UNPROVED,    /* ... to a kind of frame that is not proved in this JVM */
	LC_STACK_REFUSALS
};

/*
 * At most `depth` frames from *at on, leaf first, to `frames` as lc_frame_pack(). The thread's
 * stack ends at `stack_end`. Returns their number; or -1 - the refusal. Context: [signal].
 */
int lc_stack_walk(const struct lc_stack_at *at, uint64_t stack_end, uint64_t *frames, int depth);

/* Results of comparing a walk with AsyncGetCallTrace's from the same place (--audit). */
enum lc_stack_compared {
	LC_STACK_AGREES,
	LC_STACK_DIFFERS,
	LC_STACK_ALONE, /* AsyncGetCallTrace came less far, if at all */
	LC_STACK_COMPARED
};

/* Count that. Context: [signal]. */
void lc_stack_walk_compared(enum lc_stack_compared how);

#endif
