/*
 * stack/shadow.h - remembers the frames that a thread's last walk found, and walks only those that
 * have changed since.
 *
 * A walk goes from frame to frame by the sizes of frames, until it comes to a frame of the last
 * walk whose words all still stand on the stack, and those of all frames beyond it: then the rest
 * is known. So a walk costs a few loads for each frame, wherever on the stack its thread is.
 *
 * The frames that were found are a tree: a node is a frame that was called by the frame of its
 * parent. Where recursion is folded, frames of a walk that differ in it alone have the same node.
 * Owner of all: the thread, without a lock.
 */
#ifndef LC_STACK_SHADOW_H
#define LC_STACK_SHADOW_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash.h"
#include "src/jvm/frames.h"

struct lc_shadow;

/* A word of the stack as the last walk found it. */
struct lc_shadow_word {
	uint64_t at, value;
};

/*
 * A place that was remembered, in the table of a shadow: by the words of its nearest frames, and by
 * the frame beyond, from where on the last walk must have found the same frames.
 */
enum { LC_SHADOW_NEAR_WORDS = 3, LC_SHADOW_PLACES = 32 };

struct lc_shadow_place {
	uint64_t frame; /* of the hook; 0: none */
	uint64_t key;
	uint64_t note;
	uint64_t far_at;     /* where the return address into the far frame stands */
	uint32_t generation; /* of the generated code */
	uint32_t far_node;   /* of the nearest frame that is not told by words */
	uint32_t far_frame;  /* how many frames of the shadow end with it */
	uint32_t far_words;  /* ... and how many of its words */
	uint32_t words_len;
	struct lc_shadow_word words[LC_SHADOW_NEAR_WORDS];
};

/* A frame of the last walk. */
struct lc_shadow_frame {
	const struct lc_code_frames *code; /* NULL: a frame of the JVM's own */
	uint64_t pc_at;                    /* where the return address into it stands */
	uint64_t sp, rbp;                  /* when it is returned to */
	uint32_t node;
	uint32_t words_end; /* its words end here among all words, from the outermost on */
};

/* What lc_shadow_again() reads; written by stack/shadow.c. Those of no walk yet are all 0. */
struct lc_shadow_last {
	struct lc_shadow_frame *frames; /* outermost first */
	struct lc_shadow_word *words;   /* outermost first */
	uint32_t frames_len;
	uint32_t generation; /* of the generated code, at the walk */
	const _Atomic uint32_t *generation_now;
	struct lc_shadow_place places[LC_SHADOW_PLACES];
};

/* Returns 0 and sets *out, or -ENOMEM. Context: [attach] [java]. */
int lc_shadow_create(struct lc_shadow **out);

/* NULL is fine. Context: [writer], when the thread has ended. */
void lc_shadow_destroy(struct lc_shadow *s);

/*
 * Walk to the native method's callers, all of them. Returns the node of the innermost Java frame;
 * 0 where a frame cannot be told: then ask the JVM. A node is valid until the next walk, which may
 * forget all to make room. Context: [hook], own stack.
 */
uint32_t lc_shadow_walk(struct lc_shadow *s, const struct lc_native_frame *at, uint64_t stack_end);

/*
 * The same for a thread that is in the JVM, from where it left Java code. `frame`: of the function
 * that asks, __builtin_frame_address(0). Context: [java], own stack.
 */
uint32_t lc_shadow_walk_last(struct lc_shadow *s, const struct lc_last_java *at, uint64_t frame,
                             uint64_t stack_end);

/* Where a place would be: by the hook's frame, and where the native method returns to. */
static inline uint32_t lc_shadow_slot(uint64_t frame)
{
	const uint64_t *native = (const uint64_t *)*(const uint64_t *)(uintptr_t)frame; /* NOLINT */

	return (uint32_t)(lc_hash(frame + native[1]) >> 59);
}

static inline uint64_t lc_shadow_differ(const struct lc_shadow_word *words, uint32_t len)
{
	uint64_t differ = 0;

	/* Without an exit: each step of this loop costs one cycle. */
	for (uint32_t i = 0; i < len; i++)
		differ |= *(const uint64_t *)(uintptr_t)words[i].at ^ words[i].value; /* NOLINT */
	return differ;
}

/*
 * The note that was remembered with `key` if the thread is where it was then, `frame` being the
 * hook's; else 0. Context: [hook], own stack.
 */
static inline __attribute__((always_inline)) uint64_t
lc_shadow_again(const struct lc_shadow_last *l, uint64_t frame, uint64_t key)
{
	const struct lc_shadow_place *p = &l->places[lc_shadow_slot(frame)];

	if (p->frame != frame || p->key != key || p->far_frame > l->frames_len ||
	    l->frames[p->far_frame - 1].node != p->far_node ||
	    l->frames[p->far_frame - 1].pc_at != p->far_at ||
	    l->frames[p->far_frame - 1].words_end != p->far_words ||
	    p->generation != l->generation ||
	    atomic_load_explicit(l->generation_now, memory_order_relaxed) != l->generation)
		return 0;
	if (lc_shadow_differ(p->words, p->words_len) | lc_shadow_differ(l->words, p->far_words))
		return 0;
	return p->note;
}

/*
 * How many frames the last walk found that led to no node, since the tree has no room for them;
 * *frames are those, outermost first. 0: it led to a node, or a frame cannot be told. Valid until
 * the next walk. Context: [hook], owner.
 */
uint32_t lc_shadow_beyond(const struct lc_shadow *s, const struct lc_shadow_frame **frames);

/* Where lc_shadow_again() looks; valid as long as the shadow is. Context: [hook], owner. */
const struct lc_shadow_last *lc_shadow_last(const struct lc_shadow *s);

/*
 * Remember the place of the last walk, which was from `frame`, with a key and a note that is not 0.
 * Context: [hook], owner, after the walk.
 */
void lc_shadow_remember(struct lc_shadow *s, uint64_t frame, uint64_t key, uint64_t note);

/* Changes when all nodes were forgotten, to make room. Context: tests. */
uint32_t lc_shadow_round(const struct lc_shadow *s);

/*
 * A word of the caller's own at the node, for `key`, which is not 0; 0 at first. NULL without
 * memory. Context: [hook], owner.
 */
uint64_t *lc_shadow_note(struct lc_shadow *s, uint32_t node, uint64_t key);

/*
 * The Java frames of the node, innermost first, as lc_frame_pack() makes them; at most `max`. A
 * cycle that was folded (core/recursion.h) is there twice. Returns how many. Context: [hook],
 * owner.
 */
size_t lc_shadow_frames(const struct lc_shadow *s, uint32_t node, uint64_t *frames, size_t max);

#endif
