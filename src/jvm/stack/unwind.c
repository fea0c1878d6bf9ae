/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/stack/unwind.c - unwinds from code without a Java frame of its own: stubs, adapters, the
 * interpreter between two frames, and native code that Java code called.
 *
 * Each word that is used as a return address is a valid one: it points after a call in compiled
 * code, into the interpreter, or into the stub through which the JVM calls Java code. But a stack
 * also holds dead words that look the same. So a word needs further proof: the call goes into the
 * stub that is being left, or the caller's frame ends in a return address, too.
 */
#include "src/jvm/stack/unwind.h"

#include <stddef.h>

#include "src/core/record.h"
#include "src/core/version.h"
#include "src/jvm/code/code_cache.h"
#include "src/jvm/stack/cfi.h"
#include "src/jvm/stack/frame_step.h"
#include "src/jvm/stack/frames.h"
#include "src/jvm/stack/unwind_impl.h"

enum {
	INTERPRETED_WORDS_MAX = 16, /* of a frame that is not whole yet, below rbp */
	STUB_FRAMES_MAX = 4,
	NATIVE_FRAMES_MAX = 64,
	STUB_WORDS_MAX = 160,      /* a stub that saves all registers, vectors too */
	ARGUMENT_BYTES_MAX = 2048, /* by which an adapter moves the stack pointer */
	CALL_BYTES_MAX = 13,       /* with the target's way into a register */
	POPPED_BYTES_MAX = 64,     /* of the exception stub, behind its frame's end */
	RETURN = 0xc3,             /* instructions, or their first bytes */
	JUMP = 0xff,
	POP_RBP = 0x5d,
	POP_RDX = 0x5a,
};

/* -- return addresses ----------------------------------------------------------------------- */

/* Does a call end at `pc`, in code that has at least CALL_BYTES_MAX bytes before it? */
static bool follows_call(uint64_t pc)
{
	const uint8_t *at = lc_unwind_bytes(pc);

	return at[-5] == 0xe8 ||                              /* call rel32 */
	       (at[-2] == 0xff && (at[-1] & 0xf8) == 0xd0) || /* call register */
	       (at[-3] == 0xff && (at[-2] & 0xf8) == 0x50) || /* call [register + 8 bits] */
	       (at[-6] == 0xff && (at[-5] & 0xf8) == 0x90);   /* call [register + 32 bits] */
}

bool lc_unwind_returns_to_java(uint64_t pc)
{
	struct lc_blob blob;

	if (lc_frames_interpreted(pc) || lc_frames_entry(pc))
		return true;
	return lc_blob_find(pc, &blob) && blob.kind == LC_BLOB_METHOD &&
	       pc - blob.code > CALL_BYTES_MAX && (follows_call(pc) || lc_blob_is_deopt(&blob, pc));
}

/*
 * The JVM looks up a compiled frame at the end of the call, so its address is one less.
 */
bool lc_unwind_go_on(struct lc_leaving *l, const struct lc_unwind_at *at)
{
	struct lc_blob blob;
	uint64_t pc = at->pc, sp = at->sp;

	if (sp < l->sp || sp >= l->end || (sp & 7) || !lc_unwind_returns_to_java(pc))
		return false;
	if (!lc_frames_interpreted(pc) && !lc_frames_entry(pc) && lc_blob_find(pc, &blob)) {
		sp += lc_unwind_words_popped(pc) * 8;
		if (blob.frame_words < 2 ||
		    !lc_unwind_is_word(l, sp + (uint64_t)blob.frame_words * 8 - 8))
			return false;
		pc = lc_blob_original_pc(&blob, pc, sp) - 1;
	}
	l->out->pc = pc;
	l->out->sp = sp;
	l->out->fp = at->fp;
	l->out->resume_pc = at->pc;
	l->out->resume_sp = at->sp;
	return true;
}

/* -- code without a frame ------------------------------------------------------------------- */

/* Does the call before `pc` go into this piece of code? */
static bool calls(uint64_t pc, const struct lc_blob *blob)
{
	const uint8_t *at = lc_unwind_bytes(pc);
	uint64_t target = 0;

	if (at[-5] == 0xe8)
		target = pc + (uint64_t)(int64_t)lc_unwind_signed32(at - 4);
	else if (at[-3] == 0x41 && at[-2] == 0xff && at[-1] == 0xd2 && /* mov r10, target */
	         at[-13] == 0x49 && at[-12] == 0xba)                   /* call r10 */
		target = lc_peek_get64(at - 11);
	return target >= blob->code && target < blob->end;
}

