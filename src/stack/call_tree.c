/* SPDX-License-Identifier: Apache-2.0 */
/* stack/call_tree.c - adds the frames of walks to the tree, and folds recursion in it. */
#include "src/stack/call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/core/memory.h"
#include "src/core/path.h"
#include "src/core/record.h"
#include "src/core/recursion.h"

enum {
	NODES_MAX = 1 << 16,
	NODES_LEAST = 192,           /* every thread may have so many, whatever the limit */
	BEYOND_NODE = 16,            /* walks in vain, for each node, until all are forgotten */
	END_KEPT = 256,              /* frames of a path that the next ones are compared with */
	END_FRAMES = END_KEPT + 128, /* and those of a code address */
};

const struct lc_slab_kind lc_call_nodes = { .element_bytes = sizeof(struct lc_call_node),
	                                    .first = 64,
	                                    .blocks = 12 };
static const struct lc_slab_kind calls_kind = { .element_bytes = sizeof(struct lc_call),
	                                        .first = 64,
	                                        .blocks = 12 };

struct key {
	uint32_t parent;
	enum lc_call_node_kind kind;
	uint64_t value;
};

static bool same_node(const void *element, const void *key)
{
	const struct lc_call_node *n = element;
	const struct key *k = key;

	return n->parent == k->parent && n->value == k->value && n->kind == k->kind;
}

/* Add to a slab, where the agent's memory has room; the tree is full where it has not. */
static void *add(struct lc_call_tree *t, struct lc_slab *s, const struct lc_slab_kind *kind,
                 uint32_t hash)
{
	const enum lc_memory_use use = t->common ? LC_MEMORY_PATHS : LC_MEMORY_CONTEXTS;
	const size_t bytes = t->full ? 0 : lc_slab_next_bytes(s, kind);
	const bool few = atomic_load_explicit(&s->len, memory_order_relaxed) < NODES_LEAST;
	void *element = NULL;

	if (bytes && few)
		lc_memory_have(use, bytes);
	else if (bytes)
		t->full = !lc_memory_take(use, bytes);
	if (!t->full) {
		t->taken_bytes += bytes;
		element = lc_slab_add(s, kind, hash);
	}
	t->full |= !element;
	return element;
}

static struct lc_call_node *child(struct lc_call_tree *t, uint32_t parent,
                                  enum lc_call_node_kind kind, uint64_t value)
{
	const struct key k = { parent, kind, value };
	const uint32_t hash =
	    (uint32_t)(lc_hash_add(lc_hash_add(parent, value), (uint64_t)kind) >> 32) | 1;
	struct lc_call_node *n = lc_slab_find(&t->nodes, &lc_call_nodes, hash, same_node, &k);

	if (n)
		return n;
	n = add(t, &t->nodes, &lc_call_nodes, hash);
	if (!n)
		return NULL;
	n->parent = parent;
	n->number = atomic_load_explicit(&t->nodes.len, memory_order_relaxed); /* ours */
	n->kind = kind;
	n->value = value;
	/* The next walk reads it: if that is the first access to its page, see base/zeroed.h. */
	n->callees[1] = (struct lc_callee){ 0 };
	lc_slab_publish(&t->nodes);
	return n;
}

uint64_t lc_call_cut_frame(void)
{
	return lc_frame_pack((const void *)(uintptr_t)LC_PATH_CUT, -1); /* NOLINT */
}

struct lc_call_node *lc_call_root(struct lc_call_tree *t, uint32_t what)
{
	return what ? child(t, 0, LC_CALL_NODE_ROOT, what) : lc_call_node(t, 0);
}

struct lc_call_node *lc_call_cut(struct lc_call_tree *t, const struct lc_call_node *root)
{
	return root ? child(t, root->number, LC_CALL_NODE_FRAME, lc_call_cut_frame()) : NULL;
}

/*
 * The end of a path, outermost first: what the next frames may be compared with. A walk extends its
 * path frame by frame, and the end stays from one to the next.
 */
struct lc_call_end {
	struct lc_call_node *leaf; /* of the path; NULL: of none */
	uint32_t len;
	uint64_t frames[END_FRAMES];
	struct lc_call_node *nodes[END_FRAMES];
};

static bool is_root(const struct lc_call_node *n)
{
	return n->kind == LC_CALL_NODE_ROOT;
}

static void read_end(const struct lc_call_tree *t, struct lc_call_node *leaf,
                     struct lc_call_end *out)
{
	uint32_t i = 0;

	for (const struct lc_call_node *n = leaf; !is_root(n) && i < END_KEPT; i++)
		n = lc_call_node(t, n->parent);
	out->leaf = leaf;
	out->len = i;
	for (struct lc_call_node *n = leaf; i--; n = lc_call_node(t, n->parent)) {
		out->frames[i] = n->value;
		out->nodes[i] = n;
	}
}

