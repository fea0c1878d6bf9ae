/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/shadow.h - remembers the frames that a thread's last walk found, and walks only those that
 * have changed since.
 *
 * A walk goes from frame to frame by the sizes of frames. It ends at a frame of the last walk whose
 * words, and those of all frames beyond, are still on the stack: the rest is known. So a walk costs
 * a few loads for each frame, at any depth of the stack.
 *
 * The frames of all walks are a tree: a node is a frame that was called by the frame of its parent.
 * If recursion is folded, frames that differ only in recursion have the same node. Owner of all:
 * the thread, without a lock.
 */
#ifndef LC_STACK_SHADOW_H
#define LC_STACK_SHADOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <x86intrin.h>

#include "src/base/hash.h"
#include "src/jvm/stack/frames.h"

struct lc_shadow;
struct lc_walk_credit;

/* A word of the stack as the last walk found it. */
struct lc_shadow_word {
	uint64_t at, value;
};

/*
 * A place that was remembered, in the table of a shadow: by the words of its nearest frames, and by
 * the frame beyond, from where on the last walk must have found the same frames.
 */
enum {
	LC_SHADOW_NEAR_WORDS = 16,
	LC_SHADOW_SET_BITS = 5,
	LC_SHADOW_SETS = 1 << LC_SHADOW_SET_BITS,
	LC_SHADOW_WAYS = 2
};

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

enum {
	/*
	 * A thread needs more to leave a compiled frame and call another one: prologue, epilogue
	 * and the jumps between are more than ten instructions each. An interpreted frame, with
	 * five words, takes a hundred cycles. In ticks of the TSC, which a core at a turbo clock
	 * passes at most twice. The bound is argued, and a third of what was measured at best.
	 */
	LC_SHADOW_WORD_TICKS = 2,
	LC_SHADOW_SLACK_WORDS = 32, /* for clocks of two CPUs that differ */
	LC_SHADOW_SURE_FROM = 256,  /* words: those of fewer are all compared */
};

/*
 * The first `words` of a shadow were on the stack when the thread had run for so long, or later. An
 * earlier time is also correct, but makes the walk compare more.
 */
struct lc_shadow_sure {
	const _Atomic uint64_t
	    *stopped;   /* ticks of all pauses, in which no thread changes its stack */
	uint64_t tsc;   /* the TSC at that time, less these */
	uint32_t words; /* 0: nothing is known */
};

/* The time that the thread can have run so far. Context: [hook], owner. */
static inline uint64_t lc_shadow_ticks(const struct lc_shadow_sure *s)
{
	/* First: a pause that ends in between makes the time longer. */
	const uint64_t stopped = atomic_load_explicit(s->stopped, memory_order_acquire);

	return __rdtsc() - stopped;
}

/*
 * The first `words` stand. In a pause, which a thread in native code may meet, nothing is known:
 * the whole pause counts as time in which the thread stood still. Context: [hook] [java], owner.
 */
void lc_shadow_stand_words(struct lc_shadow_sure *s, uint32_t words);

/* So many words stand there without a doubt. Context: [hook], owner. */
static inline uint32_t lc_shadow_sure_words(const struct lc_shadow_sure *s)
{
	const uint64_t changed =
	    LC_SHADOW_SLACK_WORDS + (lc_shadow_ticks(s) - s->tsc) / LC_SHADOW_WORD_TICKS;

	return s->words > changed ? s->words - (uint32_t)changed : 0;
}

/* The last walk, for lc_shadow_again(); written by stack/shadow.c. All 0 before the first walk. */
struct lc_shadow_last {
	struct lc_shadow_frame *frames; /* outermost first */
	struct lc_shadow_word *words;   /* outermost first */
	uint32_t frames_len;
	uint32_t generation; /* of the generated code, at the walk */
	const _Atomic uint32_t *generation_now;
	struct lc_shadow_sure *sure; /* of `words`; not NULL if there is a place */
	struct lc_shadow_place places[LC_SHADOW_SETS][LC_SHADOW_WAYS];
};

/*
 * Returns 0 and sets *out, or -ENOMEM. `credit` pays for long walks; it must outlive the shadow;
 * NULL: there is no limit. Context: [attach] [java].
 */
int lc_shadow_create(struct lc_walk_credit *credit, struct lc_shadow **out);

/* NULL is fine. Context: [writer], when the thread has ended. */
void lc_shadow_destroy(struct lc_shadow *s);

/*
 * Walk to the native method's callers, all of them. Returns the node of the innermost Java frame;
 * 0 where not even that can be told: then ask the JVM. A node is valid until the next walk, which
 * may forget all to make room. Context: [hook], own stack.
 */
uint32_t lc_shadow_walk(struct lc_shadow *s, const struct lc_native_frame *at, uint64_t stack_end);

/*
 * The same for a thread that is in the JVM, from where it left Java code. `frame`: of the function
 * that asks, __builtin_frame_address(0). Context: [java], own stack.
 */
