/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/stack/walk_proof.h - decides which kinds of stack frames walks of ours may pass.
 *
 * How to get from a frame to its caller follows from structures of the JVM that no interface
 * promises. So a kind of frame is passed only once walks of this process through such frames have
 * agreed with the JVM's own, frame by frame. Until then, and for a kind that disagrees, the JVM
 * walks. A kind of which there is no frame (compiled ones under -Xint) is never believed.
 *
 * Walks in signal handlers and walks in hooks begin in different ways, so each has a proof of its
 * own. A walk that proves runs under lc_guard_prove(), since it may be misled anywhere.
 *
 * AsyncGetCallTrace, with which walks in signal handlers are compared, gives up at frames that such
 * a walk passes. So a walk notes its steps: kinds passed before the frames part have agreed, the
 * kinds around the first frame that differs have not, and what only one walk has seen tells
 * nothing.
 */
#ifndef LC_JVM_STACK_WALK_PROOF_H
#define LC_JVM_STACK_WALK_PROOF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A bit each. */
enum lc_frame_kind {
	LC_FRAME_COMPILED = 1,
	LC_FRAME_DEOPTIMIZED = 2, /* compiled, and its code was given up while it waits */
	LC_FRAME_INTERPRETED = 4,
	LC_FRAME_ENTRY = 8, /* of the stub through which the JVM calls Java code: the outermost, */
	LC_FRAME_BEYOND = 16, /* or one with Java frames beyond it */
	LC_FRAME_KINDS = 5,   /* how many */
};

enum { LC_WALK_STEPS_MAX = 160 };

/* The steps of a walk: the kind of each frame, and how many Java frames were found before it. */
struct lc_walk_steps {
	uint32_t len;
	struct {
		uint8_t kind; /* enum lc_frame_kind */
		uint8_t at;
	} step[LC_WALK_STEPS_MAX];
};

/* One for each way to walk. All are relaxed: a walk that sees an old value asks the JVM. */
struct lc_walk_proof {
	_Atomic uint32_t proved, refuted; /* bits */
	_Atomic uint32_t agreed[LC_FRAME_KINDS], differed[LC_FRAME_KINDS];
};

/* May a walk pass such a frame? Context: any. */
static inline bool lc_walk_proved(const struct lc_walk_proof *p, enum lc_frame_kind kind)
{
	return atomic_load_explicit(&p->proved, memory_order_relaxed) & kind;
}

/* May a walk that proves? Context: any. */
static inline bool lc_walk_provable(const struct lc_walk_proof *p, enum lc_frame_kind kind)
{
	return !(atomic_load_explicit(&p->refuted, memory_order_relaxed) & kind);
}

/* A walk through frames of these kinds has agreed with the JVM's, or has not. Context: any. */
void lc_walk_proof_take(struct lc_walk_proof *p, uint32_t kinds, bool agrees);

/* Note a step; false where there is no room. Context: any. */
bool lc_walk_steps_add(struct lc_walk_steps *s, enum lc_frame_kind kind, int at);

/*
 * A walk of these steps found `len` Java frames, another one `other`, of which the first `same` are
 * the same. The other walk may have ended early. Returns whether one contradicts the other.
 * Context: any.
 */
bool lc_walk_proof_compare(struct lc_walk_proof *p, const struct lc_walk_steps *s, int len,
                           int other, int same);

/* A walk that proves has ended in a fault: what is not proved yet is refuted. Context: any. */
void lc_walk_proof_fault(struct lc_walk_proof *p);

/* The two proofs. Context: any. */
struct lc_walk_proof *lc_walk_proof_signal(void);
struct lc_walk_proof *lc_walk_proof_hook(void);

/* Is a kind refuted in one of them? Context: any. */
bool lc_walk_proof_refuted(void);

#endif
