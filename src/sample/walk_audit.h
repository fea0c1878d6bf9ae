/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/walk_audit.h - compares repaired call paths with the next walk that needs no repair, for
 * --audit.
 *
 * A repaired path predicts the state after the current call returns: instruction, stack pointer and
 * callers. A breakpoint is set on the stack word that holds the return address. If the path is
 * right, the return touches the word first. There AsyncGetCallTrace walks from a whole frame, and
 * must find the rest of the path. If another instruction writes the word first, no call was to
 * return there, and the path was wrong.
 *
 * Private to src/sample. HotSpot on x86.
 */
#ifndef LC_SAMPLE_WALK_AUDIT_H
#define LC_SAMPLE_WALK_AUDIT_H

#include <stddef.h>
#include <stdint.h>

#include "src/jvm/stack/call_trace.h"

struct lc_walk_audit;

/* Bytes that an audit of paths of so many frames needs, zeroed; make it with lc_walk_audit_init().
 */
size_t lc_walk_audit_bytes(int depth);
void lc_walk_audit_init(struct lc_walk_audit *a, int depth);

/*
 * Remember the path of the walk just done, if it was repaired: `repair` is its. Context: [signal],
 * the thread that was walked.
 */
void lc_walk_audit_note(struct lc_walk_audit *a, JNIEnv *env, const void *context,
                        const struct lc_repair *repair, const uint64_t *frames, int frames_len);

/*
 * Around whatever else a handler does on the thread: the breakpoint must not meet the handler
 * itself. Context: [signal].
 */
void lc_walk_audit_enter(struct lc_walk_audit *a);
void lc_walk_audit_leave(struct lc_walk_audit *a);

/*
 * The breakpoint was met, at `context`; `scratch` and `frames` hold a walk. Context: [signal],
 * between enter and leave.
 */
void lc_walk_audit_hit(struct lc_walk_audit *a, JNIEnv *env, const void *context,
                       struct lc_call_trace_frame *scratch, uint64_t *frames);

/* Give the breakpoint back. Context: as lc_trap_close(). */
void lc_walk_audit_close(struct lc_walk_audit *a);

#endif
