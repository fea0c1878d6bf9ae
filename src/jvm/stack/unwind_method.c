/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm/stack/unwind_method.c - leaves compiled code where its frame is not whole, by the
 * instructions that stand there.
 *
 * Compiled code begins and ends in few ways: it pushes rbp and subtracts the rest of the frame from
 * rsp, and adds that, pops rbp, compares rsp with the thread's poll and returns. Whatever is none
 * of the ways is left to AsyncGetCallTrace.
 */
#include <stddef.h>

#include "src/core/record.h"
#include "src/core/version.h"
#include "src/jvm/code/code_cache.h"
#include "src/jvm/stack/unwind_impl.h"

enum { PROLOGUE_BYTES_MAX = 512, PUSHED_WORDS_MAX = 8 };

/* -- instructions --------------------------------------------------------------------------- */

/* Bytes of the comparison of rsp with the thread's poll: cmp rsp, [r15 + offset]. */
static unsigned poll_bytes(const uint8_t *at)
{
	if (at[0] != 0x49 || at[1] != 0x3b)
		return 0;
	return at[2] == 0xa7 ? 7 : at[2] == 0x67 ? 4 : 0;
}

static bool is_return(const uint8_t *at)
{
	return *at == 0xc3 || *at == 0xc2;
}

/* Bytes of `push register`, or of `pop register` where `first` is 0x58 instead of 0x50; or 0. */
static unsigned push_bytes(const uint8_t *at, uint8_t first)
{
	if ((at[0] & 0xf8) == first)
		return 1;
	return at[0] == 0x41 && (at[1] & 0xf8) == first ? 2 : 0;
}

/* The rbp that the epilogue pops is part of the frame. */
unsigned lc_unwind_words_popped(uint64_t pc)
{
	const uint8_t *at = lc_unwind_bytes(pc);
	unsigned n = 0, bytes;

	while (n < PUSHED_WORDS_MAX && (bytes = push_bytes(at, 0x58))) {
		if (*at == 0x5d && (poll_bytes(at + 1) || is_return(at + 1)))
			break;
		at += bytes;
		n++;
	}
	return n;
}

/* Words of arguments on the stack at `pc`: being pushed for a call, or being popped behind it. */
static unsigned words_pushed(uint64_t pc)
{
	const uint8_t *at = lc_unwind_bytes(pc);
	unsigned left = 0, bytes, all;

	while (left < PUSHED_WORDS_MAX && (bytes = push_bytes(at, 0x50))) {
		at += bytes;
		left++;
	}
	if (*at != 0xe8) /* call */
		return left ? 0 : lc_unwind_words_popped(pc);
	all = lc_unwind_words_popped((uint64_t)(uintptr_t)at + 5);
	return all > left ? all - left : 0;
}

/* -- compiled code -------------------------------------------------------------------------- */

/* Addresses in the method's prologue that push rbp, and lower rsp; 0: none. */
struct prologue {
	uint64_t push, lower;
};

/* Is that `sub rsp, bytes`? */
static bool lowers(const uint8_t *at, int bytes)
{
	return at[0] == 0x48 && at[2] == 0xec &&
	       ((at[1] == 0x83 && (int8_t)at[3] == bytes) ||
	        (at[1] == 0x81 && lc_unwind_signed32(at + 3) == bytes));
}

static struct prologue find_prologue(const struct lc_blob *blob)
{
	const int bytes = blob->frame_words * 8;
	struct prologue p = { 0, 0 };

	for (uint64_t pc = blob->code; pc < blob->whole; pc++) {
		const uint8_t *at = lc_unwind_bytes(pc);

		if (lowers(at, bytes - 8)) { /* it stores rbp instead of pushing it */
			p.lower = pc;
			break;
		}
		if (at[0] != 0x55)
			continue;
		p.push = pc;
		if (lowers(at + 1, bytes - 16)) {
			p.lower = pc + 1;
			break;
		}
		if (at[1] == 0x48 &&
		    ((at[2] == 0x8b && at[3] == 0xec) || /* mov rbp, rsp */
		     (at[2] == 0x89 && at[3] == 0xe5)) &&
		    lowers(at + 4, bytes - 16)) {
			p.lower = pc + 4;
			break;
		}
	}
	return p;
}

/* A frame of two words is whole once rbp is pushed. */
bool lc_unwind_prologue(struct lc_leaving *l)
{
	const int words = l->blob.frame_words;
	struct lc_unwind_at at = { .fp = l->fp, .sp = l->sp + 8 };
	uint64_t method;

	if (l->pc - l->blob.code >= PROLOGUE_BYTES_MAX)
		return false;
	if (words > 1) {
		const struct prologue p = find_prologue(&l->blob);

		if (!p.push && !p.lower)
			return false;
		if (p.lower && l->pc > p.lower) {
			at.sp = l->sp + (uint64_t)words * 8;
			if (p.push)
				at.fp = lc_unwind_word(l, at.sp - 16);
		} else if (p.push && l->pc > p.push) {
			at.sp = l->sp + 16;
			at.fp = lc_unwind_word(l, l->sp);
		}
	}
	at.pc = lc_unwind_word(l, at.sp - 8);
	if (!lc_unwind_go_on(l, &at))
		return false;
	method = lc_code_cache_method(l->pc);
	if (method)
		l->out->leaf = lc_version_frame_of(method, 0);
	return true;
}

