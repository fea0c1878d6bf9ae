/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/call_tree.h - keeps the call paths that a thread's walks have found, as a tree of frames.
 *
 * A node is a Java frame that was called by the frame of its parent. Recursion is folded as
 * core/recursion.h says, so walks that differ in it alone lead to the same node. Owner: the thread,
 * without a lock. Context of all functions: [hook], owner.
 */
#ifndef LC_STACK_CALL_TREE_H
#define LC_STACK_CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/slab.h"
#include "src/jvm/code/code_frames.h"

enum lc_call_node_kind {
	LC_CALL_NODE_FRAME, /* value: a Java frame that is called by the parent's */
	LC_CALL_NODE_NOTE,  /* value: one more key of the parent's */
	LC_CALL_NODE_ROOT,  /* no frame; value: what the thread does in the paths below */
};

/* Code that is called by a node, and where that leads. */
struct lc_call {
	const struct lc_code_frames *code;
	uint32_t caller;
	uint32_t to;
};

/*
 * The first note of a frame, and the code that it called first, are in its own node: the index is
 * asked for others alone.
 */
struct lc_call_node {
	uint32_t parent, number;
	enum lc_call_node_kind kind;
	uint32_t cycle; /* of a frame: the longest that was folded there */
	uint64_t value;
	uint64_t key; /* of the note; 0: there is none yet */
	uint64_t note;
	struct lc_callee {
		const struct lc_code_frames *code;
		struct lc_call_node *to;
	} callees[2];
};

/* Empty when all is 0. */
struct lc_call_tree {
	struct lc_slab nodes; /* number 0 is the root, of kind LC_CALL_NODE_ROOT */
	struct lc_slab calls;
	bool folded;     /* a cycle was folded where none was before; who asks sets it to false */
	bool full;       /* there was no room for a node or a call: nothing more is added */
	bool common;     /* all threads share it: it takes memory from another share of the limit */
	uint32_t beyond; /* walks that led to no node since it was full */
	size_t taken_bytes;      /* of core/memory.h */
	struct lc_call_end *end; /* of the path that was extended last; NULL: none was */
};

extern const struct lc_slab_kind lc_call_nodes;

/*
 * Have a root. Returns false without memory. *forgotten: there were too many nodes, or what is full
 * has been of no use for long, and all of them are gone.
 */
bool lc_call_tree_ready(struct lc_call_tree *t, bool *forgotten);

void lc_call_tree_free(struct lc_call_tree *t);

/* The node of this number, which exists. */
static inline struct lc_call_node *lc_call_node(const struct lc_call_tree *t, uint32_t number)
{
	return lc_slab_at(&t->nodes, &lc_call_nodes, number);
}

/* lc_call_callee() if the caller's own node does not tell. */
struct lc_call_node *lc_call_callee_find(struct lc_call_tree *t, struct lc_call_node *caller,
                                         const struct lc_code_frames *code);

/* The leaf of the path when `code` is called by the frame of `caller`; NULL without memory. */
static inline struct lc_call_node *lc_call_callee(struct lc_call_tree *t,
                                                  struct lc_call_node *caller,
                                                  const struct lc_code_frames *code)
{
	if (caller->callees[0].code == code)
		return caller->callees[0].to;
	if (caller->callees[1].code == code)
		return caller->callees[1].to;
	return lc_call_callee_find(t, caller, code);
}

/* The frame LC_PATH_CUT of core/path.h, as lc_frame_pack() makes it. */
uint64_t lc_call_cut_frame(void);

/*
 * The node below which paths begin while the thread does `what`, a number of the caller's: the same
 * frames are then other nodes than in paths of another number. 0: the tree's root. NULL without
 * memory.
 */
struct lc_call_node *lc_call_root(struct lc_call_tree *t, uint32_t what);

/* The node of that frame below a root, for paths whose callers are not known; NULL without memory.
 */
struct lc_call_node *lc_call_cut(struct lc_call_tree *t, const struct lc_call_node *root);

/* The note of the node for `key`, which is not 0; 0 at first. NULL without memory. */
uint64_t *lc_call_note(struct lc_call_tree *t, uint32_t node, uint64_t key);

/*
 * The frames of the node's path, innermost first, at most `max`. A cycle that was folded is there
 * twice. Returns how many.
 */
size_t lc_call_frames(const struct lc_call_tree *t, uint32_t node, uint64_t *frames, size_t max);

#endif
