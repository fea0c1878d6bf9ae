/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/stack/stack_walk.c - goes from frame to frame; see stack_walk.h. stack/shadow.c does the same
 * behind allocations, where the first frame is always at a call.
 */
#include "src/jvm/stack/stack_walk.h"

#include <stdatomic.h>
#include <string.h>

#include "src/core/counters.h"
#include "src/core/record.h"
#include "src/jvm/code/blob.h"
#include "src/jvm/code/code_frames.h"
#include "src/jvm/code/scopes.h"
#include "src/jvm/os/peek.h"
#include "src/jvm/stack/frame_step.h"
#include "src/jvm/stack/frames.h"
#include "src/jvm/stack/walk_proof.h"

enum { INTERPRETED_BYTES_MAX = 8 << 10 /* as AsyncGetCallTrace, without max_stack */ };

struct walk {
	struct lc_stack_part stack;
	struct lc_frame_at at;
	uint64_t *frames;
	int depth, len;
	bool from_jvm; /* the JVM called the frame before, or was called by this one */
	bool complete;
	enum lc_stack_refusal refusal;
	struct lc_walk_steps *proves; /* as in struct lc_stack_at */
};

/* Counts, relaxed: nothing hangs on them. */
static _Atomic uint64_t walked, refused[LC_STACK_REFUSALS], compared[LC_STACK_COMPARED];

static bool refuse(struct walk *w, enum lc_stack_refusal why)
{
	w->refusal = why;
	return false;
}

static bool may_pass(struct walk *w, enum lc_frame_kind kind)
{
	const struct lc_walk_proof *proof = lc_walk_proof_signal();

	if (w->proves ? lc_walk_steps_add(w->proves, kind, w->len) && lc_walk_provable(proof, kind)
	              : lc_walk_proved(proof, kind))
		return true;
	return refuse(w, LC_STACK_UNPROVED);
}

/* Add the frames, as many as find room. */
static void add(struct walk *w, const struct lc_code_frames *code)
{
	const int room = w->depth - w->len;
	const int len = (int)code->len < room ? (int)code->len : room;

	memcpy(w->frames + w->len, code->frames, (size_t)len * sizeof(*w->frames));
	w->len += len;
	w->complete = w->len == w->depth;
}

/* Go to the caller of a frame of so many words. */
static bool leave_words(struct walk *w, int words)
{
	if (!lc_frame_fits_compiled(&w->at, &w->stack, words))
		return refuse(w, LC_STACK_BEYOND);
	lc_frame_step_compiled(&w->at, words);
	w->from_jvm = false;
	return true;
}

static bool is_native(const struct lc_code_frames *code)
{
	return code->len == 1 && code->frames[0] >> LC_ADDR_BITS == LC_BCI_NONE;
}

static bool pass_interpreted(struct walk *w)
{
	const uint64_t rbp = w->at.rbp;
	const struct lc_code_frames *code;

	if (!may_pass(w, LC_FRAME_INTERPRETED))
		return false;
	if (!lc_frame_fits_interpreted(&w->at, &w->stack))
		return refuse(w, LC_STACK_BEYOND);
	code = lc_code_frames_interpreted(
	    lc_peek_load64(lc_frame_interpreted_word(rbp, LC_INTERPRETED_METHOD)),
	    lc_peek_load64(lc_frame_interpreted_word(rbp, LC_INTERPRETED_BYTECODE)));
	if (!code)
		return refuse(w, LC_STACK_NO_METHOD);
	add(w, code);
	lc_frame_step_interpreted(&w->at);
	w->from_jvm = false;
	return true;
}

/* A frame that returns to no known place: a stub's, or one whose code was given up while it waits.
 */
static bool pass_unknown(struct walk *w)
{
	const struct lc_code_frames *code;
	struct lc_blob blob;
	uint64_t at;

	if (!lc_blob_find(w->at.pc, &blob))
		return refuse(w, LC_STACK_UNKNOWN);
	if (blob.kind == LC_BLOB_OTHER && w->from_jvm && !lc_blob_unpacks(&blob))
		return leave_words(w, blob.frame_words);
	at = lc_blob_original_pc_at(&blob, w->at.pc, w->at.sp);
	if (!at || !lc_frame_is_word(&w->stack, at))
		return refuse(w, LC_STACK_UNKNOWN);
	if (!may_pass(w, LC_FRAME_DEOPTIMIZED))
		return false;
	code = lc_code_frames_compiled(lc_peek_load64(at));
	if (!code || code->blob != blob.at)
		return refuse(w, LC_STACK_UNKNOWN);
	add(w, code);
	return leave_words(w, blob.frame_words);
}

static bool pass_compiled(struct walk *w)
{
	const struct lc_code_frames *code;

	if (!may_pass(w, LC_FRAME_COMPILED))
		return false;
	code = lc_code_frames_compiled(w->at.pc);
	if (!code)
		return pass_unknown(w);
	/* A native method that nothing has called by way of the JVM: a virtual thread begins. */
	if (is_native(code) && !w->from_jvm)
		return refuse(w, LC_STACK_UNKNOWN);
	add(w, code);
	return leave_words(w, code->frame_words);
}