/* Is that a jump out of the code, as to where an exception goes on in the caller? */
static bool jumps_out(const struct lc_blob *blob, const uint8_t *at)
{
	const uint64_t target =
	    (uint64_t)(uintptr_t)at + 5 + (uint64_t)(int64_t)lc_unwind_signed32(at + 1);

	return *at == 0xe9 && (target < blob->code || target >= blob->end);
}

/* Is that `mov [r15 + offset], r10`, behind the poll, where the thread goes to wait? */
static bool notes_poll(const uint8_t *at)
{
	return at[0] == 0x4d && at[1] == 0x89 && at[2] == 0x97 && at[7] == 0xe9;
}

/* Is that `cmp qword [r15 + offset], 0; jne; ret`: is an exception pending? */
static bool looks_for_exception(const uint8_t *at)
{
	return at[0] == 0x49 && at[1] == 0x83 && at[2] == 0x7f && !at[4] && at[5] == 0x0f &&
	       at[6] == 0x85 && is_return(at + 11);
}

/* Is that `je; mov r10, pc`, behind a poll that compares no rsp? */
static bool leaves_poll(const uint8_t *at)
{
	return at[0] == 0x74 && at[2] == 0x49 && at[3] == 0xba && notes_poll(at + 12);
}

/*
 * A native method's code, behind `leave`: a poll, `test byte [r15 + offset], 1`, then the look for
 * an exception, the return, and the jump that an exception takes.
 */
static bool ends_native(const uint8_t *at)
{
	return looks_for_exception(at) ||
	       (at[0] == 0x0f && at[1] == 0x85 && looks_for_exception(at - 5)) ||
	       (at[0] == 0xe9 && looks_for_exception(at - 12)) || leaves_poll(at) ||
	       (at[0] == 0x41 && at[1] == 0xf6 && at[2] == 0x47 && leaves_poll(at + 5));
}

/*
 * Words on the stack, at an instruction of the epilogue, of what the method's frame was; 0: it is
 * none.
 */
static unsigned words_left(const struct lc_blob *blob, const uint8_t *at)
{
	if (*at == 0x5d) /* pop rbp */
		return poll_bytes(at + 1) || is_return(at + 1) || jumps_out(blob, at + 1) ? 2 : 0;
	if (ends_native(at))
		return 1;
	if (jumps_out(blob, at))
		return at[-1] == 0x5d || notes_poll(at - 7);
	if (notes_poll(at) || (at[0] == 0x49 && at[1] == 0xba && notes_poll(at + 10)))
		return 1;
	if (poll_bytes(at) || is_return(at))
		return 1;
	if (at[0] == 0x0f && at[1] == 0x87) /* ja: the poll is armed */
		return is_return(at + 6);
	return at[0] == 0x77 && is_return(at + 2);
}

/*
 * The frame's words are still there, below the stack pointer: walk as if it was still whole. The
 * handler's own frames begin further down, below the red zone.
 */
bool lc_unwind_epilogue(struct lc_leaving *l)
{
	const unsigned left = words_left(&l->blob, lc_unwind_bytes(l->pc));
	const uint64_t top = l->sp + (uint64_t)left * 8;

	if (!left || l->blob.frame_words < 2 ||
	    !lc_unwind_returns_to_java(lc_unwind_word(l, top - 8)))
		return false;
	l->out->pc = l->pc;
	l->out->sp = top - (uint64_t)l->blob.frame_words * 8;
	l->out->fp = l->fp;
	return true;
}

/*
 * Calls of some stubs push arguments, and some intrinsics push a register or two while they work:
 * the frame is that much further up. If no instruction tells how much, the word in the return
 * address's place is no code address: the first code address above it is the return address.
 */
bool lc_unwind_pushed(struct lc_leaving *l)
{
	const uint64_t top = l->sp + (uint64_t)l->blob.frame_words * 8;
	unsigned pushed = words_pushed(l->pc);

	if (l->blob.frame_words < 2)
		return false;
	if (!pushed && lc_blob_at(lc_unwind_word(l, top - 8)) == LC_BLOB_NONE)
		while (pushed <= PUSHED_WORDS_MAX &&
		       (!pushed ||
		        lc_blob_at(lc_unwind_word(l, top - 8 + pushed * 8)) == LC_BLOB_NONE))
			pushed++;
	if (!pushed || !lc_unwind_returns_to_java(lc_unwind_word(l, top - 8 + pushed * 8)))
		return false;
	l->out->pc = l->pc;
	l->out->sp = l->sp + pushed * 8;
	l->out->fp = l->fp;
	return true;
}
