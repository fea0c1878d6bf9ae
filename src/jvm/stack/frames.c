/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/stack/frames.c - walks from frame to frame by what the JVM knows of each piece of code.
 *
 * A blob is not freed while a frame of it is on this stack.
 */
#include "src/jvm/stack/frames.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>

#include "src/base/hash.h"
#include "src/jvm/code/blob.h"
#include "src/jvm/code/code_frames.h"
#include "src/jvm/layout/vmstructs.h"
#include "src/jvm/os/guard.h"
#include "src/jvm/os/peek.h"
#include "src/jvm/stack/frame_step.h"

enum {
	ENTRY_WRAPPER = -6, /* words from rbp of the stub through which the JVM calls Java code */
	KEY_WORDS_MAX = 512,
};

static struct {
	uint64_t interpreter_low, interpreter_high;
	uint64_t entry_pc; /* where Java code returns to that the JVM called; 0: not known */
	long last_sp, last_pc, last_rbp; /* in a JavaCallWrapper */
} frames;

static void find_entry(void)
{
	const void *pc = lc_vm_static("StubRoutines", "_call_stub_return_address");
	const long anchor = lc_vm_offset("JavaCallWrapper", "_anchor");

	frames.last_sp = lc_vm_offset("JavaFrameAnchor", "_last_Java_sp");
	frames.last_pc = lc_vm_offset("JavaFrameAnchor", "_last_Java_pc");
	frames.last_rbp = lc_vm_offset("JavaFrameAnchor", "_last_Java_fp");
	if (!pc || anchor < 0 || frames.last_sp < 0 || frames.last_pc < 0 || frames.last_rbp < 0)
		return;
	frames.last_sp += anchor;
	frames.last_pc += anchor;
	frames.last_rbp += anchor;
	frames.entry_pc = lc_peek_load64((uint64_t)(uintptr_t)pc);
}

/* The argument of the function that may fault. */
struct init {
	uint64_t low, high; /* of the interpreter */
	int err;
};

/* The interpreter is one blob, whose place the JVM has announced. */
static bool is_interpreter(const struct init *i, uint64_t pc)
{
	struct lc_blob blob;

	return lc_blob_find(pc, &blob) && blob.kind == LC_BLOB_OTHER && blob.code <= i->low &&
	       blob.end >= i->high && blob.end - i->high <= i->high - i->low;
}

static void find_and_prove(void *arg)
{
	struct init *i = arg;

	i->err = lc_blob_init();
	if (i->err)
		return;
	if (i->low >= i->high || !is_interpreter(i, i->low) || !is_interpreter(i, i->high - 1)) {
		i->err = -ENOENT;
		return;
	}
	find_entry();
	if (frames.entry_pc && lc_blob_at(frames.entry_pc) <= LC_BLOB_FREE)
		frames.entry_pc = 0;
}

int lc_frames_init(uint64_t interpreter_low, uint64_t interpreter_high)
{
	struct init init = { .low = interpreter_low, .high = interpreter_high };

	frames.entry_pc = 0;
	if (!lc_guard_prove(find_and_prove, &init))
		init.err = -ENOENT;
	if (init.err) {
		lc_blob_forget();
		frames.entry_pc = 0;
		return init.err;
	}
	frames.interpreter_low = interpreter_low;
	frames.interpreter_high = interpreter_high;
	return 0;
}

/* Words of a frame of the code at `pc`; 0: none, the JVM's own; -1: not known. */
static int frame_size(uint64_t pc)
{
	const uint64_t blob = lc_blob_at(pc);

	if (blob == LC_BLOB_NONE)
		return 0;
	return blob == LC_BLOB_FREE ? -1 : lc_blob_frame_words(blob);
}

bool lc_frames_interpreted(uint64_t pc)
{
	return pc >= frames.interpreter_low && pc < frames.interpreter_high;
}

bool lc_frames_entry(uint64_t pc)
{
	return pc && pc == frames.entry_pc;
}

static bool is_between(uint64_t address, uint64_t low, uint64_t high)
{
	return address > low && address + 8 <= high && !(address & 7);
}

bool lc_frames_entry_frame(uint64_t rbp, uint64_t low, uint64_t high, struct lc_entry_frame *out)
{
	uint64_t wrapper;

	out->wrapper_at = rbp + (uint64_t)(ENTRY_WRAPPER * 8);
	if (!frames.entry_pc || !is_between(out->wrapper_at, low, high))
		return false;
	wrapper = lc_peek_load64(out->wrapper_at);
	out->sp_at = wrapper + (uint64_t)frames.last_sp;
	out->pc_at = wrapper + (uint64_t)frames.last_pc;
	out->rbp_at = wrapper + (uint64_t)frames.last_rbp;
	return is_between(out->sp_at, low, high) && is_between(out->pc_at, low, high) &&
	       is_between(out->rbp_at, low, high);
}

/* A walk that keeps words of the stack above the hook. */
struct walk {
	struct lc_stack_part stack;
	struct lc_frame_at at;
	uint64_t *value;
	uint16_t *offset;
	unsigned words_max;
	bool java; /* count the Java frames of a compiled frame, else count it once */
	struct lc_frame_words out;
};