/* The word that should be the return address of a compiled frame; 0 where `pc` is in none. */
static uint64_t next_return(const struct lc_leaving *l, uint64_t pc, uint64_t sp)
{
	struct lc_blob blob;

	if (lc_frames_interpreted(pc) || lc_frames_entry(pc) || !lc_blob_find(pc, &blob) ||
	    blob.kind != LC_BLOB_METHOD || blob.frame_words < 2)
		return 0;
	sp += lc_unwind_words_popped(pc) * 8;
	return lc_unwind_word(l, sp + (uint64_t)blob.frame_words * 8 - 8);
}

/*
 * The nearest word behind a call to just this code. It is dead where the frame that it stands for
 * ends in such a word again: that frame's caller has called a stub since.
 */
static bool find_call(const struct lc_leaving *l, struct lc_unwind_at *at)
{
	for (unsigned i = 0; i < STUB_WORDS_MAX && lc_unwind_is_word(l, l->sp + i * 8); i++) {
		uint64_t next;

		at->pc = lc_peek_load64(l->sp + i * 8);
		at->sp = l->sp + i * 8 + 8;
		if (lc_blob_at(at->pc) <= LC_BLOB_FREE || !lc_unwind_returns_to_java(at->pc))
			continue;
		next = next_return(l, at->pc, at->sp);
		if (next && calls(at->pc, &l->blob) &&
		    !(next_return(l, next, at->sp) && calls(next, &l->blob)))
			return true;
	}
	return false;
}

/* May `sp` be a caller's stack pointer? A compiled caller's frame must prove it. */
static bool fits(const struct lc_leaving *l, uint64_t pc, uint64_t sp)
{
	if (sp <= l->sp || sp >= l->end || (sp & 7))
		return false;
	return lc_frames_interpreted(pc) || lc_frames_entry(pc) ||
	       lc_unwind_returns_to_java(next_return(l, pc, sp));
}

/*
 * Go on at `pc`, which something between two frames returns to: the stack pointer is `sp`, or what
 * adapters and the interpreter keep in r13.
 */
static bool go_on_between(struct lc_leaving *l, uint64_t pc, uint64_t sp, uint64_t fp)
{
	struct lc_unwind_at at = { pc, sp, fp };

	if (!lc_unwind_returns_to_java(pc))
		return false;
	if (!fits(l, pc, sp)) {
		at.sp = l->r13;
		if (at.sp > l->sp + ARGUMENT_BYTES_MAX || !fits(l, pc, at.sp))
			return false;
	}
	return lc_unwind_go_on(l, &at);
}

/*
 * Methods that the interpreter knows by heart, such as Math.sin, have no frame there: above where a
 * call returns to it is where they return to, maybe behind a word that aligns the stack.
 */
static bool go_on_frameless(struct lc_leaving *l, const struct lc_unwind_at *at)
{
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t above = lc_unwind_word(l, at->sp + i * 8);

		if (!lc_frames_entry(above) && go_on_between(l, above, at->sp + i * 8 + 8, at->fp))
			return true;
	}
	return false;
}

/* Go on where a call returns to the interpreter. */
static bool go_on_interpreted(struct lc_leaving *l, const struct lc_unwind_at *at)
{
	return go_on_frameless(l, at) || lc_unwind_go_on(l, at);
}

/* Go on by rbp, or by the one that was pushed just now. */
static bool go_on_by_base(struct lc_leaving *l)
{
	const bool pushed = lc_unwind_word(l, l->sp) == l->fp;
	const uint64_t base = pushed ? l->sp : l->fp;
	const struct lc_unwind_at at = { lc_unwind_word(l, base + 8), base + 16,
		                         lc_unwind_word(l, base) };
	bool callers = false; /* may that be the base of a caller's frame? */

	if (base < l->sp || base - l->sp >= STUB_WORDS_MAX * 8)
		return false;
	for (uint64_t w = l->sp; w < base; w += 8)
		callers |= lc_unwind_returns_to_java(lc_unwind_word(l, w));
	if (lc_frames_interpreted(at.pc))
		return callers ? go_on_frameless(l, &at) : go_on_interpreted(l, &at);
	return !callers && go_on_between(l, at.pc, at.sp, at.fp);
}

/* Is that `pop [rsp]`, with which C2's stub for an exception moves a word that it has pushed? */
static bool pops_to_top(uint64_t pc)
{
	static const uint8_t pop[] = { 0x8f, 0x04, 0x24 };
	const uint8_t *at = lc_unwind_bytes(pc);

	return !memcmp(at + (*at == 0x48), pop, sizeof(pop));
}

