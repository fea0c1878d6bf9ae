/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/decode_straight.c - makes recipes: which instruction touched memory before a sampled pc,
 * and where.
 *
 * A timer interrupt is taken when an instruction retires, and what makes time pass is a memory
 * instruction that waits; so the sampled pc is the instruction after the one that waited. x86
 * cannot be decoded backwards: the code is decoded forwards from a known boundary, and the last few
 * instructions are kept.
 *
 * The file is longer than 600 lines: what goes back in code shares one trace.
 */
#include <stdlib.h>
#include <string.h>

#include "src/core/record.h"
#include "src/format/kinds.h"
#include "src/sample/decode.h"
#include "src/sample/insn.h"
#include "src/sample/loaded_by.h"
#include "src/sample/new_object.h"
#include "src/sample/ways.h"

enum {
	/*
	 * Unrolled loops calculate the indices of many elements before they touch the first: C2 of
	 * JDK 25 puts 100 instructions and more between two accesses.
	 */
	WINDOW = 160,  /* instructions before the pc that are looked at */
	JUMPS_MAX = 2, /* branches that are followed back */
	/* C1 counts the branches of a switch: four instructions for each case, and one access. */
	FORWARD_MAX = 2048, /* instructions from the pc on that are looked at */
	SP = 4,             /* number of the stack pointer */
	CARD_CODE = 12,     /* instructions that compute the address of a card, at most */
	CARD_SHIFT_MIN = 7, /* log2 of a card's bytes: 9 by default */
	CARD_SHIFT_MAX = 10,
};

static bool decode_at(const struct lc_code_bytes *code, size_t at, struct lc_insn *in)
{
	return lc_insn_decode(code->bytes + at, code->len - at, code->native, in);
}

/* A straight line of instructions that ends right before the pc. */
struct line {
	uint32_t at[WINDOW]; /* offsets, oldest first */
	size_t len;
};

/* Fill *line. Returns false if decoding from `from` does not arrive at `pc_at`. */
static bool decode_to(const struct lc_code_bytes *code, size_t from, size_t pc_at,
                      struct line *line)
{
	uint32_t ring[WINDOW];
	size_t at = from, n = 0;

	while (at < pc_at) {
		const size_t length = lc_insn_length(code->bytes + at, code->len - at);

		if (!length || n == LC_DECODE_INSTRUCTIONS_MAX)
			return false;
		ring[n++ % WINDOW] = (uint32_t)at;
		at += length;
	}
	if (at != pc_at)
		return false;
	line->len = n < WINDOW ? n : WINDOW;
	for (size_t i = 0; i < line->len; i++)
		line->at[i] = ring[(n - line->len + i) % WINDOW];
	return true;
}

static void set_operand(struct lc_recipe *r, const struct lc_insn *in, uint64_t pc, uint16_t lost)
{
	r->pc = pc;
	r->disp = in->disp;
	r->base = in->base;
	r->index = in->index;
	r->scale = in->scale;
	r->access = in->access;
	r->vector = in->vector;
	r->base_lost = lost & lc_decode_register_bit(in->base);
	r->index_lost = lost & lc_decode_register_bit(in->index);
}

/* A place in code, walked backwards in the order in which it ran, as far as that is certain. */
struct trace {
	const struct lc_code_bytes *code;
	size_t from;
	struct line line;
	size_t at;        /* of the instruction that ran next */
	unsigned jumps;   /* followed so far */
	bool strays;      /* one of them is not a loop's */
	size_t not_run;   /* of an instruction that has not run; SIZE_MAX: none is known */
	bool falls;       /* assume that a loop was entered from above rather than repeated */
	uint16_t lost;    /* registers written since */
	bool called;      /* the trace ends at a call */
	size_t call_at;   /* that call */
	bool entered;     /* the trace ends where the method was entered */
	bool own_certain; /* no jump lies between */
	bool own_found;   /* an access to the thread's own memory; the nearest is in `own` */
	struct lc_recipe own;
	bool unproven; /* the base of the access found may hold something else */
	const struct lc_ways *ways;
};

/* Decode the instruction before t->at in memory. Returns false if it is not known. */
static bool decode_before(const struct trace *t, struct lc_insn *in)
{
	return t->line.len && decode_at(t->code, t->line.at[t->line.len - 1], in);
}

/* Continue before the branch at `source`, which led to t->at. */
static bool jump_back(struct trace *t, size_t source)
{
	if (t->jumps == JUMPS_MAX || !decode_to(t->code, t->from, source, &t->line))
		return false;
	t->jumps++;
	t->at = source;
	return true;
}