static bool add_word(struct walk *w, uint64_t address)
{
	const uint64_t offset = (address - w->stack.low) / 8;

	if (w->out.len == w->words_max || !lc_frame_is_word(&w->stack, address) ||
	    offset > UINT16_MAX)
		return false;
	w->value[w->out.len] = lc_peek_load64(address);
	w->offset[w->out.len++] = (uint16_t)offset;
	return true;
}

/* Go to the caller of the frame that has just begun at `pc`. Returns false where it cannot. */
static bool step_interpreted(struct walk *w)
{
	const uint64_t rbp = w->at.rbp;

	if (!lc_frame_fits_interpreted(&w->at, &w->stack) ||
	    !add_word(w, lc_frame_interpreted_word(rbp, LC_INTERPRETED_METHOD)) ||
	    !add_word(w, lc_frame_interpreted_word(rbp, LC_INTERPRETED_BYTECODE)))
		return false;
	lc_frame_step_interpreted(&w->at);
	return true;
}

static bool step_compiled(struct walk *w, int words)
{
	if (!lc_frame_fits_compiled(&w->at, &w->stack, words) || !add_word(w, w->at.pc_at))
		return false;
	lc_frame_step_compiled(&w->at, words);
	return true;
}

/*
 * The JVM called the frame that has just ended: go to where the thread was in Java code before.
 * Returns false where it cannot, or there is nothing: then that is all.
 */
static bool step_entry(struct walk *w)
{
	const uint64_t pc_at = w->at.pc_at;
	struct lc_entry_frame e;
	enum lc_frame_step step;

	if (w->at.pc != frames.entry_pc ||
	    !lc_frames_entry_frame(w->at.rbp, w->stack.low, w->stack.end, &e))
		return false;
	step = lc_frame_step_entry(&w->at, &w->stack, &e);
	w->out.complete = step == LC_FRAME_STEP_END;
	if (step != LC_FRAME_STEP_OK || !add_word(w, pc_at) || !add_word(w, e.wrapper_at) ||
	    !add_word(w, e.sp_at))
		return false;
	/*
	 * The rbp that is given there matters to an interpreted frame only, which is found by it.
	 */
	return !lc_frames_interpreted(w->at.pc) || add_word(w, e.rbp_at);
}

/* How many frames stand at `pc`: at least one, where the JVM's data do not tell. */
static unsigned frames_at(const struct walk *w, uint64_t pc)
{
	const struct lc_code_frames *code = w->java ? lc_code_frames_compiled(pc) : NULL;

	return code && code->len ? code->len : 1;
}

/* Walk at most `frames_max` frames from where *w is. */
static void walk(struct walk *w, unsigned frames_max)
{
	while (w->out.frames < frames_max) {
		const uint64_t pc = w->at.pc;
		const bool interpreted = lc_frames_interpreted(pc);
		const int words = interpreted ? -1 : frame_size(pc);

		if (!words) {
			if (step_entry(w)) {
				frames_max += frames_max < UINT_MAX; /* one may be the JVM's stub */
				continue;
			}
			w->out.whole = true; /* the end of Java frames */
			return;
		}
		if (interpreted ? !step_interpreted(w) : !step_compiled(w, words))
			return;
		w->out.frames += interpreted ? 1 : frames_at(w, pc);
	}
	w->out.whole = true;
	w->out.complete = true;
}

struct lc_frame_words
lc_frames_words(const struct lc_native_frame *at, uint64_t stack_end, unsigned frames_max,
                unsigned words_max, uint64_t *value, /* NOLINT(readability-non-const-parameter) */
                uint16_t *offset)                    /* NOLINT(readability-non-const-parameter) */
{
	struct walk w = { .stack = { at->frame, stack_end },
		          .value = value,
		          .offset = offset,
		          .words_max = words_max,
		          .java = lc_code_frames_known() };

	if (!lc_blob_known() || !lc_frame_step_native(&w.at, &w.stack, at))
		return w.out;
	walk(&w, frames_max);
	return w.out;
}

bool lc_frames_key(uint64_t pc, uint64_t sp, uint64_t rbp, uint64_t stack_end, unsigned frames_max,
                   uint64_t *key)
{
	uint64_t value[KEY_WORDS_MAX];
	uint16_t offset[KEY_WORDS_MAX];
	struct walk w = { .stack = { sp - 16, stack_end },
		          .value = value,
		          .offset = offset,
		          .words_max = KEY_WORDS_MAX,
		          .at = { .pc = pc, .pc_at = sp - 8, .sp = sp, .rbp = rbp } };
	uint64_t h = pc;

	if (!lc_blob_known() || (sp & 7))
		return false;
	walk(&w, frames_max);
	for (unsigned i = 0; i < w.out.len; i++) {
		if (offset[i] == 1)
			continue; /* where the return address stood: `pc` itself */
		h = lc_hash_add(lc_hash_add(h, offset[i]), value[i]);
	}
	*key = h;
	return w.out.whole;
}
