/*
 * stack/shadow.c - keeps the words of the last walk's frames, and the tree of frames.
 *
 * Words and frames are kept from the outermost on. The words of a frame tell where its caller's
 * frame is and what runs there: of a compiled frame the return address into it, since its size
 * follows from that; of an interpreted one its method, its bytecode and its rbp too; where the JVM
 * called Java code, the words that lead to the frames beyond.
 */
#include "src/stack/shadow.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/slab.h"
#include "src/core/record.h"
#include "src/jvm/blob.h"
#include "src/jvm/code_frames.h"
#include "src/jvm/peek.h"
#include "src/stack/generated.h"

enum {
	FRAMES_MAX = 4096, /* of a walk; deeper stacks are the JVM's to walk */
	FRAMES_FIRST = 16,
	FRAME_WORDS = 6,
	NODES_MAX = 1 << 16,
};

struct node {
	uint32_t parent, number;
	const struct lc_code_frames *code; /* NULL: a note */
	uint64_t key;                      /* of a note */
	uint64_t note;
};

static const struct lc_slab_kind nodes_kind = { .element_bytes = sizeof(struct node),
	                                        .first = 64,
	                                        .blocks = 12 };

struct lc_shadow {
	struct lc_shadow_last last;
	uint32_t frames_cap; /* of `last` and of the new ones */
	uint32_t round;
	struct lc_slab nodes;               /* number 0 is the root */
	struct lc_shadow_frame *new_frames; /* of the walk that is going on, innermost first */
	struct lc_shadow_word *new_words;
};

int lc_shadow_create(struct lc_shadow **out)
{
	struct lc_shadow *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->last.generation_now = lc_generated_generation();
	*out = s;
	return 0;
}

void lc_shadow_destroy(struct lc_shadow *s)
{
	if (!s)
		return;
	lc_slab_free(&s->nodes);
	free(s->last.frames);
	free(s->last.words);
	free(s->new_frames);
	free(s->new_words);
	free(s);
}

uint32_t lc_shadow_round(const struct lc_shadow *s)
{
	return s->round;
}

static bool grow_frames(struct lc_shadow_frame **frames, size_t len)
{
	struct lc_shadow_frame *bigger = realloc(*frames, len * sizeof(**frames));

	if (bigger)
		*frames = bigger;
	return bigger;
}

static bool grow_words(struct lc_shadow_word **words, size_t len)
{
	struct lc_shadow_word *bigger = realloc(*words, len * sizeof(**words));

	if (bigger)
		*words = bigger;
	return bigger;
}

/* Room for twice as many frames. */
static bool grow(struct lc_shadow *s)
{
	const uint32_t cap = s->frames_cap ? s->frames_cap * 2 : FRAMES_FIRST;
	const size_t words = (size_t)cap * FRAME_WORDS;

	if (cap > FRAMES_MAX || !grow_frames(&s->last.frames, cap) ||
	    !grow_frames(&s->new_frames, cap) || !grow_words(&s->last.words, words) ||
	    !grow_words(&s->new_words, words))
		return false;
	s->frames_cap = cap;
	return true;
}

struct key {
	uint32_t parent;
	const struct lc_code_frames *code;
	uint64_t key;
};

static bool same_node(const void *element, const void *key)
{
	const struct node *n = element;
	const struct key *k = key;

	return n->parent == k->parent && n->code == k->code && n->key == k->key;
}

static struct node *child(struct lc_shadow *s, uint32_t parent, const struct lc_code_frames *code,
                          uint64_t key)
{
	const struct key k = { parent, code, key };
	const uint32_t hash =
	    (uint32_t)(lc_hash_add(lc_hash_add(parent, (uintptr_t)code), key) >> 32) | 1;
	struct node *n = lc_slab_find(&s->nodes, &nodes_kind, hash, same_node, &k);

	if (n)
		return n;
	n = lc_slab_add(&s->nodes, &nodes_kind, hash);
	if (!n)
		return NULL;
	n->parent = parent;
	n->number = atomic_load_explicit(&s->nodes.len, memory_order_relaxed); /* ours */
	n->code = code;
	n->key = key;
	lc_slab_publish(&s->nodes);
	return n;
}

/* All nodes are forgotten when there are too many. Returns whether there is a root. */
static bool make_root(struct lc_shadow *s)
{
	const uint32_t len = atomic_load_explicit(&s->nodes.len, memory_order_relaxed); /* ours */

	if (len && len < NODES_MAX)
		return true;
	lc_slab_free(&s->nodes);
	memset(s->last.places, 0, sizeof(s->last.places));
	s->last.frames_len = 0;
	s->round++;
	return child(s, UINT32_MAX, NULL, 0) != NULL;
}

/* Where a walk is: a return address, where it stands, and what the registers were there. */
struct walk {
	struct lc_shadow *s;
	uint64_t frame, end;
	uint64_t pc, pc_at, sp, rbp;
	uint64_t rbp_at;        /* where rbp was saved */
	uint32_t frames, words; /* new ones */
	bool from_jvm;          /* the JVM called the frame before */
	bool complete;
};