/* May the instruction before t->at in memory have come before it in time? */
static bool falls_into(const struct trace *t)
{
	struct lc_insn in;

	return decode_before(t, &in) && in.falls;
}

/*
 * Is the instruction at `at` the branch that ends the check of the receiver's class? It is the only
 * conditional branch that leaves a method's code. Static and special calls enter behind it, as
 * those of virtual methods do whose class was known, so that the check need not have run.
 */
static bool ends_entry_check(const struct lc_code_bytes *code, size_t at, const struct lc_insn *in)
{
	const size_t to = (size_t)((int64_t)at + in->target);

	return code->method && in->control && in->target && to >= code->len;
}

/*
 * Go one instruction back in time. A loop's branch is the likeliest way to its target, then the
 * instruction before it in memory, then a branch from anywhere. Calls end the trace, and the entry
 * of the method.
 */
static bool step_back(struct trace *t, struct lc_insn *in)
{
	size_t source, at;

	t->called = t->entered = false;
	while (!(t->falls && falls_into(t)) &&
	       lc_ways_came_by(t->code, t->ways, t->at, true, &source))
		if (!jump_back(t, source))
			return false;
	for (;;) {
		if (!t->line.len)
			return false;
		at = t->line.at[t->line.len - 1];
		if (!decode_at(t->code, at, in))
			return false;
		if (in->falls && ends_entry_check(t->code, at, in)) {
			t->entered = true;
			return false;
		}
		if (in->falls)
			break;
		if (in->calls) {
			t->called = true;
			t->call_at = at;
			return false;
		}
		if (!lc_ways_came_by(t->code, t->ways, t->at, false, &source) ||
		    !jump_back(t, source))
			return false;
		t->strays = true;
	}
	t->line.len--;
	t->at = at;
	return true;
}

/* Is the instruction at t->at, which reads its base alone, a safepoint poll? */
static bool is_poll(const struct trace *t, uint8_t base)
{
	struct trace before = *t;
	struct lc_insn in;

	for (unsigned i = 0; i < WINDOW && step_back(&before, &in); i++)
		if (in.written & lc_decode_register_bit(base))
			return in.from_thread == base;
	return true; /* the register of a null check would have been written by the load of the
	                reference */
}

/*
 * Is the instruction at t->at an access to a byte of the collector's table of cards? That is at an
 * address shifted by the size of a card, plus the table's. G1 looks at the card only where a
 * reference leads to another region.
 */
static bool is_card(const struct trace *t, const struct lc_insn *in)
{
	uint16_t sum = lc_decode_register_bit(in->base) | lc_decode_register_bit(in->index);
	struct trace before;
	struct lc_insn at;

	if (t->code->native || in->disp || in->access >> LC_ACCESS_WIDTH_SHIFT)
		return false;
	before = *t;
	for (unsigned i = 0; i < CARD_CODE && step_back(&before, &at); i++) {
		if (sum & lc_decode_register_bit(at.shr_to))
			return at.value >= CARD_SHIFT_MIN && at.value <= CARD_SHIFT_MAX;
		if (sum & lc_decode_register_bit(at.add_to))
			sum |= lc_decode_register_bit(at.add_from);
	}
	return false;
}

/*
 * Note the nearest access to memory that is the thread's own and no object's, unless one is noted.
 */
static void set_own(struct trace *t, const struct lc_insn *in, size_t pc_at)
{
	t->own_found = true;
	t->own_certain = !t->jumps;
	set_operand(&t->own, in, t->code->address + t->at, t->lost | in->written);
	t->own.how = !t->jumps && t->at + in->length == pc_at ? LC_HOW_DIRECT : LC_HOW_NEARBY;
	t->own.same_frame = !((t->lost | in->written) & lc_decode_register_bit(SP));
}

/*
 * Behind a call, the last thing that ran is a return, which reads the stack; where a method is
 * entered, it is a call, which writes it.
 */
static void came_back(struct trace *t, size_t pc_at)
{
	size_t end = t->at; /* of the call, or the return */
	struct lc_insn in;

	if (t->own_found || !(t->entered || t->called))
		return;
	if (t->called) {
		if (!decode_at(t->code, t->call_at, &in))
			return;
		end = t->call_at + in.length;
	}
	t->own_found = true;
	t->own_certain = !t->jumps;
	t->own = (struct lc_recipe){
		.pc = t->code->address + (t->called ? t->call_at : end),
		.base = LC_NO_REGISTER,
		.index = LC_NO_REGISTER,
		.scale = 1,
		.how = end == pc_at ? LC_HOW_DIRECT : LC_HOW_NEARBY,
		.access = LC_ACCESS_OWN | (t->called ? LC_TOUCH_LOAD : LC_TOUCH_STORE) |
		          3u << LC_ACCESS_WIDTH_SHIFT,
		.same_frame = !(t->lost & lc_decode_register_bit(SP)),
	};
}

