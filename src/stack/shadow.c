/*
 * stack/shadow.c - walks a thread's stack, and keeps the words of the last walk's frames.
 *
 * Words and frames are kept from the outermost on. The words of a frame tell where its caller's
 * frame is and what runs there: of a compiled frame the return address into it, since its size
 * follows from that; of an interpreted one its method, its bytecode and its rbp too; where the JVM
 * called Java code, the words that lead to the frames beyond.
 *
 * A walk runs behind an allocation, when the store buffer is full: stores cost more there than
 * loads. So frames are looked at first, until one is known, and then written where they belong,
 * once.
 */
#include "src/stack/shadow.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/jvmti.h"
#include "src/core/record.h"
#include "src/core/version.h"
#include "src/jvm/blob.h"
#include "src/jvm/code_frames.h"
#include "src/jvm/guard.h"
#include "src/jvm/peek.h"
#include "src/jvm/walk_proof.h"
#include "src/stack/call_tree.h"
#include "src/stack/generated.h"

enum {
	FRAMES_MAX = 4096, /* of a walk; deeper stacks are the JVM's to walk */
	FRAMES_FIRST = 16,
	FRAME_WORDS = 6,
};

/* What a frame is. */
struct found {
	const struct lc_code_frames *code;
	uint32_t kind; /* enum kind */
	int32_t frame_words;
};

enum kind { COMPILED, DEOPTIMIZED, INTERPRETED, ENTRY };
enum { COMPILED_WORDS = 1, DEOPTIMIZED_WORDS = 2, INTERPRETED_WORDS = 5, ENTRY_WORDS = 6 };

/* Which kinds of frames a walk may pass; see jvm/walk_proof.h. */
struct passing {
	struct lc_walk_proof *proof;
	bool proves;    /* the walk passes what is not proved, too */
	bool unproved;  /* the walk has come to a kind that is neither proved nor refuted */
	uint32_t kinds; /* of those that it has come to */
};

struct lc_shadow {
	struct passing passing;
	struct lc_shadow_last last;
	uint32_t frames_cap; /* of `last` and of the new ones */
	uint32_t round;
	uint32_t beyond; /* frames of the last walk, where the tree has no room for them; else 0 */
	struct lc_call_tree tree;
	struct found *found;             /* by the walk that is going on, innermost first */
	uint32_t seen[LC_SHADOW_PLACES]; /* node of the last walk for a place */
};

int lc_shadow_create(struct lc_shadow **out)
{
	struct lc_shadow *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->last.generation_now = lc_generated_generation();
	s->passing.proof = lc_walk_proof_hook();
	*out = s;
	return 0;
}

