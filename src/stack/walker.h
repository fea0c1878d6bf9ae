/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/walker.h - holds what a thread needs to walk its own stack: memory for the frames, and the
 * address at which the stack ends.
 *
 * Each Java thread that has a record has one walker. Owner: the thread, so that a walk takes no
 * lock; a walk ends before the next one of the same thread begins.
 */
#ifndef LC_STACK_WALKER_H
#define LC_STACK_WALKER_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/stack/walk_credit.h"

/* Uses of scratch memory: words are read while the frames of the walk are still needed. */
enum lc_walker_scratch { LC_WALKER_FRAMES = 0, LC_WALKER_WORDS, LC_WALKER_SCRATCHES };

struct lc_walker {
	uint64_t stack_end; /* 0: the system was not asked yet */
	uint64_t stack_low; /* its lowest address, known with its end; 0 unknown */
	void *scratch[LC_WALKER_SCRATCHES];
	size_t scratch_bytes[LC_WALKER_SCRATCHES];
	struct lc_walk_credit credit; /* for walks, and for what is learnt from them */
	bool cut;                     /* the path that was found last is cut for lack of credit */
	uint32_t root;                /* that of the thread: core/thread.h */
	struct lc_shadow *shadow; /* owner: the thread's contexts (heap/context.h); NULL: none */
};

/* Returns 0 and sets *out, or -ENOMEM. Context: [attach] [java]. */
int lc_walker_create(struct lc_walker **out);

/* NULL is fine. Context: [writer], when the thread has ended. */
void lc_walker_destroy(struct lc_walker *w);

/*
 * Memory of at least `bytes` for this use, which the next call for the same use may move; NULL
 * without memory. Owner: `w`. Context: [hook], owner.
 */
void *lc_walker_scratch(struct lc_walker *w, enum lc_walker_scratch use, size_t bytes);

/* Ask the system for the stack's end; 0 where it does not tell. Context: [hook], owner; slow. */
uint64_t lc_walker_ask_end(struct lc_walker *w);

/* The end (highest address) of the calling thread's stack; 0 unknown. Context: [hook], owner. */
static inline uint64_t lc_walker_end(struct lc_walker *w)
{
	return __builtin_expect(w->stack_end != 0, 1) ? w->stack_end : lc_walker_ask_end(w);
}

/*
 * Ask the JVM for the nearest `cap` frames of the calling thread. Returns 0 and sets *len; -EAGAIN
 * where the thread has no credit, or -EIO where the JVM refuses, and leaves *len alone. All walks
 * of hooks and events by the JVM go this way. Context: [hook] [java], owner; slow.
 */
int lc_walker_ask(struct lc_walker *w, jint cap, jvmtiFrameInfo *frames, jint *len);

/* The nearest frames of the calling thread, and the one at which a walk stops. */
struct lc_walked {
	const jvmtiFrameInfo *frames; /* scratch memory for frames */
	uint64_t *packed;             /* behind them: room for a path of `len` frames */
	jint len;
	jint stop; /* index of the frame that the walk was for; `len`: there is none */
};

/*
 * Finds the frame at which a walk stops: its index, or `len` where it is not among these frames.
 * It is asked again with more frames where there are more.
 */
typedef jint lc_walker_stop(JNIEnv *jni, const jvmtiFrameInfo *frames, jint len, void *closure);

/*
 * Walk the calling thread's stack as far as `stop` wants to see: as a rule its nearest 48 frames,
 * and else (or at once, if `deep`) up to 1024. Returns 0 and sets *out, which is valid until the
 * next use of the scratch memory for frames; -ENOMEM, or what lc_walker_ask() returns.
 * Context: [hook], owner; slow: it calls the JVM.
 */
int lc_walker_walk(struct lc_walker *w, JNIEnv *jni, bool deep, lc_walker_stop *stop, void *closure,
                   struct lc_walked *out);

#endif