/*
 * The instruction at t->at has not run: go on before the branch that leads past it to what ran,
 * where there is one.
 */
static void go_around(struct trace *t, size_t pc_at)
{
	size_t source;

	if (lc_ways_around(t->ways, t->at, pc_at, &source))
		(void)jump_back(t, source);
}

/*
 * Use a copy of the base of the access at t->at where the base itself is lost: look in the line
 * before it for mov copy,base with both registers untouched from there on. `lost` are the registers
 * written from the access on. If another way leads in between, the two need not be the same.
 */
static void use_copy_of_base(const struct trace *t, uint16_t lost, struct lc_recipe *r)
{
	size_t at = t->at, m = t->line.len;
	struct lc_insn in;

	while (m-- > 0 && !lc_ways_lead_to(t->ways, at) && decode_at(t->code, t->line.at[m], &in)) {
		if (in.control)
			return;
		if (in.copy_from == r->base && !(lost & lc_decode_register_bit(in.copy_to))) {
			r->base = in.copy_to;
			r->base_lost = false;
			return;
		}
		if (in.written & lc_decode_register_bit(r->base))
			return;
		lost |= in.written;
		at = t->line.at[m];
	}
}

/* Does `reg` hold at pc_at what the instruction at `by`, which writes to `written`, has read? */
static bool lasts(const struct trace *t, size_t by, size_t pc_at, uint8_t reg, uint8_t written)
{
	return reg == LC_NO_REGISTER ||
	       (reg != written && lc_ways_agree(t->code, t->ways, by, pc_at, reg));
}

/*
 * Use the registers from which a lost base was computed, if they have not changed since on any way
 * to the sample. The object is then known even on a way that does not lead by the access. If the
 * base has been moved on within the object, as code does that clears an array, the place in the
 * object is not known.
 */
static void use_origin_of_base(struct trace *t, size_t pc_at, struct lc_recipe *r)
{
	struct lc_recipe from = *r;
	struct lc_insn in;
	bool moved;
	size_t by;

	if (r->vector || !lc_ways_pointed(t->code, t->ways, t->at, r->base, &by, &moved) ||
	    !decode_at(t->code, by, &in))
		return;
	if (in.copy_to == r->base) {
		from.base = in.copy_from;
	} else if (in.address_to == r->base) {
		from.base = in.base;
		from.disp += in.disp;
	} else {
		return;
	}
	if (in.address_to == r->base && in.index != LC_NO_REGISTER) {
		if (moved || r->index != LC_NO_REGISTER)
			return;
		from.index = in.index;
		from.scale = in.scale;
	}
	if (moved) {
		from.vector = true;
		from.index = LC_NO_REGISTER;
		from.index_lost = false;
	}
	if (!lasts(t, by, pc_at, from.base, r->base) || !lasts(t, by, pc_at, in.index, r->base))
		return;
	from.base_lost = from.base_differs = t->unproven = false;
	*r = from;
}

/*
 * A base that is not the same on all ways to the sample counts as lost: on a way that does not lead
 * by the access, the register holds what some other code put there, perhaps the address of another
 * object. An index only says which element it is, so the likeliest way is good enough, unless the
 * object's own address turns out to be in it. A C compiler's code moves its pointers on within one
 * object, and no breakpoint is set there.
 */
static void prove(struct trace *t, size_t pc_at, struct lc_recipe *r)
{
	if (t->code->native)
		return;
	if (r->base != LC_NO_REGISTER && !r->base_lost &&
	    !lc_ways_agree(t->code, t->ways, t->at, pc_at, r->base))
		t->unproven = r->base_lost = r->base_differs = true;
	r->index_differs = r->index != LC_NO_REGISTER && !r->index_lost &&
	                   !lc_ways_agree(t->code, t->ways, t->at, pc_at, r->index);
}