/*
 * Has the code taken its frame down, rdx last: add rsp, bytes; maybe pop rbp; pop rdx? The rest
 * only moves registers, and jumps.
 */
static bool popped_rdx(const struct lc_leaving *l)
{
	for (uint64_t pc = l->pc; pc >= l->blob.code + 8 && l->pc - pc < POPPED_BYTES_MAX; pc--) {
		const uint8_t *at = lc_unwind_bytes(pc);

		if (pc < l->pc && *at == JUMP)
			return false;
		at -= at[-2] == POP_RBP;
		if (lc_unwind_bytes(pc)[-1] == POP_RDX && at[-5] == 0x48 && at[-4] == 0x83 &&
		    at[-3] == 0xc4)
			return true;
	}
	return false;
}

/*
 * Is the code about to pop rdx, and before that rbp maybe, its frame being gone but for these
 * words? Fills *at: what rdx will be, and where the method's frame begins.
 */
static bool pops_rdx(const struct lc_leaving *l, struct lc_unwind_at *at)
{
	const uint8_t *pc = lc_unwind_bytes(l->pc);
	const bool rbp = *pc == POP_RBP;
	const uint64_t rdx_at = l->sp + rbp * 8;

	if (l->pc < l->blob.code + 8 || pc[rbp] != POP_RDX)
		return false;
	pc -= !rbp && pc[-1] == POP_RBP;
	*at = (struct lc_unwind_at){ lc_unwind_word(l, rdx_at), rdx_at + 8,
		                     rbp ? lc_unwind_word(l, l->sp) : l->fp };
	return pc[-4] == 0x48 && pc[-3] == 0x83 && pc[-2] == 0xc4; /* add rsp, bytes */
}

/*
 * C1's stubs for an exception go to the handler that was found, in the method whose frame is above:
 * one returns there, the other one pops the handler's address into rcx and jumps. Is the thread
 * there? Fills *at.
 */
static bool goes_to_handler(const struct lc_leaving *l, struct lc_unwind_at *at)
{
	static const uint8_t pop_and_jump[] = { 0x59, 0xff, 0xe1 }; /* pop rcx; jmp rcx */
	const uint8_t *pc = lc_unwind_bytes(l->pc);

	*at = (struct lc_unwind_at){ l->rcx, l->sp, l->fp };
	if (l->pc > l->blob.code && !memcmp(pc - 1, pop_and_jump, sizeof(pop_and_jump)))
		return true;
	at->pc = lc_unwind_word(l, l->sp);
	at->sp = l->sp + 8;
	return !memcmp(pc, pop_and_jump, sizeof(pop_and_jump)) ||
	       (*pc == RETURN && !lc_unwind_returns_to_java(at->pc)); /* else a call ends */
}

/* C2's stub for an exception that a method throws, which begins by pushing rdx. */
static bool is_exception_stub(const struct lc_blob *blob)
{
	static const uint8_t begin[] = { 0x52, 0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0x2c, 0x24 };

	return blob->frame_words == 2 && !memcmp(lc_unwind_bytes(blob->code), begin, sizeof(begin));
}

/*
 * An exception on its way. Stubs of C2 have the place that threw, or the return address, in rdx,
 * and the method's frame is whole: at the start of the one that the method jumps to, whose own
 * frame begins by pushing rdx, and where a frame is no more or is about to end by popping rdx.
 */
static bool leave_exception(struct lc_leaving *l)
{
	const bool starts = l->pc == l->blob.code && is_exception_stub(&l->blob);
	struct lc_unwind_at at = { l->rdx, l->sp, l->fp };
	struct lc_blob blob;

	if (starts || (l->blob.frame_words >= 2 && (popped_rdx(l) || pops_rdx(l, &at))))
		return lc_unwind_returns_to_java(next_return(l, at.pc, at.sp)) &&
		       lc_unwind_go_on(l, &at);
	if (!goes_to_handler(l, &at) || !lc_blob_find(at.pc, &blob) ||
	    blob.kind != LC_BLOB_METHOD || !lc_unwind_returns_to_java(next_return(l, at.pc, at.sp)))
		return false;
	l->out->pc = at.pc;
	l->out->sp = at.sp;
	l->out->fp = at.fp;
	return true;
}

/*
 * A stub that compiled code called saves registers; the return address is above them. The
 * interpreter's calls tell no target, and calls of virtual methods change: here rbp tells, or there
 * is no frame. `padded`: the code has called something, and aligned the stack for that.
 */