/* Is this a word of the stack above the hook? */
static bool is_word(const struct walk *w, uint64_t address)
{
	return address > w->frame && address + 8 <= w->end && !(address & 7);
}

static bool add_word(struct walk *w, uint64_t address)
{
	if (!is_word(w, address))
		return false;
	w->s->new_words[w->words++] = (struct lc_shadow_word){ address, lc_load64(address) };
	return true;
}

/* The frame that `pc` returns to, before the step to its caller. */
static struct lc_shadow_frame *begin(struct walk *w, const struct lc_code_frames *code)
{
	struct lc_shadow_frame *f = &w->s->new_frames[w->frames++];

	*f =
	    (struct lc_shadow_frame){ .code = code, .pc_at = w->pc_at, .sp = w->sp, .rbp = w->rbp };
	return f;
}

static bool step_interpreted(struct walk *w)
{
	const uint64_t rbp = w->rbp, method_at = rbp + (uint64_t)(LC_INTERPRETED_METHOD * 8),
	               bytecode_at = rbp + (uint64_t)(LC_INTERPRETED_BYTECODE * 8),
	               sender_at = rbp + (uint64_t)(LC_INTERPRETED_SENDER_SP * 8);
	const struct lc_code_frames *code;

	if (rbp < w->pc_at || !is_word(w, rbp + 8) || !add_word(w, w->pc_at) ||
	    !add_word(w, w->rbp_at) || !add_word(w, method_at) || !add_word(w, bytecode_at) ||
	    !add_word(w, sender_at))
		return false;
	code = lc_code_frames_interpreted(lc_load64(method_at), lc_load64(bytecode_at));
	if (!code)
		return false;
	begin(w, code)->words_end = w->words;
	w->pc_at = rbp + 8;
	w->pc = lc_load64(w->pc_at);
	w->sp = lc_load64(sender_at);
	w->rbp = lc_load64(rbp);
	w->rbp_at = rbp;
	return true;
}

/* Compiled code calls the JVM through stubs, and the JVM may call Java code then. */
static int stub_words(const struct walk *w)
{
	struct lc_blob blob;

	return w->from_jvm && lc_blob_find(w->pc, &blob) && blob.kind == LC_BLOB_OTHER
	           ? blob.frame_words
	           : -1;
}

static bool step_compiled(struct walk *w)
{
	const struct lc_code_frames *code = lc_code_frames_compiled(w->pc);
	const int words = code ? code->frame_words : stub_words(w);
	uint64_t at;

	/* A native method that nothing has called by way of the JVM: a virtual thread begins. */
	if (words < 2 || (code && code->frames[0] >> LC_ADDR_BITS == LC_BCI_NONE && !w->from_jvm))
		return false;
	at = w->sp + (uint64_t)words * 8 - 8;
	if (!is_word(w, at) || at <= w->pc_at || !add_word(w, w->pc_at))
		return false;
	begin(w, code)->words_end = w->words;
	w->rbp_at = at - 8;
	w->rbp = lc_load64(at - 8);
	w->pc_at = at;
	w->pc = lc_load64(at);
	w->sp = at + 8;
	return true;
}

/*
 * The JVM called the frame that has just ended: go to where the thread was in Java code before.
 * Returns false where it cannot, or there is nothing: then that is all.
 */
static bool step_entry(struct walk *w)
{
	struct lc_entry_frame e;

	if (!lc_frames_entry_frame(w->rbp, w->frame, w->end, &e) || !add_word(w, w->pc_at) ||
	    !add_word(w, w->rbp_at) || !add_word(w, e.wrapper_at) || !add_word(w, e.sp_at) ||
	    !add_word(w, e.pc_at) || !add_word(w, e.rbp_at))
		return false;
	w->complete = !lc_load64(e.sp_at);
	begin(w, NULL)->words_end = w->words;
	if (w->complete)
		return true;
	w->sp = lc_load64(e.sp_at);
	w->pc = lc_load64(e.pc_at);
	w->pc_at = w->pc ? e.pc_at : w->sp - 8;
	w->rbp_at = e.rbp_at;
	if (w->sp <= w->rbp || !is_word(w, w->pc_at))
		return false;
	w->pc = lc_load64(w->pc_at);
	w->rbp = lc_load64(e.rbp_at);
	return true;
}

static bool step(struct walk *w)
{
	bool jvm = lc_frames_entry(w->pc), stepped;

	if (w->frames == w->s->frames_cap && !grow(w->s))
		return false;
	stepped = jvm                            ? step_entry(w)
	          : lc_frames_interpreted(w->pc) ? step_interpreted(w)
	                                         : step_compiled(w);
	w->from_jvm = jvm;
	return stepped;
}

/* How many frames of the last walk, from the outermost on, still stand above `frame`. */
static uint32_t still_there(const struct lc_shadow *s, uint64_t frame)
{
	uint32_t word = 0, frames = 0;

	for (; frames < s->last.frames_len; frames++)
		for (; word < s->last.frames[frames].words_end; word++)
			if (s->last.words[word].at <= frame ||
			    lc_load64(s->last.words[word].at) != s->last.words[word].value)
				return frames;
	return frames;
}

