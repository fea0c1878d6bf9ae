/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/code/code_frames.h - remembers which Java frames stand at a return address, for all threads.
 *
 * Reading the JVM's debug information takes a microsecond; a program returns to the same addresses
 * again and again.
 */
#ifndef LC_JVM_CODE_CODE_FRAMES_H
#define LC_JVM_CODE_CODE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The Java frames at a return address into compiled code, or at a bytecode of an interpreted
 * method. Immutable, but for `generation`; never freed.
 */
struct lc_code_frames {
	uint64_t key;      /* the return address; or the address of the bytecode */
	uint64_t blob;     /* of the compiled method; 0: interpreted */
	uint64_t identity; /* of the compiled method; or the address of the interpreted Method */
	_Atomic uint32_t generation; /* of the generated code, when the blob was last looked up */
	int32_t frame_words;         /* of a compiled frame */
	uint32_t len;                /* Java frames */
	uint64_t frames[];           /* lc_frame_pack(), innermost first */
};

/* Context: [attach]; lc_scopes_init() first. Returns 0 or -ENOMEM. */
int lc_code_frames_init(const _Atomic uint32_t *generation);

/* Is there a table? Context: any, after [attach]. */
bool lc_code_frames_known(void);

/*
 * The Java frames at the return address `pc` of compiled code. NULL where the JVM's data do not
 * tell, or a method has no ID yet. Context: [hook] [signal], for code with a frame on the own
 * stack.
 */
const struct lc_code_frames *lc_code_frames_compiled(uint64_t pc);

/* The same for an interpreted frame. */
const struct lc_code_frames *lc_code_frames_interpreted(uint64_t method, uint64_t bcp);

#endif