/* The end of the path to `leaf`, with room for `more` frames; NULL without memory. */
static struct lc_call_end *end_of(struct lc_call_tree *t, struct lc_call_node *leaf, uint32_t more)
{
	struct lc_call_end *e = t->end ? t->end : calloc(1, sizeof(*e));
	uint32_t over;

	t->end = e;
	if (!e)
		return NULL;
	if (e->leaf != leaf)
		read_end(t, leaf, e);
	if (e->len + more > END_FRAMES) {
		over = e->len - END_KEPT;
		e->len = END_KEPT;
		memmove(e->frames, e->frames + over, END_KEPT * sizeof(e->frames[0]));
		memmove(e->nodes, e->nodes + over, END_KEPT * sizeof(e->nodes[0]));
	}
	return e;
}

/* Let `code` be called at the end of a path. Returns the new leaf; NULL without memory. */
static struct lc_call_node *extend(struct lc_call_tree *t, struct lc_call_node *leaf,
                                   const struct lc_code_frames *code)
{
	struct lc_call_end *end = end_of(t, leaf, code->len);

	if (!end)
		return NULL;
	for (uint32_t i = code->len; i-- && leaf;) {
		const uint32_t cycle = lc_recursion_cycle(end->frames, end->len, code->frames[i]);

		if (cycle) {
			end->len -= cycle - 1;
			leaf = end->nodes[end->len - 1];
			t->folded |= leaf->cycle < cycle;
			leaf->cycle = cycle > leaf->cycle ? cycle : leaf->cycle;
			continue;
		}
		leaf = child(t, leaf->number, LC_CALL_NODE_FRAME, code->frames[i]);
		end->frames[end->len] = code->frames[i];
		end->nodes[end->len++] = leaf;
	}
	end->leaf = leaf;
	return leaf;
}

static bool same_call(const void *element, const void *key)
{
	const struct lc_call *a = element, *b = key;

	return a->code == b->code && a->caller == b->caller;
}

struct lc_call_node *lc_call_callee_find(struct lc_call_tree *t, struct lc_call_node *caller,
                                         const struct lc_code_frames *code)
{
	struct lc_callee *kept = &caller->callees[caller->callees[0].code != NULL];
	const struct lc_call key = { .code = code, .caller = caller->number };
	const uint32_t hash =
	    (uint32_t)(lc_hash_add(lc_hash_add(key.caller, (uintptr_t)code), 1) >> 32) | 1;
	const struct lc_call *known = lc_slab_find(&t->calls, &calls_kind, hash, same_call, &key);
	struct lc_call_node *to = known ? lc_call_node(t, known->to) : extend(t, caller, code);
	struct lc_call *call;

	if (!to)
		return NULL;
	call = known ? NULL : add(t, &t->calls, &calls_kind, hash);
	if (call) {
		*call = key;
		call->to = to->number;
		lc_slab_publish(&t->calls);
	}
	*kept = (struct lc_callee){ code, to };
	return to;
}

bool lc_call_tree_ready(struct lc_call_tree *t, bool *forgotten)
{
	const uint32_t len = atomic_load_explicit(&t->nodes.len, memory_order_relaxed); /* ours */

	*forgotten =
	    len >= NODES_MAX || (len && t->full && (t->common || t->beyond > len * BEYOND_NODE));
	if (len && !*forgotten)
		return true;
	lc_call_tree_free(t);
	return child(t, UINT32_MAX, LC_CALL_NODE_ROOT, 0);
}

void lc_call_tree_free(struct lc_call_tree *t)
{
	lc_slab_free(&t->nodes);
	lc_slab_free(&t->calls);
	free(t->end);
	t->end = NULL;
	lc_memory_give(t->common ? LC_MEMORY_PATHS : LC_MEMORY_CONTEXTS, t->taken_bytes);
	t->taken_bytes = 0;
	t->beyond = 0;
	t->full = false;
}

uint64_t *lc_call_note(struct lc_call_tree *t, uint32_t node, uint64_t key)
{
	struct lc_call_node *n = lc_call_node(t, node);

	if (!n->key)
		n->key = key;
	if (n->key != key)
		n = child(t, node, LC_CALL_NODE_NOTE, key);
	return n ? &n->note : NULL;
}

/* Add the `n` nearest frames from the node on. Returns the new length. */
static size_t add_frames(const struct lc_call_tree *t, const struct lc_call_node *node, size_t n,
                         uint64_t *frames, size_t len, size_t max)
{
	for (; !is_root(node) && n && len < max; n--, node = lc_call_node(t, node->parent))
		frames[len++] = node->value;
	return len;
}

size_t lc_call_frames(const struct lc_call_tree *t, uint32_t node, uint64_t *frames, size_t max)
{
	const struct lc_call_node *n = lc_call_node(t, node);
	size_t len = 0;

	for (; !is_root(n) && len < max; n = lc_call_node(t, n->parent)) {
		len = add_frames(t, n, n->cycle, frames, len, max);
		len = add_frames(t, n, 1, frames, len, max);
	}
	return len;
}