/* Find the nearest memory instruction before the pc. Returns false if it is not certain. */
static bool look_back(struct trace *t, struct lc_recipe *r)
{
	const size_t pc_at = t->at;
	struct lc_insn in;

	for (unsigned i = 0; i < WINDOW && step_back(t, &in); i++) {
		/* The card that has just been looked at is what was waited for. */
		const bool card =
		    in.memory && (t->jumps || t->at + in.length != pc_at) && is_card(t, &in);
		/* A string instruction has moved its own base on, by a known step. */
		const uint16_t own =
		    in.step ? in.written & (uint16_t)~lc_decode_register_bit(in.base) : in.written;

		if (in.memory && t->at == t->not_run) {
			go_around(t, pc_at);
			continue;
		}
		if (!in.memory || card || (in.polls && is_poll(t, in.base))) {
			if ((in.own || card) && !t->own_found)
				set_own(t, &in, pc_at);
			t->lost |= in.written;
			continue;
		}
		set_operand(r, &in, t->code->address + t->at, t->lost | own);
		r->disp -= in.step;
		r->how = !t->jumps && t->at + in.length == pc_at ? LC_HOW_DIRECT : LC_HOW_NEARBY;
		r->same_frame = !((t->lost | in.written) & lc_decode_register_bit(SP));
		if (r->base_lost && in.step)
			return false; /* its base is lost, and with it how far it had moved */
		if (r->base_lost)
			use_copy_of_base(t, t->lost | in.written, r);
		prove(t, pc_at, r);
		if (r->base_lost && !t->code->native)
			use_origin_of_base(t, pc_at, r);
		lc_new_object_find(t->code, t->at, t->at, r);
		return true;
	}
	return false;
}

/*
 * Find the first memory instruction from the pc on. Returns false if the line has none; then *own
 * is the first instruction that uses the thread's own memory, or says that there is not even such a
 * one.
 */
static bool look_ahead(const struct lc_code_bytes *code, size_t pc_at, struct lc_recipe *r,
                       struct lc_recipe *own)
{
	uint16_t lost = 0;
	size_t at = pc_at;
	struct lc_insn in;

	*own = (struct lc_recipe){ .how = LC_HOW_NO_OPERAND,
		                   .base = LC_NO_REGISTER,
		                   .index = LC_NO_REGISTER };
	for (unsigned i = 0; i < FORWARD_MAX && at < code->len; i++) {
		if (!decode_at(code, at, &in) || in.control)
			return false;
		if (in.memory && !in.polls) {
			/* Registers that are yet to be written are as good as gone. */
			set_operand(r, &in, code->address + at, lost);
			r->how = LC_HOW_NEARBY;
			r->ahead = true;
			r->same_frame = !(lost & lc_decode_register_bit(SP));
			lc_new_object_find(code, pc_at, at, r);
			return true;
		}
		if (in.own && own->how == LC_HOW_NO_OPERAND) {
			set_operand(own, &in, code->address + at, lost);
			own->how = LC_HOW_NEARBY;
			own->ahead = true;
			own->same_frame = !(lost & lc_decode_register_bit(SP));
		}
		lost |= in.written;
		at += in.length;
	}
	return false;
}

/* May the instruction begin with a prefix that repeats it? Another prefix may come before that. */
static bool has_repeat_prefix(const struct lc_code_bytes *code, size_t at)
{
	enum { REPEAT_EQUAL = 0xf3, REPEAT_DIFFERENT = 0xf2, PREFIXES_MAX = 3 };

	for (size_t i = at; i < code->len && i < at + PREFIXES_MAX; i++)
		if (code->bytes[i] == REPEAT_EQUAL || code->bytes[i] == REPEAT_DIFFERENT)
			return true;
	return false;
}

/*
 * Use the instruction at the pc if it is rep movs or the like: those wait at their own pc, and
 * registers say how far they are.
 */
static bool repeats_here(const struct lc_code_bytes *code, size_t pc_at, struct lc_recipe *r)
{
	struct lc_insn in;

	if (!has_repeat_prefix(code, pc_at) || !decode_at(code, pc_at, &in) || !in.repeats ||
	    !in.memory)
		return false;
	set_operand(r, &in, code->address + pc_at, 0);
	r->moves = in.moves;
	r->how = LC_HOW_DIRECT;
	r->same_frame = true;
	return true;
}

/*
 * Use the instruction before the pc if it is a fence of native code. Stores before it may be to any
 * memory, so none of them is the one that it waits for.
 */
static bool follows_fence(const struct trace *t, struct lc_recipe *r)
{
	struct lc_insn in;
	size_t at;

	if (!t->code->native || !t->line.len)
		return false;
	at = t->line.at[t->line.len - 1];
	if (!decode_at(t->code, at, &in) || !in.fence)
		return false;
	set_operand(r, &in, t->code->address + at, in.written);
	/* mfence has no operand; it waits for stores. */
	if (!r->scale)
		r->scale = 1;
	r->access |= LC_ACCESS_OWN | LC_ACCESS_FENCE | LC_TOUCH_STORE;
	r->how = LC_HOW_DIRECT;
	r->same_frame = true;
	return true;
}

