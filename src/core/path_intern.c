/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/path_intern.c - finds the node of a call path, frame by frame from the root, and folds
 * recursion on the way.
 *
 * A thread's paths mostly begin as its last one did, and a path has a hundred frames where a
 * program is deep. So what was found for the last path is kept, as far as it holds for the next
 * one. It is kept in a few slots, of which a thread that finds its own in use does without.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "src/base/hash.h"
#include "src/base/options.h"
#include "src/core/path_impl.h"
#include "src/core/record.h"
#include "src/core/recursion.h"

enum { SLOTS = 8 };

/* A path on its way to the leaf, as recursion.h compares its frames, and where it was folded. */
struct growing {
	uint32_t len;
	uint64_t frames[LC_FRAMES_MAX]; /* method << 16 | bci */
	uint16_t cycles[LC_FRAMES_MAX]; /* longest cycle that was folded there, or 0 */
};

/*
 * The last path. Invariant: the first `kept` frames that were asked for, `asked`, led to the first
 * `led[kept - 1]` frames of `path`, and none of those has changed since. The first `known` frames
 * of `path` have `nodes`, below the node `root`.
 */
struct last {
	atomic_flag used; /* who sets it may touch the rest */
	uint32_t kept, known, root;
	uint64_t asked[LC_FRAMES_MAX]; /* lc_frame_pack(), from the root */
	uint16_t led[LC_FRAMES_MAX];
	uint32_t nodes[LC_FRAMES_MAX];
	struct growing path;
};

static struct last slots[SLOTS];
static _Thread_local char of_thread
    __attribute__((tls_model("initial-exec"))); /* for its address */

/* The next frame towards the leaf. Returns false without room. */
static bool grow(struct growing *g, uint64_t frame)
{
	const uint32_t cycle = lc_recursion_cycle(g->frames, g->len, frame);

	if (cycle) {
		g->len -= cycle - 1;
		if (g->cycles[g->len - 1] < cycle)
			g->cycles[g->len - 1] = (uint16_t)cycle;
		return true;
	}
	if (g->len == LC_FRAMES_MAX)
		return false;
	g->frames[g->len] = frame;
	g->cycles[g->len++] = 0;
	return true;
}

/* The node of the path's frame `i` below `parent`; UINT32_MAX without room. */
static uint32_t intern_frame(const struct growing *g, uint32_t i, uint32_t parent)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): those below g->len are set */
	const uint32_t number = lc_path_frame_intern(parent, g->frames[i]);

	if (number != UINT32_MAX && g->cycles[i])
		lc_path_note_recursion(number, g->cycles[i]);
	return number;
}

/* The node of the frames from `first` on, below `number`; UINT32_MAX without room. */
static uint32_t intern_frames(const struct growing *g, uint32_t first, uint32_t number,
                              uint32_t *nodes)
{
	for (uint32_t i = first; i < g->len; i++) {
		number = intern_frame(g, i, number);
		if (number == UINT32_MAX) {
			lc_path_no_room();
			break;
		}
		if (nodes)
			nodes[i] = number;
	}
	return number;
}

/* Keep of the last path what the new one begins with. Returns how many frames that are. */
static size_t go_back(struct last *l, const uint64_t *frames, size_t frames_len)
{
	uint32_t i = 0;

	while (i < l->kept && i < frames_len && l->asked[i] == frames[frames_len - 1 - i])
		i++;
	l->kept = i;
	l->path.len = i ? l->led[i - 1] : 0;
	if (l->known > l->path.len)
		l->known = l->path.len;
	return i;
}

/* A cycle was folded at the last frame of the path: what led to it or beyond holds no more. */
static void forget_folded(struct last *l)
{
	while (l->kept && l->led[l->kept - 1] >= l->path.len)
		l->kept--;
	if (l->known >= l->path.len)
		l->known = l->path.len - 1;
}

/* Let the path become that of `frames`. Returns false without room. */
static bool go_on(struct last *l, JNIEnv *jni, const uint64_t *frames, size_t frames_len)
{
	for (size_t i = go_back(l, frames, frames_len); i < frames_len; i++) {
		const uint64_t frame = frames[frames_len - 1 - i];
		const uint32_t method = lc_path_method_intern(jni, frame & LC_ADDR_MASK);
		const uint32_t before = l->path.len;

		if (method == UINT32_MAX)
			return false;
		if (!lc_method_get(method)->left_out) {
			if (!grow(&l->path, (uint64_t)method << 16 | frame >> LC_ADDR_BITS))
				return false;
			if (l->path.len <= before)
				forget_folded(l);
		}
		if (l->kept == i && i < LC_FRAMES_MAX) {
			l->asked[i] = frame;
			l->led[i] = (uint16_t)l->path.len;
			l->kept++;
		}
	}
	return true;
}

/* UINT32_MAX without room. */
static uint32_t intern_in(struct last *l, JNIEnv *jni, uint32_t root, const uint64_t *frames,
                          size_t frames_len, uint32_t depth)
{
	const struct growing *g = &l->path;
	uint32_t number;

	if (l->root != root)
		l->known = 0;
	l->root = root;
	if (!go_on(l, jni, frames, frames_len)) {
		l->kept = l->known = 0;
		lc_path_no_room();
		return UINT32_MAX;
	}
	if (g->len > depth)
		return intern_frames(g, g->len - depth, root, NULL);
	number = intern_frames(g, l->known, l->known ? l->nodes[l->known - 1] : root, l->nodes);
	if (number != UINT32_MAX)
		l->known = g->len;
	return number;
}

uint32_t lc_path_intern_nearest(JNIEnv *jni, uint32_t root, const uint64_t *frames,
                                size_t frames_len, uint32_t depth)
{
	const uint64_t hash = lc_hash((uint64_t)(uintptr_t)&of_thread);
	struct last *l = &slots[hash >> 32 & (SLOTS - 1)], *spare = NULL;
	uint32_t number;

	if (atomic_flag_test_and_set_explicit(&l->used, memory_order_acquire)) {
		l = spare = calloc(1, sizeof(*spare));
		if (!l) {
			lc_path_no_room();
			return root;
		}
	}
	number = intern_in(l, jni, root, frames, frames_len, depth);
	if (spare)
		free(spare);
	else
		atomic_flag_clear_explicit(&l->used, memory_order_release);
	return number == UINT32_MAX ? root : number;
}

uint32_t lc_path_intern(JNIEnv *jni, const uint64_t *frames, size_t frames_len)
{
	return lc_path_intern_nearest(jni, 0, frames, frames_len, LC_FRAMES_MAX);
}

uint32_t lc_path_below(uint32_t leaf, uint32_t callers, uint32_t depth)
{
	uint32_t nodes[LC_FRAMES_MAX], len = 0, number;
	struct growing g;

	g.len = 0;
	nodes[len++] = leaf;
	for (uint32_t i = callers; i && len < depth && len < LC_FRAMES_MAX; len++) {
		nodes[len] = i;
		i = lc_path_get(i)->parent;
	}
	while (len-- > 0) {
		const struct lc_path_node *n = lc_path_get(nodes[len]);

		if (!grow(&g, (uint64_t)n->method << 16 | n->bci)) {
			lc_path_no_room();
			return 0;
		}
	}
	number = intern_frames(&g, 0, 0, NULL);
	return number == UINT32_MAX ? 0 : number;
}
