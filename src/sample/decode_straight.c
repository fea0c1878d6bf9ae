/*
 * sample/decode_straight.c - makes recipes: which instruction touched memory before a sampled pc,
 * and where.
 *
 * A timer interrupt is taken when an instruction retires, and what makes time pass is a memory
 * instruction that waits; so the sampled pc is the instruction after the one that waited. x86
 * cannot be decoded backwards: the code is decoded forwards from a known boundary, and the last few
 * instructions are kept.
 */
#include <stdatomic.h>
#include <string.h>

#include "src/core/record.h"
#include "src/format/kinds.h"
#include "src/sample/decode.h"
#include "src/sample/insn.h"

enum {
	/*
	 * Unrolled loops calculate the indices of many elements before they touch the first: C2 of
	 * JDK 25 puts 100 instructions and more between two accesses.
	 */
	WINDOW = 160,        /* instructions before the pc that are looked at */
	BRANCH_BYTES = 1024, /* bytes behind the pc in which branches are looked for */
	BRANCHES_MAX = 64,
	JUMPS_MAX = 2,          /* branches that are followed back */
	FORWARD_MAX = 160,      /* instructions from the pc on that are looked at */
	SP = 4,                 /* number of the stack pointer */
	HEADER_CODE_BYTES = 96, /* code between the first store to a header and that of the class */
};

static _Atomic uint32_t class_offset = 8; /* relaxed: set before there are samples */

void lc_decode_class_offset(uint32_t offset)
{
	atomic_store_explicit(&class_offset, offset, memory_order_relaxed);
}

static bool decode_at(const struct lc_code_bytes *code, size_t at, struct lc_insn *in)
{
	return lc_insn_decode(code->bytes + at, code->len - at, code->native, in);
}

/* A straight line of instructions that ends right before the pc. */
struct line {
	uint32_t at[WINDOW]; /* offsets, oldest first */
	size_t len;
};

/* The direct branches around the pc, for finding which of them led to where the line begins. */
struct branches {
	size_t len;
	struct {
		size_t at, to;
	} of[BRANCHES_MAX];
};

/* Pass the instruction at `at`; what branches is added. Returns its length, or 0. */
static size_t pass(const struct lc_code_bytes *code, size_t at, struct branches *branches)
{
	int64_t target;
	const size_t length = lc_insn_step(code->bytes + at, code->len - at, &target);

	if (length && target && branches->len < BRANCHES_MAX) {
		branches->of[branches->len].at = at;
		branches->of[branches->len++].to = (size_t)((int64_t)at + target);
	}
	return length;
}

/*
 * Fill *line, and add the branches in it. Returns false if decoding from `from` does not arrive at
 * `pc_at`.
 */
static bool decode_to(const struct lc_code_bytes *code, size_t from, size_t pc_at,
                      struct line *line, struct branches *branches)
{
	uint32_t ring[WINDOW];
	size_t at = from, n = 0;