/* Has the thread just come back from the kernel, which took the time? */
static bool follows_syscall(const struct lc_code_bytes *code, const struct line *line)
{
	static const uint8_t syscall[] = { 0x0f, 0x05 };

	return line->len && code->len - line->at[line->len - 1] >= sizeof(syscall) &&
	       !memcmp(code->bytes + line->at[line->len - 1], syscall, sizeof(syscall));
}

/* Can the address be calculated at the sample? */
static bool is_whole(const struct lc_recipe *r)
{
	return !r->base_lost && !r->index_lost;
}

/*
 * Take *found, unless its address needs a breakpoint and the way by which control came is
 * uncertain: the instruction may then never run again, so a breakpoint is not worth while. But it
 * is where the instruction is in a loop, or in the same straight line.
 */
static bool choose(const struct trace *t, const struct lc_recipe *found, struct lc_recipe *out)
{
	if (!is_whole(found) && (t->unproven ? t->strays : t->jumps > 0))
		return false;
	*out = *found;
	return true;
}

static void find_access(const struct lc_code_bytes *code, size_t from, size_t pc_at, size_t not_run,
                        struct lc_ways *ways, struct lc_recipe *out)
{
	struct trace t = { .code = code,
		           .from = from,
		           .at = pc_at,
		           .not_run = not_run,
		           .ways = ways },
	             entered;
	struct lc_recipe back, before, ahead, own;
	bool has_back, has_before, has_ahead;

	*out = (struct lc_recipe){ .how = LC_HOW_UNDECODED,
		                   .base = LC_NO_REGISTER,
		                   .index = LC_NO_REGISTER };
	back = before = ahead = *out;
	if (pc_at >= code->len || from > pc_at || !decode_to(code, from, pc_at, &t.line))
		return;
	if (repeats_here(code, pc_at, out))
		return;
	if (follows_syscall(code, &t.line)) {
		out->how = LC_HOW_NO_OPERAND;
		return;
	}
	if (follows_fence(&t, out))
		return;
	lc_ways_find(code, from, pc_at, ways);
	entered = t;
	entered.falls = true;
	has_back = look_back(&t, &back);
	if (has_back && choose(&t, &back, out))
		return;
	/* Assume that the loop was entered from above only if going around it leads to nothing. */
	has_before = !has_back && look_back(&entered, &before);
	if (has_before && choose(&entered, &before, out))
		return;
	has_ahead = look_ahead(code, pc_at, &ahead, &own);
	/* There may be no object: the access that took the time was then to the thread's own
	 * memory. */
	came_back(&t, pc_at);
	came_back(&entered, pc_at);
	if (has_ahead && is_whole(&ahead))
		*out = ahead;
	else if (t.own_found && t.own_certain)
		*out = t.own;
	else if (entered.own_found && entered.own_certain)
		*out = entered.own;
	else if (has_back || has_before || has_ahead)
		*out = has_back ? back : has_before ? before : ahead;
	else if (t.own_found || entered.own_found)
		*out = t.own_found ? t.own : entered.own;
	else
		*out = own;
}

/* Java code alone has its debug information. */
static void find_load(const struct lc_code_bytes *code, const struct lc_ways *ways,
                      struct lc_recipe *r)
{
	const size_t at = r->pc - code->address;
	size_t load;

	if (!code->method || r->how > LC_HOW_NEARBY || (r->access & LC_ACCESS_OWN) ||
	    !lc_loaded_by(code, ways, at, &load))
		return;
	if (llabs((int64_t)at - (int64_t)load) <= INT16_MAX)
		r->loaded = (int16_t)((int64_t)at - (int64_t)load);
}

void lc_decode_load(const struct lc_code_bytes *code, size_t from, struct lc_recipe *recipe)
{
	struct lc_ways ways = { .full = true };

	lc_ways_find(code, from, recipe->pc - code->address, &ways);
	find_load(code, &ways, recipe);
}

void lc_decode_straight_past(const struct lc_code_bytes *code, size_t from, size_t pc_at,
                             size_t not_run, struct lc_recipe *out)
{
	struct lc_ways ways = { .full = true }; /* without branches, nothing is certain */

	find_access(code, from, pc_at, not_run, &ways, out);
	find_load(code, &ways, out);
}

void lc_decode_straight(const struct lc_code_bytes *code, size_t from, size_t pc_at,
                        struct lc_recipe *out)
{
	lc_decode_straight_past(code, from, pc_at, SIZE_MAX, out);
}
