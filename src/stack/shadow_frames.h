/*
 * stack/shadow_frames.h - goes from frame to frame of a stack, for stack/shadow.c alone.
 *
 * All is inlined there: a walk looks at each frame twice, to find what it is and to keep its words.
 * Context of all functions: [hook] [java], own stack.
 */
#ifndef LC_STACK_SHADOW_FRAMES_H
#define LC_STACK_SHADOW_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/core/record.h"
#include "src/jvm/code/blob.h"
#include "src/jvm/code/code_frames.h"
#include "src/jvm/os/peek.h"
#include "src/jvm/stack/frames.h"
#include "src/jvm/stack/walk_proof.h"
#include "src/stack/shadow.h"

/* What a frame is. */
struct found {
	const struct lc_code_frames *code;
	uint32_t kind; /* enum kind */
	int32_t frame_words;
};

/* UNKNOWN: a frame at which a walk ended; its return address tells that it is still the same. */
enum kind { COMPILED, DEOPTIMIZED, INTERPRETED, ENTRY, UNKNOWN };
enum { COMPILED_WORDS = 1, DEOPTIMIZED_WORDS = 2, INTERPRETED_WORDS = 5, ENTRY_WORDS = 6 };

/* Which kinds of frames a walk may pass; see jvm/stack/walk_proof.h. */
struct passing {
	struct lc_walk_proof *proof;
	bool proves;    /* the walk passes what is not proved, too */
	bool unproved;  /* the walk has come to a kind that is neither proved nor refuted */
	uint32_t kinds; /* of those that it has come to */
};

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

static inline bool may_pass_to_prove(struct passing *p, enum lc_frame_kind kind)
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
	word->value = lc_peek_load64(address);
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
	out->code =
	    lc_code_frames_interpreted(lc_peek_load64(method_at), lc_peek_load64(bytecode_at));
	return out->code;
}

/* Compiled code calls the JVM through stubs, and the JVM may call Java code then. */
static inline int stub_words(const struct walk *w)
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
static inline bool look_at_deoptimized(const struct walk *w, struct found *out)
{
	struct lc_blob blob;
	uint64_t at = 0;

	if (lc_blob_find(w->pc, &blob))
		at = lc_blob_original_pc_at(&blob, w->pc, w->sp);
	if (!at || !is_word(w, at) || !is_word(w, w->pc_at) || !may_pass(w, LC_FRAME_DEOPTIMIZED))
		return false;
	out->kind = DEOPTIMIZED;
	out->code = lc_code_frames_compiled(lc_peek_load64(at));
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
static inline bool look_at_entry(const struct walk *w, struct found *out)
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

static inline unsigned words_of(const struct found *f)
{
	return f->kind == COMPILED || f->kind == UNKNOWN ? COMPILED_WORDS
	       : f->kind == DEOPTIMIZED                  ? DEOPTIMIZED_WORDS
	       : f->kind == INTERPRETED                  ? INTERPRETED_WORDS
	                                                 : ENTRY_WORDS;
}

/* Write the words of the frame that `pc` returns to. */
static inline void set_words(const struct walk *w, const struct found *f,
                             struct lc_shadow_word *word)
{
	struct lc_entry_frame e;
	struct lc_blob blob;

	word = set_word(word, w->pc_at);
	if (f->kind == COMPILED || f->kind == UNKNOWN)
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
static inline bool leave_entry(struct walk *w)
{
	struct lc_entry_frame e;

	(void)lc_frames_entry_frame(w->rbp, w->frame, w->end, &e);
	w->complete = !lc_peek_load64(e.sp_at);
	if (w->complete)
		return true;
	if (!may_pass(w, LC_FRAME_BEYOND))
		return false;
	w->sp = lc_peek_load64(e.sp_at);
	w->pc = lc_peek_load64(e.pc_at);
	w->pc_at = w->pc ? e.pc_at : w->sp - 8;
	w->rbp_at = e.rbp_at;
	if (w->sp <= w->rbp || !is_word(w, w->pc_at))
		return false;
	w->pc = lc_peek_load64(w->pc_at);
	w->rbp = lc_peek_load64(e.rbp_at);
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
	if (f->kind == UNKNOWN)
		return false;
	if (f->kind == INTERPRETED) {
		w->pc_at = w->rbp + 8;
		w->pc = lc_peek_load64(w->pc_at);
		w->sp = lc_peek_load64(w->rbp + (uint64_t)(LC_INTERPRETED_SENDER_SP * 8));
		w->rbp_at = w->rbp;
		w->rbp = lc_peek_load64(w->rbp);
		return true;
	}
	w->pc_at = w->sp + (uint64_t)f->frame_words * 8 - 8;
	w->pc = lc_peek_load64(w->pc_at);
	w->rbp_at = w->pc_at - 8;
	w->rbp = lc_peek_load64(w->rbp_at);
	w->sp = w->pc_at + 8;
	return true;
}

/* Is there a Java frame among `len` that a walk has found? */
static inline bool has_java(const struct found *found, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		if (found[i].code)
			return true;
	return false;
}

enum { BLOCK = 8 };

static inline uint64_t block_differs(const struct lc_shadow_word *w)
{
#define DIFFERS(i) (lc_peek_load64(w[i].at) ^ w[i].value)
	return DIFFERS(0) | DIFFERS(1) | DIFFERS(2) | DIFFERS(3) | DIFFERS(4) | DIFFERS(5) |
	       DIFFERS(6) | DIFFERS(7);
#undef DIFFERS
}

#endif