/* At a call from the JVM to Java code: go to the thread's earlier Java frame, if there is one. */
static bool pass_entry(struct walk *w)
{
	struct lc_entry_frame e;
	enum lc_frame_step step;

	if (!may_pass(w, LC_FRAME_ENTRY))
		return false;
	if (!lc_frames_entry_frame(w->at.rbp, w->stack.low, w->stack.end, &e))
		return refuse(w, LC_STACK_ENTRY);
	step = lc_frame_step_entry(&w->at, &w->stack, &e);
	w->complete = step == LC_FRAME_STEP_END;
	if (w->complete)
		return true;
	if (!may_pass(w, LC_FRAME_BEYOND))
		return false;
	w->from_jvm = true;
	return step == LC_FRAME_STEP_OK || refuse(w, LC_STACK_ENTRY);
}

static bool pass(struct walk *w)
{
	if (w->complete)
		return true;
	return lc_frames_entry(w->at.pc)         ? pass_entry(w)
	       : lc_frames_interpreted(w->at.pc) ? pass_interpreted(w)
	                                         : pass_compiled(w);
}

/*
 * The first frame, of compiled code that runs anywhere in it: the JVM's debug information says
 * where it is at the end of each range of instructions.
 */
static bool pass_running(struct walk *w)
{
	const struct lc_code_frames *code;
	struct lc_blob blob;
	uint64_t near;

	if (!may_pass(w, LC_FRAME_COMPILED))
		return false;
	if (!lc_blob_find(w->at.pc, &blob) || blob.kind != LC_BLOB_METHOD || !blob.whole ||
	    w->at.pc < blob.whole || blob.frame_words < 2)
		return refuse(w, LC_STACK_NOT_WHOLE);
	near = lc_scopes_near(blob.at, w->at.pc + 1);
	code = near ? lc_code_frames_compiled(near) : NULL;
	if (!code || code->blob != blob.at || is_native(code))
		return refuse(w, LC_STACK_NO_SCOPE);
	add(w, code);
	return leave_words(w, blob.frame_words);
}

/*
 * May the interpreter's rbp be that of a frame, by the frame's size? If so, the walk checks its
 * words.
 */
static bool may_be_frame(const struct walk *w)
{
	return !(w->at.rbp & 7) &&
	       lc_frame_interpreted_word(w->at.rbp, LC_INTERPRETED_BYTECODE) >= w->at.sp &&
	       w->at.rbp - w->at.sp <= INTERPRETED_BYTES_MAX;
}

/* The frame at which the thread left Java code. */
static bool pass_anchor(struct walk *w)
{
	if (lc_frames_interpreted(w->at.pc))
		return pass_interpreted(w);
	if (lc_frames_entry(w->at.pc))
		return refuse(w, LC_STACK_NOT_WHOLE);
	if (!may_pass(w, LC_FRAME_COMPILED))
		return false;
	return lc_code_frames_compiled(w->at.pc) ? pass_compiled(w) : pass_running(w);
}

int lc_stack_walk(const struct lc_stack_at *at, uint64_t stack_end,
                  uint64_t *frames, /* NOLINT(readability-non-const-parameter): filled */
                  int depth)
{
	struct walk w = { .stack = { at->sp - 16, stack_end },
		          .at = { .pc = at->pc, .pc_at = at->sp - 8, .sp = at->sp, .rbp = at->rbp },
		          .frames = frames,
		          .depth = depth,
		          .from_jvm = at->anchor,
		          .proves = at->proves };
	bool whole;

	if (depth <= 0 || !lc_code_frames_known() || (at->sp & 7) || at->sp >= stack_end)
		whole = refuse(&w, LC_STACK_BEYOND);
	else if (at->anchor)
		whole = pass_anchor(&w);
	else if (lc_frames_interpreted(w.at.pc))
		whole = at->framed || may_be_frame(&w) ? pass_interpreted(&w)
		                                       : refuse(&w, LC_STACK_INTERPRETED);
	else
		whole = pass_running(&w);
	while (whole && !w.complete)
		whole = pass(&w);
	if (!whole || !w.len) {
		lc_count(&refused[w.refusal]);
		return -1 - (int)w.refusal;
	}
	lc_count(&walked);
	return w.len;
}

/* -- counters ------------------------------------------------------------------------------- */

void lc_stack_walk_compared(enum lc_stack_compared how)
{
	lc_count(&compared[how]);
}

static const struct lc_counter counters[] = {
	LC_COUNTER("engine_walk_own", &walked),
	LC_COUNTER("engine_walk_asked_interpreter", &refused[LC_STACK_INTERPRETED]),
	LC_COUNTER("engine_walk_asked_not_whole", &refused[LC_STACK_NOT_WHOLE]),
	LC_COUNTER("engine_walk_asked_no_scope", &refused[LC_STACK_NO_SCOPE]),
	LC_COUNTER("engine_walk_asked_unknown", &refused[LC_STACK_UNKNOWN]),
	LC_COUNTER("engine_walk_asked_no_method", &refused[LC_STACK_NO_METHOD]),
	LC_COUNTER("engine_walk_asked_entry", &refused[LC_STACK_ENTRY]),
	LC_COUNTER("engine_walk_asked_beyond", &refused[LC_STACK_BEYOND]),
	LC_COUNTER("engine_walk_asked_unproved", &refused[LC_STACK_UNPROVED]),
	LC_COUNTER("audit_own_walk_agreed", &compared[LC_STACK_AGREES]),
	LC_COUNTER("audit_own_walk_differs", &compared[LC_STACK_DIFFERS]),
	LC_COUNTER("audit_own_walk_alone", &compared[LC_STACK_ALONE]),
};
LC_COUNTER_TABLE(LC_COUNTER_ROWS(counters));
_Static_assert(LC_STACK_REFUSALS == 8, "each refusal has a row");