static bool leave_stub(struct lc_leaving *l, bool padded)
{
	struct lc_unwind_at at = { .fp = l->fp };

	if (pops_to_top(l->pc))
		l->sp += 8; /* two equal words hold the return address: the upper one counts */
	if (leave_exception(l))
		return true;
	if (find_call(l, &at))
		return lc_unwind_go_on(l, &at);
	if (l->blob.frame_words >= 2) { /* code that the JVM jumps to, behind a frame's end */
		const uint64_t end = l->sp + (uint64_t)l->blob.frame_words * 8;

		if (go_on_between(l, lc_unwind_word(l, end - 8), end, lc_unwind_word(l, end - 16)))
			return true;
	}
	if (go_on_by_base(l))
		return true;
	at = (struct lc_unwind_at){ lc_unwind_word(l, l->sp), l->sp + 8, l->fp };
	if (lc_frames_interpreted(at.pc))
		return go_on_interpreted(l, &at);
	return go_on_between(l, at.pc, at.sp, at.fp) ||
	       (padded && go_on_between(l, lc_unwind_word(l, l->sp + 8), l->sp + 16, l->fp));
}

/*
 * Adapters between the interpreter and compiled code move the return address, by way of rax, and
 * the stack pointer, which is in r13 from then on.
 */
static bool leave_adapter(struct lc_leaving *l)
{
	return go_on_between(l, lc_unwind_word(l, l->sp), l->sp + 8, l->fp) ||
	       go_on_between(l, l->rax, l->sp + 8, l->fp);
}

/*
 * The interpreter makes the frame of a method: the return address is at rsp, then in rax, then
 * behind the locals, then behind rbp.
 */
static bool leave_interpreter(struct lc_leaving *l)
{
	const uint64_t top = lc_unwind_word(l, l->sp);

	if (go_on_between(l, top, l->sp + 8, l->fp) ||
	    (top == l->fp && go_on_between(l, lc_unwind_word(l, l->sp + 8), l->sp + 16, l->fp)))
		return true;
	if (l->fp >= l->sp && l->fp - l->sp < INTERPRETED_WORDS_MAX * 8) {
		const uint64_t sender = lc_frame_interpreted_word(l->fp, LC_INTERPRETED_SENDER_SP);
		const uint64_t back = lc_unwind_word(l, l->fp + 8);
		const uint64_t fp = lc_unwind_word(l, l->fp);

		if (go_on_between(l, back, lc_unwind_word(l, sender), fp) ||
		    go_on_between(l, back, l->fp + 16, fp))
			return true;
	}
	return go_on_between(l, l->rax, l->sp + 8, l->fp);
}

/* -- native code ---------------------------------------------------------------------------- */

/* Go on at a call in generated code that returns to l->pc: out of stubs, to Java code. */
static bool leave_stubs(struct lc_leaving *l)
{
	for (unsigned i = 0; i < STUB_FRAMES_MAX; i++) {
		const struct lc_unwind_at at = { l->pc, l->sp, l->fp };

		if (lc_frames_interpreted(l->pc))
			return go_on_interpreted(l, &at);
		if (lc_unwind_returns_to_java(l->pc))
			return lc_unwind_go_on(l, &at);
		if (!lc_blob_find(l->pc, &l->blob) || l->blob.kind != LC_BLOB_OTHER)
			return false;
		if (l->blob.frame_words < 2)
			return leave_stub(l, true);
		l->sp += (uint64_t)l->blob.frame_words * 8;
		l->pc = lc_peek_load64(l->sp - 8);
		l->fp = lc_peek_load64(l->sp - 16);
		if (l->sp >= l->end)
			return false;
	}
	return false;
}

/* To where the native code that was called first returns. */
static bool leave_native(const gregset_t g, struct lc_leaving *l)
{
	static const uint8_t number[LC_CFI_REGISTERS] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
		REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP
	};
	struct lc_cfi_registers r;

	for (unsigned i = 0; i < LC_CFI_REGISTERS; i++)
		r.r[i] = (uint64_t)g[number[i]];
	for (unsigned i = 0; i < NATIVE_FRAMES_MAX; i++) {
		if (!lc_cfi_step(&r, i > 0, l->end))
			return false;
		if (!lc_code_cache_in_cache(r.r[LC_CFI_PC]))
			continue;
		l->pc = r.r[LC_CFI_PC];
		l->sp = r.r[LC_CFI_RSP];
		l->fp = r.r[LC_CFI_RBP];
		l->r13 = r.r[LC_CFI_R13];
		return true;
	}
	return false;
}

