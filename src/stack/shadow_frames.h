/* SPDX-License-Identifier: Apache-2.0 */
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
#include "src/jvm/stack/frame_step.h"
#include "src/jvm/stack/frames.h"
#include "src/jvm/stack/walk_proof.h"
#include "src/stack/shadow.h"

/* A recognised frame. */
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

struct walk {
	struct lc_stack_part stack; /* above the hook */
	struct lc_frame_at at;
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
	return lc_frame_is_word(&w->stack, address);
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
	const uint64_t rbp = w->at.rbp;

	if (!lc_frame_fits_interpreted(&w->at, &w->stack) || !is_word(w, w->at.pc_at) ||
	    !is_word(w, w->at.rbp_at))
		return false;
	out->kind = INTERPRETED;
	out->code = lc_code_frames_interpreted(
	    lc_peek_load64(lc_frame_interpreted_word(rbp, LC_INTERPRETED_METHOD)),
	    lc_peek_load64(lc_frame_interpreted_word(rbp, LC_INTERPRETED_BYTECODE)));
	return out->code;
}

/* Compiled code calls the JVM through stubs, and the JVM may call Java code then. */
static inline int stub_words(const struct walk *w)
{
	struct lc_blob blob;

	return w->from_jvm && lc_blob_find(w->at.pc, &blob) && blob.kind == LC_BLOB_OTHER
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

	if (lc_blob_find(w->at.pc, &blob))
		at = lc_blob_original_pc_at(&blob, w->at.pc, w->at.sp);
	if (!at || !is_word(w, at) || !is_word(w, w->at.pc_at) ||
	    !may_pass(w, LC_FRAME_DEOPTIMIZED))
		return false;
	out->kind = DEOPTIMIZED;
	out->code = lc_code_frames_compiled(lc_peek_load64(at));
	out->frame_words = blob.frame_words;
	return out->code && out->code->blob == blob.at &&
	       lc_frame_fits_compiled(&w->at, &w->stack, blob.frame_words);
}

static inline bool look_at_compiled(const struct walk *w, struct found *out)
{
	const struct lc_code_frames *code = lc_code_frames_compiled(w->at.pc);
	const int words = code ? code->frame_words : stub_words(w);

	if (words < LC_FRAME_COMPILED_WORDS_MIN)
		return look_at_deoptimized(w, out);

	/* A native method that nothing has called by way of the JVM: a virtual thread begins. */
	if ((code && code->frames[0] >> LC_ADDR_BITS == LC_BCI_NONE && !w->from_jvm))
		return false;
	out->kind = COMPILED;
	out->code = code;
	out->frame_words = words;
	return lc_frame_fits_compiled(&w->at, &w->stack, words) && is_word(w, w->at.pc_at);
}

/* The JVM called Java code: can it be told where the thread was in Java code before? */
static inline bool look_at_entry(const struct walk *w, struct found *out)
{
	struct lc_entry_frame e;

	out->kind = ENTRY;
	out->code = NULL;
	return lc_frames_entry_frame(w->at.rbp, w->stack.low, w->stack.end, &e) &&
	       is_word(w, w->at.pc_at) && is_word(w, w->at.rbp_at);
}

/* What is the frame that `pc` returns to? Returns false where that cannot be told. */
static inline bool look(const struct walk *w, struct found *out)
{
	if (lc_frames_entry(w->at.pc))
		return may_pass(w, LC_FRAME_ENTRY) && look_at_entry(w, out);
	if (lc_frames_interpreted(w->at.pc))
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

	word = set_word(word, w->at.pc_at);
	if (f->kind == COMPILED || f->kind == UNKNOWN)
		return;
	if (f->kind == DEOPTIMIZED) {
		if (lc_blob_find(w->at.pc, &blob))
			set_word(word, lc_blob_original_pc_at(&blob, w->at.pc, w->at.sp));
		return;
	}
	word = set_word(word, w->at.rbp_at);
	if (f->kind == INTERPRETED) {
		word = set_word(word, lc_frame_interpreted_word(w->at.rbp, LC_INTERPRETED_METHOD));
		word =
		    set_word(word, lc_frame_interpreted_word(w->at.rbp, LC_INTERPRETED_BYTECODE));
		set_word(word, lc_frame_interpreted_word(w->at.rbp, LC_INTERPRETED_SENDER_SP));
		return;
	}
	(void)lc_frames_entry_frame(w->at.rbp, w->stack.low, w->stack.end, &e);
	word = set_word(word, e.wrapper_at);
	word = set_word(word, e.sp_at);
	word = set_word(word, e.pc_at);
	set_word(word, e.rbp_at);
}

/* At a call from the JVM to Java code: go to the thread's earlier Java frame, if there is one. */
static inline bool leave_entry(struct walk *w)
{
	struct lc_entry_frame e;
	enum lc_frame_step step;

	(void)lc_frames_entry_frame(w->at.rbp, w->stack.low, w->stack.end, &e);
	step = lc_frame_step_entry(&w->at, &w->stack, &e);
	w->complete = step == LC_FRAME_STEP_END;
	return w->complete || (step == LC_FRAME_STEP_OK && may_pass(w, LC_FRAME_BEYOND));
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
	if (f->kind == INTERPRETED)
		lc_frame_step_interpreted(&w->at);
	else
		lc_frame_step_compiled(&w->at, f->frame_words);
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