void lc_shadow_destroy(struct lc_shadow *s)
{
	if (!s)
		return;
	lc_call_tree_free(&s->tree);
	free(s->last.frames);
	free(s->last.words);
	free(s->found);
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

static bool grow_found(struct found **found, size_t len)
{
	struct found *bigger = realloc(*found, len * sizeof(**found));

	if (bigger)
		*found = bigger;
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

	if (cap > FRAMES_MAX || !grow_frames(&s->last.frames, cap) || !grow_found(&s->found, cap) ||
	    !grow_words(&s->last.words, words))
		return false;
	s->frames_cap = cap;
	return true;
}

/* Returns whether there is a tree that the walk can add to. */
static bool make_ready(struct lc_shadow *s)
{
	bool forgotten, ready = lc_call_tree_ready(&s->tree, &forgotten);

	if (forgotten) {
		memset(s->last.places, 0, sizeof(s->last.places));
		memset(s->seen, 0, sizeof(s->seen));
		s->last.frames_len = 0;
		s->round++;
	}
	return ready;
}

/* Where a walk is: a return address, where it stands, and what the registers were there. */
struct walk {
	uint64_t frame, end;
	uint64_t pc, pc_at, sp, rbp;
	uint64_t rbp_at;        /* where rbp was saved */
	uint32_t frames, words; /* since the walk began */
	bool from_jvm;          /* the JVM called the frame before */
	bool complete;
	struct passing *passing; /* of the shadow */
};

static __attribute__((noinline)) bool may_pass_to_prove(struct passing *p, enum lc_frame_kind kind)
{
	if (!lc_walk_provable(p->proof, kind))
		return false;
	p->unproved = true;
	p->kinds |= kind;
	return p->proves;
}

static inline bool may_pass(const struct walk *w, enum lc_frame_kind kind)
{
	return __builtin_expect(lc_walk_proved(w->passing->proof, kind), 1) ||
	       may_pass_to_prove(w->passing, kind);
}

/* Is this a word of the stack above the hook? */
static inline bool is_word(const struct walk *w, uint64_t address)
{
	return address > w->frame && address + 8 <= w->end && !(address & 7);
}

/* Set the words of the frame; returns behind the last. */
static inline struct lc_shadow_word *set_word(struct lc_shadow_word *word, uint64_t address)
{
	word->at = address;
	word->value = lc_load64(address);
	return word + 1;
}

static inline bool look_at_interpreted(const struct walk *w, struct found *out)
{
	const uint64_t rbp = w->rbp, method_at = rbp + (uint64_t)(LC_INTERPRETED_METHOD * 8),
	               bytecode_at = rbp + (uint64_t)(LC_INTERPRETED_BYTECODE * 8),
	               sender_at = rbp + (uint64_t)(LC_INTERPRETED_SENDER_SP * 8);

	if (rbp < w->pc_at || !is_word(w, rbp + 8) || !is_word(w, w->pc_at) ||
	    !is_word(w, w->rbp_at) || !is_word(w, method_at) || !is_word(w, bytecode_at) ||
	    !is_word(w, sender_at))
		return false;
	out->kind = INTERPRETED;
	out->code = lc_code_frames_interpreted(lc_load64(method_at), lc_load64(bytecode_at));
	return out->code;
}

/* Compiled code calls the JVM through stubs, and the JVM may call Java code then. */
static int stub_words(const struct walk *w)
{
	struct lc_blob blob;

	return w->from_jvm && lc_blob_find(w->pc, &blob) && blob.kind == LC_BLOB_OTHER
	           ? blob.frame_words
	           : -1;
}

/*
 * The code of a compiled frame was given up while the frame waits: it returns to a handler, and
 * where it would have returned to stands in the frame.
 */
static __attribute__((noinline)) bool look_at_deoptimized(const struct walk *w, struct found *out)
{
	struct lc_blob blob;
	uint64_t at = 0;

	if (lc_blob_find(w->pc, &blob))
		at = lc_blob_original_pc_at(&blob, w->pc, w->sp);
	if (!at || !is_word(w, at) || !is_word(w, w->pc_at) || !may_pass(w, LC_FRAME_DEOPTIMIZED))
		return false;
	out->kind = DEOPTIMIZED;
	out->code = lc_code_frames_compiled(lc_load64(at));
	out->frame_words = blob.frame_words;
	at = w->sp + (uint64_t)blob.frame_words * 8 - 8;
	return out->code && out->code->blob == blob.at && blob.frame_words >= 2 && is_word(w, at) &&
	       at > w->pc_at;
}

static inline bool look_at_compiled(const struct walk *w, struct found *out)
{
	const struct lc_code_frames *code = lc_code_frames_compiled(w->pc);
	const int words = code ? code->frame_words : stub_words(w);
	uint64_t at;

	if (words < 2)
		return look_at_deoptimized(w, out);

	/* A native method that nothing has called by way of the JVM: a virtual thread begins. */
	if ((code && code->frames[0] >> LC_ADDR_BITS == LC_BCI_NONE && !w->from_jvm))
		return false;
	at = w->sp + (uint64_t)words * 8 - 8;
	out->kind = COMPILED;
	out->code = code;
	out->frame_words = words;
	return is_word(w, at) && at > w->pc_at && is_word(w, w->pc_at);
}

/* The JVM called Java code: can it be told where the thread was in Java code before? */
static bool look_at_entry(const struct walk *w, struct found *out)
{
	struct lc_entry_frame e;

	out->kind = ENTRY;
	out->code = NULL;
	if (!lc_frames_entry_frame(w->rbp, w->frame, w->end, &e) || !is_word(w, w->pc_at) ||
	    !is_word(w, w->rbp_at) || !is_word(w, e.wrapper_at) || !is_word(w, e.sp_at) ||
	    !is_word(w, e.pc_at) || !is_word(w, e.rbp_at))
		return false;
	return true;
}

/* What is the frame that `pc` returns to? Returns false where that cannot be told. */
static inline bool look(const struct walk *w, struct found *out)
{
	if (lc_frames_entry(w->pc))
		return may_pass(w, LC_FRAME_ENTRY) && look_at_entry(w, out);
	if (lc_frames_interpreted(w->pc))
		return may_pass(w, LC_FRAME_INTERPRETED) && look_at_interpreted(w, out);
	return may_pass(w, LC_FRAME_COMPILED) && look_at_compiled(w, out);
}

static unsigned words_of(const struct found *f)
{
	return f->kind == COMPILED      ? COMPILED_WORDS
	       : f->kind == DEOPTIMIZED ? DEOPTIMIZED_WORDS
	       : f->kind == INTERPRETED ? INTERPRETED_WORDS
	                                : ENTRY_WORDS;
}

/* Write the words of the frame that `pc` returns to. */
static inline void set_words(const struct walk *w, const struct found *f,
                             struct lc_shadow_word *word)
{
	struct lc_entry_frame e;
	struct lc_blob blob;

	word = set_word(word, w->pc_at);
	if (f->kind == COMPILED)
		return;
	if (f->kind == DEOPTIMIZED) {
		if (lc_blob_find(w->pc, &blob))
			set_word(word, lc_blob_original_pc_at(&blob, w->pc, w->sp));
		return;
	}
	word = set_word(word, w->rbp_at);
	if (f->kind == INTERPRETED) {
		word = set_word(word, w->rbp + (uint64_t)(LC_INTERPRETED_METHOD * 8));
		word = set_word(word, w->rbp + (uint64_t)(LC_INTERPRETED_BYTECODE * 8));
		set_word(word, w->rbp + (uint64_t)(LC_INTERPRETED_SENDER_SP * 8));
		return;
	}
	(void)lc_frames_entry_frame(w->rbp, w->frame, w->end, &e);
	word = set_word(word, e.wrapper_at);
	word = set_word(word, e.sp_at);
	word = set_word(word, e.pc_at);
	set_word(word, e.rbp_at);
}

/* Where the JVM called Java code: to where the thread was in Java code before, if it was. */
static bool leave_entry(struct walk *w)
{
	struct lc_entry_frame e;

	(void)lc_frames_entry_frame(w->rbp, w->frame, w->end, &e);
	w->complete = !lc_load64(e.sp_at);
	if (w->complete)
		return true;
	if (!may_pass(w, LC_FRAME_BEYOND))
		return false;
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

/* Go to the frame's caller. Returns false where there is none that can be told. */
static inline bool leave(struct walk *w, const struct found *f)
{
	w->frames++;
	w->words += words_of(f);
	w->from_jvm = f->kind == ENTRY;
	if (f->kind == ENTRY)
		return leave_entry(w);
	if (f->kind == INTERPRETED) {
		w->pc_at = w->rbp + 8;
		w->pc = lc_load64(w->pc_at);
		w->sp = lc_load64(w->rbp + (uint64_t)(LC_INTERPRETED_SENDER_SP * 8));
		w->rbp_at = w->rbp;
		w->rbp = lc_load64(w->rbp);
		return true;
	}
	w->pc_at = w->sp + (uint64_t)f->frame_words * 8 - 8;
	w->pc = lc_load64(w->pc_at);
	w->rbp_at = w->pc_at - 8;
	w->rbp = lc_load64(w->rbp_at);
	w->sp = w->pc_at + 8;
	return true;
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
static inline uint32_t joins(const struct lc_shadow *s, const struct walk *w, uint32_t *len)
{
	const struct lc_shadow_frame *f;

	while (*len && s->last.frames[*len - 1].pc_at < w->pc_at)
		--*len;
	f = *len ? &s->last.frames[*len - 1] : NULL;
	return f && f->pc_at == w->pc_at && f->sp == w->sp && (is_compiled(f) || f->rbp == w->rbp)
	           ? *len
	           : 0;
}

/*
 * Look at the frames from *w on, until one is known. Returns whether the walk came to its end;
 * *known: how many frames of the last walk stay. at_new: the first one is not among them.
 */
static inline bool look_on(struct lc_shadow *s, struct walk *w, bool at_new, uint32_t *known)
{
	uint32_t len = still_there(s, w->frame);

	*known = 0;
	while (!w->complete) {
		struct found f = { 0 };

		if (w->frames || !at_new)
			*known = joins(s, w, &len);
		if (*known)
			return true;
		if ((w->frames == s->frames_cap && !grow(s)) || !look(w, &f))
			return false;
		s->found[w->frames] = f;
		if (!leave(w, &f))
			return false;
	}
	return true;
}

/* The `frames` new ones from `w` on, innermost first, become the last walk's behind `known`. */
static inline void set_frames(struct lc_shadow *s, struct walk w, uint32_t known, uint32_t frames,
                              uint32_t words)
{
	uint32_t end = (known ? s->last.frames[known - 1].words_end : 0) + words;

	for (uint32_t i = 0; i < frames; i++) {
		const struct found *found = &s->found[i];
		struct lc_shadow_frame *f = &s->last.frames[known + frames - 1 - i];

		f->code = found->code;
		f->pc_at = w.pc_at;
		f->sp = w.sp;
		f->rbp = w.rbp;
		f->words_end = end;
		end -= words_of(found);
		set_words(&w, found, s->last.words + end);
		(void)leave(&w, found);
	}
}

/* The nodes of the frames behind `known`. Returns that of the innermost; 0 without memory. */
static inline uint32_t set_nodes(struct lc_shadow *s, uint32_t known, uint32_t len)
{
	struct lc_call_node *n = lc_call_node(&s->tree, known ? s->last.frames[known - 1].node : 0);

	for (uint32_t i = known; i < len; i++) {
		struct lc_shadow_frame *f = &s->last.frames[i];

		if (f->code)
			n = lc_callee(&s->tree, n, f->code);
		if (!n)
			return 0;
		f->node = n->number;
	}
	return n->number;
}

/* What a walk that proves hands to the function that may fault. */
struct looking {
	struct lc_shadow *s;
	struct walk *w;
	bool at_new, whole;
	uint32_t *known;
};

static void look_guarded(void *arg)
{
	struct looking *l = arg;

	l->whole = look_on(l->s, l->w, l->at_new, l->known);
}

/* A walk that may be misled anywhere. */
static __attribute__((noinline)) bool look_on_to_prove(struct lc_shadow *s, struct walk *w,
                                                       bool at_new, uint32_t *known)
{
	struct looking l = { .s = s, .w = w, .at_new = at_new, .known = known };

	if (lc_guard_prove(look_guarded, &l))
		return l.whole;
	lc_walk_proof_fault(s->passing.proof);
	*known = 0;
	return false;
}

/* Walk from *start on. Returns the innermost frame's node; 0 where a frame cannot be told. */
static uint32_t walk_from(struct lc_shadow *s, const struct walk *start, bool at_new)
{
	/* Code was freed: what a return address means is looked up anew. */
	const uint32_t now =
	    atomic_load_explicit(s->last.generation_now, memory_order_relaxed); /* a hint */
	uint32_t known, node = 0, len;
	struct walk w = *start;
	bool whole;

	if (s->last.generation != now) {
		s->last.frames_len = 0;
		s->last.generation = now;
	}
	whole = s->passing.proves ? look_on_to_prove(s, &w, at_new, &known)
	                          : look_on(s, &w, at_new, &known);
	len = known + w.frames;
	while (whole && len > s->frames_cap)
		whole = grow(s);
	s->tree.folded = false;
	if (whole) {
		set_frames(s, *start, known, w.frames, w.words);
		node = set_nodes(s, known, len);
	}
	s->last.frames_len = node ? len : 0;
	s->beyond = whole && !node && s->tree.full ? len : 0;
	s->tree.beyond += s->beyond != 0;
	return node;
}

/* -- proof ---------------------------------------------------------------------------------- */

enum { PROOF_FRAMES = 48 };

/* Does the walk's frame agree with the JVM's frames from frames[at] on? Returns behind them. */
static jint compare(const struct lc_shadow_frame *f, const jvmtiFrameInfo *frames, jint at,
                    jint len)
{
	for (uint32_t i = 0; f->code && i < f->code->len && at < len; i++, at++)
		if (!lc_version_same(f->code->frames[i], frames[at].method,
		                     (int)frames[at].location))
			return -1;
	return at;
}

/* Does the JVM walk to the same frames, `skip` of its own left out? */
static bool jvm_agrees(const struct lc_shadow *s, jint skip)
{
	jvmtiFrameInfo frames[PROOF_FRAMES];
	uint32_t left = s->last.frames_len;
	jint len = 0, at = skip;

	if ((*lc_jvmti())->GetStackTrace(lc_jvmti(), NULL, 0, PROOF_FRAMES, frames, &len))
		return false;
	while (left && at >= 0 && at < len)
		at = compare(&s->last.frames[--left], frames, at, len);
	/* Of entry frames the JVM tells nothing. */
	while (left && !s->last.frames[left - 1].code)
		left--;
	return at == len && (!left || len == PROOF_FRAMES);
}

/*
 * The walk has come to frames of a kind that is not proved yet: walk again, past them, and compare
 * with the JVM's walk. Returns the node, or 0.
 */
static __attribute__((noinline)) uint32_t prove(struct lc_shadow *s, const struct walk *start,
                                                bool at_new, jint skip)
{
	struct passing *p = &s->passing;
	uint32_t node;
	bool agrees;

	p->proves = true;
	p->kinds = 0;
	s->last.frames_len = 0;
	node = walk_from(s, start, at_new);
	p->proves = false;
	if (!node)
		return 0;
	agrees = jvm_agrees(s, skip);
	lc_walk_proof_take(p->proof, p->kinds, agrees);
	if (agrees)
		return node;
	s->last.frames_len = 0;
	return 0;
}

/* Walk from *start on, where the JVM's own walk has `skip` frames before. */
static uint32_t walk_proved(struct lc_shadow *s, struct walk *start, bool at_new, jint skip)
{
	uint32_t node;

	start->passing = &s->passing;
	s->passing.unproved = false;
	node = walk_from(s, start, at_new);
	return node || !s->passing.unproved ? node : prove(s, start, at_new, skip);
}

uint32_t lc_shadow_walk(struct lc_shadow *s, const struct lc_native_frame *at, uint64_t stack_end)
{
	struct walk w = { .frame = at->frame, .end = stack_end };

	s->beyond = 0;
	if (!make_ready(s) || !is_word(&w, at->native) || !is_word(&w, at->native + 8))
		return 0;
	w.pc_at = at->native + 8;
	w.pc = lc_load64(w.pc_at);
	w.sp = lc_frames_interpreted(at->into)
	           ? lc_load64(at->native + (uint64_t)(LC_INTERPRETED_SENDER_SP * 8))
	           : at->native + 16;
	w.rbp_at = at->native;
	w.rbp = lc_load64(at->native);
	return walk_proved(s, &w, false, 1);
}

/* Go to the caller of the stub through which compiled code has called the JVM. */
static bool leave_stub(struct walk *w, const struct lc_blob *stub)
{
	const uint64_t at = w->sp + (uint64_t)stub->frame_words * 8 - 8;

	if (stub->frame_words < 2 || !is_word(w, at))
		return false;
	w->rbp_at = at - 8;
	w->rbp = lc_load64(at - 8);
	w->pc_at = at;
	w->pc = lc_load64(at);
	w->sp = at + 8;
	w->from_jvm = false;
	return true;
}

uint32_t lc_shadow_walk_last(struct lc_shadow *s, const struct lc_last_java *at, uint64_t frame,
                             uint64_t stack_end)
{
	/* Not all of where a thread left Java code stands on its stack: `rbp_at` is any word. */
	struct walk w = { .frame = frame,
		          .end = stack_end,
		          .pc = at->pc,
		          .pc_at = at->sp - 8,
		          .sp = at->sp,
		          .rbp = at->rbp,
		          .rbp_at = at->sp,
		          .from_jvm = true };
	struct lc_blob blob;
	uint32_t node;

	if (!make_ready(s) || !is_word(&w, w.pc_at) || !is_word(&w, at->sp))
		return 0;
	if (!lc_frames_interpreted(w.pc) && lc_blob_find(w.pc, &blob) && blob.kind == LC_BLOB_OTHER)
		return leave_stub(&w, &blob) ? walk_proved(s, &w, false, 0) : 0;
	if (lc_frames_entry(w.pc))
		return 0;
	node = walk_proved(s, &w, true, 0);
	/* No word tells whether the innermost frame is still the same. */
	if (node)
		s->last.frames_len--;
	return node;
}

uint64_t *lc_shadow_note(struct lc_shadow *s, uint32_t node, uint64_t key)
{
	uint64_t *note = lc_call_note(&s->tree, node, key);

	/* The path is to be noted once more, so that it is known where it was folded. */
	if (note && s->tree.folded)
		*note = 0;
	s->tree.folded = false;
	return note;
}

uint32_t lc_shadow_beyond(const struct lc_shadow *s, const struct lc_shadow_frame **frames)
{
	*frames = s->last.frames;
	return s->beyond;
}

const struct lc_shadow_last *lc_shadow_last(const struct lc_shadow *s)
{
	return &s->last;
}

void lc_shadow_remember(struct lc_shadow *s, uint64_t frame, uint64_t key, uint64_t note)
{
	const uint32_t slot = lc_shadow_slot(frame);
	struct lc_shadow_place *p = &s->last.places[slot];
	uint32_t far = s->last.frames_len, from;

	/* In recursion the thread is hardly twice in a place; then it is not worth its stores. */
	if (!far || s->seen[slot] != s->last.frames[far - 1].node) {
		s->seen[slot] = far ? s->last.frames[far - 1].node : 0;
		return;
	}
	p->frame = 0;
	/* The words of the nearest frames that fit in; one frame at least is beyond. */
	while (far > 1 && s->last.frames[s->last.frames_len - 1].words_end -
	                          s->last.frames[far - 2].words_end <=
	                      LC_SHADOW_NEAR_WORDS)
		far--;
	from = s->last.frames[far - 1].words_end;
	p->words_len = s->last.frames[s->last.frames_len - 1].words_end - from;
	memcpy(p->words, s->last.words + from, p->words_len * sizeof(p->words[0]));
	p->key = key;
	p->note = note;
	p->generation = s->last.generation;
	p->far_at = s->last.frames[far - 1].pc_at;
	p->far_node = s->last.frames[far - 1].node;
	p->far_frame = far;
	p->far_words = from;
	p->frame = frame;
}

size_t lc_shadow_frames(const struct lc_shadow *s, uint32_t node, uint64_t *frames, size_t max)
{
	return lc_call_frames(&s->tree, node, frames, max);
}