static struct lc_leaving leaving(const gregset_t g, uint64_t stack_end, struct lc_unwound *out)
{
	*out = (struct lc_unwound){ 0 };
	return (struct lc_leaving){ .pc = (uint64_t)g[REG_RIP],
		                    .sp = (uint64_t)g[REG_RSP],
		                    .fp = (uint64_t)g[REG_RBP],
		                    .rax = (uint64_t)g[REG_RAX],
		                    .rcx = (uint64_t)g[REG_RCX],
		                    .rdx = (uint64_t)g[REG_RDX],
		                    .r13 = (uint64_t)g[REG_R13],
		                    .end = stack_end,
		                    .out = out };
}

enum lc_unwind_kind lc_unwind_native(const gregset_t g, uint64_t stack_end, struct lc_unwound *out)
{
	struct lc_leaving l = leaving(g, stack_end, out);

	return l.sp < stack_end && leave_native(g, &l) && leave_stubs(&l) ? LC_UNWIND_NATIVE
	                                                                  : LC_UNWIND_NONE;
}

/* -- generated code ------------------------------------------------------------------------- */

enum lc_unwind_kind lc_unwind_generated(const gregset_t g, uint64_t stack_end,
                                        struct lc_unwound *out)
{
	struct lc_leaving l = leaving(g, stack_end, out);

	if ((l.sp & 7) || l.sp >= stack_end || !lc_blob_find(l.pc, &l.blob))
		return LC_UNWIND_NONE;
	if (l.blob.kind == LC_BLOB_METHOD) {
		if (!l.blob.whole || l.pc < l.blob.whole)
			return lc_unwind_prologue(&l) ? LC_UNWIND_PROLOGUE : LC_UNWIND_NONE;
		if (lc_unwind_epilogue(&l))
			return LC_UNWIND_EPILOGUE;
		return lc_unwind_pushed(&l) ? LC_UNWIND_PUSHED : LC_UNWIND_NONE;
	}
	if (lc_frames_interpreted(l.pc))
		return leave_interpreter(&l) ? LC_UNWIND_INTERPRETER : LC_UNWIND_NONE;
	if (l.blob.kind == LC_BLOB_ADAPTER)
		return leave_adapter(&l) ? LC_UNWIND_STUB : LC_UNWIND_NONE;
	if (!leave_stub(&l, false))
		return LC_UNWIND_NONE;
	/* The thread goes to a handler, and not to where the exception was thrown. */
	if (is_exception_stub(&l.blob))
		out->resume_pc = 0;
	return LC_UNWIND_STUB;
}

bool lc_unwind_caller(const struct lc_unwound *from, uint64_t stack_end, struct lc_unwound *out)
{
	struct lc_leaving l = { .pc = from->pc, .sp = from->sp, .end = stack_end, .out = out };
	struct lc_unwind_at at;
	uint64_t method;

	if (from->leaf || lc_frames_interpreted(l.pc) || lc_frames_entry(l.pc) ||
	    !lc_blob_find(l.pc, &l.blob) || l.blob.kind != LC_BLOB_METHOD || l.blob.frame_words < 2)
		return false;
	at.sp = l.sp + (uint64_t)l.blob.frame_words * 8;
	at.pc = lc_unwind_word(&l, at.sp - 8);
	at.fp = lc_unwind_word(&l, at.sp - 16);
	method = lc_code_cache_method(l.pc);
	out->leaf = method ? lc_version_frame_of(method, -1) : 0;
	return method && lc_unwind_go_on(&l, &at);
}

bool lc_unwind_stub(const struct lc_unwound *from, uint64_t stack_end, struct lc_unwound *out)
{
	struct lc_leaving l = { .pc = from->pc, .sp = from->sp, .end = stack_end, .out = out };
	struct lc_unwind_at at;

	*out = (struct lc_unwound){ 0 };
	if ((l.sp & 7) || !lc_blob_find(l.pc, &l.blob) || l.blob.kind != LC_BLOB_OTHER ||
	    l.blob.frame_words < 2)
		return false;
	at.sp = l.sp + (uint64_t)l.blob.frame_words * 8;
	at.pc = lc_unwind_word(&l, at.sp - 8);
	at.fp = lc_unwind_word(&l, at.sp - 16);
	return lc_blob_find(at.pc, &l.blob) && l.blob.kind == LC_BLOB_METHOD &&
	       lc_unwind_go_on(&l, &at);
}