/* Then nothing depends on its rbp. */
static bool is_compiled(const struct lc_shadow_frame *f)
{
	return f->code && f->code->blob;
}

/*
 * How many frames of the last walk, of the `len` that still stand, are those that the walk has come
 * to and all beyond; 0: it has come to none.
 */
static uint32_t joins(const struct walk *w, uint32_t *len)
{
	const struct lc_shadow_frame *f;

	while (*len && w->s->last.frames[*len - 1].pc_at < w->pc_at)
		--*len;
	f = *len ? &w->s->last.frames[*len - 1] : NULL;
	return f && f->pc_at == w->pc_at && f->sp == w->sp && (is_compiled(f) || f->rbp == w->rbp)
	           ? *len
	           : 0;
}

/* The new frames become the last walk's, from the outermost on, behind `known` that stay. */
static uint32_t take_over(struct walk *w, uint32_t known)
{
	struct lc_shadow *s = w->s;
	uint32_t words = known ? s->last.frames[known - 1].words_end : 0;
	uint32_t node = known ? s->last.frames[known - 1].node : 0;

	while (known + w->frames > s->frames_cap)
		if (!grow(s))
			return 0;
	for (uint32_t i = w->frames; i--; known++) {
		const uint32_t from = i ? s->new_frames[i - 1].words_end : 0;
		struct lc_shadow_frame *f = &s->last.frames[known];

		*f = s->new_frames[i];
		for (uint32_t j = from; j < s->new_frames[i].words_end; j++)
			s->last.words[words++] = s->new_words[j];
		f->words_end = words;
		if (f->code) {
			const struct node *n = child(s, node, f->code, 0);

			if (!n)
				return 0;
			node = n->number;
		}
		f->node = node;
	}
	s->last.frames_len = known;
	return node;
}

uint32_t lc_shadow_walk(struct lc_shadow *s, const struct lc_native_frame *at, uint64_t stack_end)
{
	struct walk w = { .s = s, .frame = at->frame, .end = stack_end };
	uint32_t known = 0, len, node, now;

	if (!make_root(s) || !is_word(&w, at->native) || !is_word(&w, at->native + 8))
		return 0;
	w.pc_at = at->native + 8;
	w.pc = lc_load64(w.pc_at);
	w.sp = lc_frames_interpreted(at->into)
	           ? lc_load64(at->native + (uint64_t)(LC_INTERPRETED_SENDER_SP * 8))
	           : at->native + 16;
	w.rbp_at = at->native;
	w.rbp = lc_load64(at->native);
	/* Code was freed: what a return address means is looked up anew. */
	now = atomic_load_explicit(s->last.generation_now, memory_order_relaxed); /* a hint */
	if (s->last.generation != now)
		s->last.frames_len = 0;
	s->last.generation = now;
	len = still_there(s, at->frame);
	while (!w.complete) {
		known = joins(&w, &len);
		if (known)
			break;
		if (!step(&w)) {
			s->last.frames_len = 0;
			return 0;
		}
	}
	node = take_over(&w, known);
	if (!node)
		s->last.frames_len = 0;
	return node;
}

uint64_t *lc_shadow_note(struct lc_shadow *s, uint32_t node, uint64_t key)
{
	struct node *n = child(s, node, NULL, key);

	return n ? &n->note : NULL;
}

const struct lc_shadow_last *lc_shadow_last(const struct lc_shadow *s)
{
	return &s->last;
}

void lc_shadow_remember(struct lc_shadow *s, uint64_t frame, uint64_t key, uint64_t note)
{
	struct lc_shadow_place *p = &s->last.places[lc_shadow_slot(frame)];
	uint32_t far = s->last.frames_len, from;

	p->frame = 0;
	/* The words of the nearest frames that fit in; one frame at least is beyond. */
	while (far > 1 && s->last.frames[s->last.frames_len - 1].words_end -
	                          s->last.frames[far - 2].words_end <=
	                      LC_SHADOW_NEAR_WORDS)
		far--;
	if (!far)
		return;
	from = s->last.frames[far - 1].words_end;
	p->words_len = s->last.frames[s->last.frames_len - 1].words_end - from;
	memcpy(p->words, s->last.words + from, p->words_len * sizeof(p->words[0]));
	p->key = key;
	p->note = note;
	p->generation = s->last.generation;
	p->far_node = s->last.frames[far - 1].node;
	p->far_frame = far;
	p->far_words = from;
	p->frame = frame;
}

size_t lc_shadow_frames(const struct lc_shadow *s, uint32_t node, uint64_t *frames, size_t max)
{
	size_t len = 0;

	while (node && len < max) {
		const struct node *n = lc_slab_at(&s->nodes, &nodes_kind, node);

		for (uint32_t i = 0; n->code && i < n->code->len && len < max; i++)
			frames[len++] = n->code->frames[i];
		node = n->parent;
	}
	return len;
}