uint32_t lc_shadow_walk_last(struct lc_shadow *s, const struct lc_last_java *at, uint64_t frame,
                             uint64_t stack_end);

/* The set of a place: by the hook's frame, and the native method's return address. */
static inline uint32_t lc_shadow_set(uint64_t frame)
{
	const uint64_t *native = (const uint64_t *)*(const uint64_t *)(uintptr_t)frame; /* NOLINT */

	return (uint32_t)(lc_hash(frame + native[1]) >> (64 - LC_SHADOW_SET_BITS));
}

static inline uint64_t lc_shadow_differ(const struct lc_shadow_word *words, uint32_t len)
{
	uint64_t differ = 0;

	/* Without an exit: each step of this loop costs one cycle. */
	for (uint32_t i = 0; i < len; i++)
		differ |= *(const uint64_t *)(uintptr_t)words[i].at ^ words[i].value; /* NOLINT */
	return differ;
}

/* lc_shadow_again() without a comparison of the words that certainly still stand. */
static inline uint64_t lc_shadow_again_deep(const struct lc_shadow_last *l,
                                            const struct lc_shadow_place *p)
{
	uint32_t sure = lc_shadow_sure_words(l->sure);

	sure = sure < p->far_words ? sure : p->far_words;
	if (lc_shadow_differ(p->words, p->words_len) |
	    lc_shadow_differ(l->words + sure, p->far_words - sure))
		return 0;
	lc_shadow_stand_words(l->sure, p->far_words);
	return p->note;
}

/* The note of the place if the thread is there, `frame` being the hook's; else 0. */
static inline __attribute__((always_inline)) uint64_t
lc_shadow_is_at(const struct lc_shadow_last *l, const struct lc_shadow_place *p, uint64_t frame,
                uint64_t key)
{
	if (p->frame != frame || p->key != key || p->far_frame > l->frames_len ||
	    l->frames[p->far_frame - 1].node != p->far_node ||
	    l->frames[p->far_frame - 1].pc_at != p->far_at ||
	    l->frames[p->far_frame - 1].words_end != p->far_words ||
	    p->generation != l->generation ||
	    atomic_load_explicit(l->generation_now, memory_order_relaxed) != l->generation)
		return 0;
	if (__builtin_expect(p->far_words > LC_SHADOW_SURE_FROM, 0))
		return lc_shadow_again_deep(l, p);
	if (lc_shadow_differ(p->words, p->words_len) | lc_shadow_differ(l->words, p->far_words))
		return 0;
	return p->note;
}

/*
 * The note that was remembered with `key` if the thread is where it was then, `frame` being the
 * hook's; else 0. Context: [hook], own stack.
 */
static inline __attribute__((always_inline)) uint64_t
lc_shadow_again(const struct lc_shadow_last *l, uint64_t frame, uint64_t key)
{
	const struct lc_shadow_place *set = l->places[lc_shadow_set(frame)];
	uint64_t note = 0;

	for (unsigned i = 0; i < LC_SHADOW_WAYS && !note; i++)
		note = lc_shadow_is_at(l, &set[i], frame, key);
	return note;
}

/*
 * How many frames the last walk found that led to no node, since the tree has no room for them;
 * *frames are those, outermost first. 0: it led to a node, or a frame cannot be told. Valid until
 * the next walk. Context: [hook], owner.
 */
uint32_t lc_shadow_beyond(const struct lc_shadow *s, const struct lc_shadow_frame **frames);

/* The Java frames of these, as lc_shadow_frames() gives them. Context: as above. */
size_t lc_shadow_beyond_frames(const struct lc_shadow *s, uint64_t *frames, size_t max);

/*
 * The nearest Java frames of the last walk, innermost first, as lc_shadow_frames() gives them, but
 * without folding; at most `max`. Returns how many; 0: it led to no node. Context: [hook], owner.
 */
size_t lc_shadow_nearest(const struct lc_shadow *s, uint64_t *frames, size_t max);

/*
 * From now on nodes are those of walks with the same `root`, a number of the caller's; 0 at first.
 * Context: [hook] [java], owner.
 */
void lc_shadow_set_root(struct lc_shadow *s, uint32_t root);

/* Is the last walk's path open? Context: [hook], owner. */
bool lc_shadow_open(const struct lc_shadow *s);

/* Is the path open because of an unknown frame, which the JVM may know? Context: [hook], owner. */
bool lc_shadow_unknown(const struct lc_shadow *s);

/*
 * The JVM was asked for such a path, and has given IDs to the methods on it: the next walk tries
 * again to tell all frames. Context: [hook] [java], owner.
 */
void lc_shadow_try_again(struct lc_shadow *s);

/*
 * The hook that has walked ends: the less time passes until the next one, the less is compared.
 * Context: [hook] [java], owner.
 */
void lc_shadow_stand(struct lc_shadow *s);

/* Frames that all walks have looked at so far. Context: [hook], owner. */
uint64_t lc_shadow_looked(const struct lc_shadow *s);

/* The data of lc_shadow_again(); valid as long as the shadow is. Context: [hook], owner. */
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
