/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/stack/unwind.h - finds, for a thread that was interrupted anywhere, the nearest Java frame
 * from which AsyncGetCallTrace walks.
 *
 * AsyncGetCallTrace refuses while a frame is being built or taken down, and in code without a Java
 * frame of its own. The position in the code tells how to unwind from it. HotSpot on x86.
 */
#ifndef LC_JVM_STACK_UNWIND_H
#define LC_JVM_STACK_UNWIND_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Kinds of places that are not in a complete Java frame. */
enum lc_unwind_kind {
	LC_UNWIND_NONE,     /* a complete frame, or unknown */
	LC_UNWIND_PROLOGUE, /* at the start of compiled code, before its frame is complete */
	LC_UNWIND_EPILOGUE, /* at the end of compiled code, after its frame */
	LC_UNWIND_PUSHED,   /* in the middle of compiled code, with words pushed below the frame */
	LC_UNWIND_INTERPRETER, /* where the interpreter makes or leaves a frame */
	LC_UNWIND_STUB,        /* adapters, stubs, and what compiled code calls to enter the JVM */
	LC_UNWIND_NATIVE,      /* native code that Java code called without a transition */
	LC_UNWIND_ANCHOR,      /* in the JVM, by way of a stub or before the anchor was whole */
	LC_UNWIND_KINDS
};

/* The frame from which to walk. */
struct lc_unwound {
	uint64_t pc, sp, fp;
	uint64_t leaf; /* a frame below it as lc_frame_pack(), which has none of its own; or 0 */
	/* The address at which the thread goes on in it, and its sp; 0: it runs in it. */
	uint64_t resume_pc, resume_sp;
};

/*
 * From generated code at the registers of `g`: the stack of the calling thread ends at `stack_end`.
 * LC_UNWIND_NONE leaves *out undefined. Context: [signal].
 */
enum lc_unwind_kind lc_unwind_generated(const gregset_t g, uint64_t stack_end,
                                        struct lc_unwound *out);

/*
 * From native code that Java code called without a transition, so that the thread counts as running
 * Java code: LC_UNWIND_NATIVE or LC_UNWIND_NONE, else as above. Context: [signal].
 */
enum lc_unwind_kind lc_unwind_native(const gregset_t g, uint64_t stack_end, struct lc_unwound *out);

/*
 * From the compiled frame *from, from which AsyncGetCallTrace does not walk, to its caller: the
 * method becomes the leaf, at no known line. Returns false where that is not possible. Context:
 * [signal].
 */
bool lc_unwind_caller(const struct lc_unwound *from, uint64_t stack_end, struct lc_unwound *out);

/*
 * From a stub's frame at *from, which called the JVM, to the compiled code that called the stub.
 * Returns false where that is not possible. Context: [signal].
 */
bool lc_unwind_stub(const struct lc_unwound *from, uint64_t stack_end, struct lc_unwound *out);

#endif