	while (at < pc_at) {
		const size_t length = pass(code, at, branches);

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

static uint16_t bit_of(uint8_t reg)
{
	return (uint16_t)(reg < LC_REGISTERS ? 1u << reg : 0u);
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
	r->base_lost = lost & bit_of(in->base);
	r->index_lost = lost & bit_of(in->index);
}

/* Is it `mov [base+disp],...`, and nothing more? */
static bool stores_to(const struct lc_insn *in, uint8_t base, uint32_t disp)
{
	return in->memory && in->base == base && in->index == LC_NO_REGISTER &&
	       in->disp == (int32_t)disp &&
	       ((in->constant && in->constant_to == LC_NO_REGISTER) ||
	        in->store_from != LC_NO_REGISTER);
}

/* What is known of a register's value: a constant, or computed from a register, or nothing. */
struct value {
	enum { UNKNOWN, CONSTANT, REDUCED } kind;
	uint8_t from; /* REDUCED: the value is (old value of this register - constant) >> shift */
	uint8_t shift;
	uint64_t constant; /* CONSTANT: the value; REDUCED: see `from` */
};

/*
 * Follow an instruction that copies, loads a constant, subtracts or shifts; forget what others
 * write.
 */
static void follow(struct value *v, const struct lc_insn *in)
{
	struct value result = { .kind = UNKNOWN };
	uint8_t to = LC_NO_REGISTER;

	if (in->copy_to != LC_NO_REGISTER && in->copy_from != LC_NO_REGISTER) {
		to = in->copy_to;
		result = v[in->copy_from];
	} else if (in->constant_to != LC_NO_REGISTER) {
		to = in->constant_to;
		result = (struct value){ .kind = CONSTANT, .constant = in->value };
	} else if (in->sub_to != LC_NO_REGISTER && v[in->sub_to].kind == REDUCED &&
	           !v[in->sub_to].shift &&
	           (in->sub_from == LC_NO_REGISTER || v[in->sub_from].kind == CONSTANT)) {
		to = in->sub_to;
		result = v[to];
		result.constant +=
		    in->sub_from == LC_NO_REGISTER ? in->value : v[in->sub_from].constant;
	} else if (in->shr_to != LC_NO_REGISTER && v[in->shr_to].kind == REDUCED) {
		to = in->shr_to;
		result = v[to];
		result.shift = (uint8_t)((result.shift + in->value) & 0x3f);
	}
	for (uint8_t i = 0; i < LC_REGISTERS; i++)
		if (in->written & bit_of(i))
			v[i].kind = UNKNOWN;
	if (to != LC_NO_REGISTER)
		v[to] = result;
}

static void set_made(struct lc_recipe *r, const struct value *v)
{
	if (v->kind == CONSTANT) {
		r->made = LC_MADE_VALUE;
		r->made_value = v->constant;
	} else if (v->kind == REDUCED && !(v->constant >> 48)) {
		r->made = LC_MADE_REGISTER;
		r->made_value = v->constant | (uint64_t)v->from << 48 | (uint64_t)v->shift << 52;
	}
}

/*
 * If the instruction at `store` stores to the very start of an object, an object is being made, and
 * that instruction or one of the next stores its class. `from` is where the
 * instructions begin that run after the sample and before the store; or it is `store` itself.
 */
static void find_made(const struct lc_code_bytes *code, size_t from, size_t store,
                      struct lc_recipe *r)
{
	const uint32_t offset = atomic_load_explicit(&class_offset, memory_order_relaxed);
	struct value values[LC_REGISTERS];
	struct lc_insn in;

	if (code->native) /* it knows classes by other ways */
		return;
	for (uint8_t i = 0; i < LC_REGISTERS; i++)
		values[i] = (struct value){ .kind = REDUCED, .from = i };
	for (size_t at = from, end = store; at < code->len && at <= end; at += in.length) {
		if (!decode_at(code, at, &in) || in.control ||
		    (at == store && !stores_to(&in, r->base, 0)))
			return;
		if (at == store)
			end = store + HEADER_CODE_BYTES;
		if (at >= store && stores_to(&in, r->base, offset)) {
			const struct value constant = { .kind = CONSTANT, .constant = in.value };

			set_made(r, in.constant ? &constant : &values[in.store_from]);
			return;
		}
		if (in.written & bit_of(r->base))
			return;
		follow(values, &in);
	}
}

/*
 * Use a copy of the base where the base itself is lost: look in the line before instruction `m` for
 * mov copy,base with both registers untouched from there on. `lost` are the registers written from
 * `m` on.
 */
static void use_copy_of_base(const struct lc_code_bytes *code, const struct line *line, size_t m,
                             uint16_t lost, struct lc_recipe *r)
{
	struct lc_insn in;

	while (m-- > 0 && decode_at(code, line->at[m], &in)) {
		if (in.control)
			return;
		if (in.copy_from == r->base && !(lost & bit_of(in.copy_to))) {
			r->base = in.copy_to;
			r->base_lost = false;
			return;
		}
		if (in.written & bit_of(r->base))
			return;
		lost |= in.written;
	}
}

/*
 * Find the branch by which control came to `at`: the only branch there, or the only one from
 * further down, which is a loop's (`loop` asks for a loop's branch alone). Returns false if there
 * is no such branch, or a choice.
 */
static bool came_by(const struct branches *branches, size_t at, bool loop, size_t *source)
{
	unsigned found = 0;

	for (size_t i = 0; i < branches->len; i++) {
		if (branches->of[i].to != at || (loop && branches->of[i].at < at))
			continue;
		*source = branches->of[i].at;
		found++;
	}
	return found == 1;
}

/* A place in code, walked backwards in the order in which it ran, as far as that is certain. */
struct trace {
	const struct lc_code_bytes *code;
	size_t from;
	struct line line;
	size_t at;        /* of the instruction that ran next */
	unsigned jumps;   /* followed so far */
	bool falls;       /* assume that a loop was entered from above rather than repeated */
	uint16_t lost;    /* registers written since */
	bool called;      /* the trace ends at a call */
	size_t call_at;   /* that call */
	bool own_certain; /* no jump lies between */
	bool own_found;   /* an access to the thread's own memory; the nearest is in `own` */
	struct lc_recipe own;
	struct branches branches;
};

/* Continue before the branch at `source`, which led to t->at. */
static bool jump_back(struct trace *t, size_t source)
{
	struct branches known;

	known.len = 0;
	if (t->jumps == JUMPS_MAX || !decode_to(t->code, t->from, source, &t->line, &known))
		return false;
	t->jumps++;
	t->at = source;
	return true;
}

/* May the instruction before t->at in memory have come before it in time? */
static bool falls_into(const struct trace *t)
{
	struct lc_insn in;
	size_t at;

	if (!t->line.len)
		return false;
	at = t->line.at[t->line.len - 1];
	return decode_at(t->code, at, &in) && in.falls;
}

/*
 * Go one instruction back in time. A loop's branch is the likeliest way to its target, then the
 * instruction before it in memory, then a branch from anywhere. Calls end the trace.
 */
static bool step_back(struct trace *t, struct lc_insn *in)
{
	size_t source, at;

	t->called = false;
	while (!(t->falls && falls_into(t)) && came_by(&t->branches, t->at, true, &source))
		if (!jump_back(t, source))
			return false;
	for (;;) {
		if (!t->line.len)
			return false;
		at = t->line.at[t->line.len - 1];
		if (!decode_at(t->code, at, in))
			return false;
		if (in->falls)
			break;
		if (in->calls) {
			t->called = true;
			t->call_at = at;
			return false;
		}
		if (!came_by(&t->branches, t->at, false, &source) || !jump_back(t, source))
			return false;
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
		if (in.written & bit_of(base))
			return in.from_thread == base;
	return true; /* the register of a null check would have been written by the load of the
	                reference */
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
	t->own.same_frame = !((t->lost | in->written) & bit_of(SP));
}

/* Behind a call, the last thing that ran is a return, which reads the stack. */
static void came_back(struct trace *t, size_t pc_at)
{
	struct lc_insn in;

	if (t->own_found || !t->called || !decode_at(t->code, t->call_at, &in))
		return;
	t->own_found = true;
	t->own_certain = !t->jumps;
	t->own = (struct lc_recipe){
		.pc = t->code->address + t->call_at,
		.base = LC_NO_REGISTER,
		.index = LC_NO_REGISTER,
		.scale = 1,
		.how = t->call_at + in.length == pc_at ? LC_HOW_DIRECT : LC_HOW_NEARBY,
		.access = LC_ACCESS_OWN | LC_TOUCH_LOAD | 3u << LC_ACCESS_WIDTH_SHIFT,
		.same_frame = !(t->lost & bit_of(SP)),
	};
}

/* Find the nearest memory instruction before the pc. Returns false if it is not certain. */
static bool look_back(struct trace *t, struct lc_recipe *r)
{
	const size_t pc_at = t->at;
	struct lc_insn in;

	for (unsigned i = 0; i < WINDOW && step_back(t, &in); i++) {
		/* A string instruction has moved its own base on, by a known step. */
		const uint16_t own = in.step ? in.written & (uint16_t)~bit_of(in.base) : in.written;

		if (!in.memory || (in.polls && is_poll(t, in.base))) {
			if (in.own && !t->own_found)
				set_own(t, &in, pc_at);
			t->lost |= in.written;
			continue;
		}
		set_operand(r, &in, t->code->address + t->at, t->lost | own);
		r->disp -= in.step;
		r->how = !t->jumps && t->at + in.length == pc_at ? LC_HOW_DIRECT : LC_HOW_NEARBY;
		r->same_frame = !((t->lost | in.written) & bit_of(SP));
		if (r->base_lost && in.step)
			return false; /* its base is lost, and with it how far it had moved */
		if (r->base_lost)
			use_copy_of_base(t->code, &t->line, t->line.len, t->lost | in.written, r);
		if (atomic_load_explicit(&class_offset,
		                         memory_order_relaxed)) /* else it is there */
			find_made(t->code, t->at, t->at, r);
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
			r->same_frame = !(lost & bit_of(SP));
			find_made(code, pc_at, at, r);
			return true;
		}
		if (in.own && own->how == LC_HOW_NO_OPERAND) {
			set_operand(own, &in, code->address + at, lost);
			own->how = LC_HOW_NEARBY;
			own->ahead = true;
			own->same_frame = !(lost & bit_of(SP));
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

/* Has the thread just come back from the kernel? Then that took the time. */
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
 * uncertain: the instruction may then never run again, so a breakpoint is not worth while.
 */
static bool choose(const struct trace *t, const struct lc_recipe *found, struct lc_recipe *out)
{
	if (!is_whole(found) && t->jumps)
		return false;
	*out = *found;
	return true;
}

void lc_decode_straight(const struct lc_code_bytes *code, size_t from, size_t pc_at,
                        struct lc_recipe *out)
{
	struct trace t = { .code = code, .from = from, .at = pc_at }, entered;
	struct lc_recipe back, before, ahead, own;
	bool has_back, has_before, has_ahead;

	*out = (struct lc_recipe){ .how = LC_HOW_UNDECODED,
		                   .base = LC_NO_REGISTER,
		                   .index = LC_NO_REGISTER };
	back = before = ahead = *out;
	if (pc_at >= code->len || from > pc_at ||
	    !decode_to(code, from, pc_at, &t.line, &t.branches))
		return;
	if (repeats_here(code, pc_at, out))
		return;
	if (follows_syscall(code, &t.line)) {
		out->how = LC_HOW_NO_OPERAND;
		return;
	}
	if (follows_fence(&t, out))
		return;
	for (size_t at = pc_at, length; at < pc_at + BRANCH_BYTES && at < code->len; at += length) {
		length = pass(code, at, &t.branches);
		if (!length)
			break;
	}
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
