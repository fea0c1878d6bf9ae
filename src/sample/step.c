/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/step.c - finds the step of an access by running its loop once, with the registers as
 * unknowns.
 *
 * Each register, and each word of the frame that the loop uses, is a sum: a number, and unknowns
 * times numbers. The unknowns are the registers and words at the beginning of the loop; an index
 * times the length of a row is a product of two of them. Instructions other than copies, additions
 * and multiplications make a register unknown. At the loop's end, an unknown that holds itself plus
 * something grows by that in each round, and so does the address of an access.
 *
 * Code is followed in the order of its addresses. At the target of a forward branch, everything
 * that was written since the branch is unknown. At the beginning of an inner loop, everything that
 * the inner loop writes is unknown.
 *
 * The file is longer than 600 lines: sums, operands and loops know each other's numbers of
 * unknowns.
 */
#include "src/sample/step.h"

#include <stdbool.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "src/jvm/os/peek.h"
#include "src/sample/decode.h"
#include "src/sample/insn.h"

enum {
	BEHIND_BYTES = 2048, /* from the access on, as far as a loop's end is looked for */
	INSNS_MAX = 700,     /* of a loop */
	SLOTS = 12,          /* words of the frame that are followed */
	TERMS = 4,           /* of a sum */
	BRANCHES = 24,       /* in a loop */
	OTHERS = 64,         /* accesses beside the one, in an unrolled loop */
	SP = 4,
	HEAP_BASE = 12, /* registers that the JVM's own code does not change */
	THREAD = 15,
	FIRST_VECTOR = LC_REGISTERS + SLOTS, /* xmm0, where the JVM keeps general registers too */
	VECTORS = 16,
	UNKNOWNS = FIRST_VECTOR + VECTORS,
	UNROLLED_MAX = 2048, /* bytes that a round of an unrolled loop passes over, at most */
	LINE_BYTES = 64,
};

#define NOTHING 0xff
#define NUMBER_MAX (INT64_C(1) << 40)

/* `factor` times an unknown, or times two of them. */
struct term {
	int32_t factor;
	uint8_t of, by; /* by: NOTHING, or not less than `of` */
};

struct sum {
	bool unknown;
	uint8_t len;
	int64_t number;
	struct term terms[TERMS];
};

/* A branch inside of the loop, to a place further on. */
struct ahead {
	size_t to;
	uint64_t written; /* since the branch, by unknown */
};

struct loop {
	const struct lc_code_bytes *code;
	size_t begin, end; /* of its first instruction, and of the branch back */
	size_t access;     /* of the instruction that is asked about */
	const struct lc_registers *regs;
	bool same_stack;
	ZydisDecoder decoder;

	struct sum first[UNKNOWNS]; /* where the loop begins */
	struct sum values[UNKNOWNS];
	int32_t slots[SLOTS]; /* offsets from the stack pointer */
	size_t slots_len;
	uint64_t written; /* unknowns that an instruction of the loop writes */
	struct ahead ahead[BRANCHES];
	size_t ahead_len;
	bool dead; /* the previous instruction does not lead here */

	bool found; /* `address` is known */
	struct sum address;
	int64_t width; /* bytes of the access; where `found` */

	/* The second run, with the step known: distances of other accesses. */
	bool second;
	bool unclear; /* another access may be beside ours, or not */
	struct sum step;
	int64_t whole; /* the step, by the registers of the sample; > 0 */
	int64_t others[OTHERS];
	size_t others_len;
};

/* ---- sums ---- */

static const struct sum unknown = { .unknown = true };

static struct sum number(int64_t n)
{
	return (struct sum){ .number = n, .unknown = n > NUMBER_MAX || n < -NUMBER_MAX };
}

static struct sum itself(uint8_t what)
{
	return (struct sum){ .len = 1, .terms = { { 1, what, NOTHING } } };
}

static void add_term(struct sum *s, int64_t factor, uint8_t of, uint8_t by)
{
	for (size_t i = 0; i < s->len; i++) {
		if (s->terms[i].of != of || s->terms[i].by != by)
			continue;
		factor += s->terms[i].factor;
		if (!factor)
			s->terms[i] = s->terms[--s->len];
		else if (factor == (int32_t)factor)
			s->terms[i].factor = (int32_t)factor;
		else
			s->unknown = true;
		return;
	}
	if (s->len == TERMS || factor != (int32_t)factor) {
		s->unknown = true;
		return;
	}
	s->terms[s->len++] = (struct term){ (int32_t)factor, of, by };
}

/* a + b * times */
static struct sum add(struct sum a, const struct sum *b, int64_t times)
{
	if (a.unknown || b->unknown || times > INT32_MAX || times < INT32_MIN)
		return unknown;
	a.number += b->number * times;
	for (size_t i = 0; i < b->len && !a.unknown; i++)
		if (times)
			add_term(&a, b->terms[i].factor * times, b->terms[i].of, b->terms[i].by);
	if (a.number > NUMBER_MAX || a.number < -NUMBER_MAX)
		a.unknown = true;
	return a;
}

static struct sum multiply(const struct sum *a, const struct sum *b)
{
	struct sum out;

	if (a->unknown || b->unknown)
		return unknown;
	if (!a->len)
		return add(number(0), b, a->number);
	out = add(number(0), a, b->number);
	for (size_t i = 0; i < b->len && !out.unknown; i++) {
		const struct term *y = &b->terms[i];

		if (a->number && y->factor * a->number != (int32_t)(y->factor * a->number))
			return unknown;
		if (a->number)
			add_term(&out, y->factor * a->number, y->of, y->by);
		for (size_t k = 0; k < a->len && !out.unknown; k++) {
			const struct term *x = &a->terms[k];

			if (x->by != NOTHING || y->by != NOTHING)
				return unknown;
			add_term(&out, (int64_t)x->factor * y->factor,
			         x->of < y->of ? x->of : y->of, x->of < y->of ? y->of : x->of);
		}
	}
	return out;
}

/* ---- operands ---- */

/* The number of a general or vector register; NOTHING for others, and for parts of less than 32
 * bits. */
static uint8_t whole_register(ZydisRegister r)
{
	if (r >= ZYDIS_REGISTER_RAX && r <= ZYDIS_REGISTER_R15)
		return (uint8_t)(r - ZYDIS_REGISTER_RAX);
	if (r >= ZYDIS_REGISTER_EAX && r <= ZYDIS_REGISTER_R15D)
		return (uint8_t)(r - ZYDIS_REGISTER_EAX);
	if (r >= ZYDIS_REGISTER_XMM0 && r <= ZYDIS_REGISTER_XMM15)
		return (uint8_t)(FIRST_VECTOR + (r - ZYDIS_REGISTER_XMM0));
	return NOTHING;
}

/* The register that `r` is part of. */
static uint8_t register_of(ZydisRegister r)
{
	const ZydisRegister all = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	if (all >= ZYDIS_REGISTER_ZMM0 && all <= ZYDIS_REGISTER_ZMM15)
		return (uint8_t)(FIRST_VECTOR + (all - ZYDIS_REGISTER_ZMM0));
	return whole_register(all);
}

static bool in_frame(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.type == ZYDIS_MEMOP_TYPE_MEM &&
	       op->mem.base == ZYDIS_REGISTER_RSP && op->mem.index == ZYDIS_REGISTER_NONE;
}

/* The unknown that stands for a word of the frame; NOTHING where there are too many. */
static uint8_t slot_at(struct loop *l, int64_t offset)
{
	for (size_t i = 0; i < l->slots_len; i++)
		if (l->slots[i] == offset)
			return (uint8_t)(LC_REGISTERS + i);
	if (l->slots_len == SLOTS || offset != (int16_t)offset)
		return NOTHING;
	l->slots[l->slots_len] = (int32_t)offset;
	return (uint8_t)(LC_REGISTERS + l->slots_len++);
}

static struct sum value_of(const struct loop *l, ZydisRegister r)
{
	const uint8_t n = whole_register(r);

	return n == NOTHING ? unknown : l->values[n];
}

static struct sum read_value(struct loop *l, const ZydisDecodedOperand *op)
{
	uint8_t slot;

	if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return number(op->imm.is_signed ? op->imm.value.s : (int64_t)op->imm.value.u);
	if (op->type == ZYDIS_OPERAND_TYPE_REGISTER)
		return value_of(l, op->reg.value);
	if (!in_frame(op) || op->size < 32)
		return unknown;
	slot = slot_at(l, op->mem.disp.value);
	return slot == NOTHING ? unknown : l->values[slot];
}

static void write_to(struct loop *l, uint8_t what, const struct sum *value)
{
	if (what == NOTHING)
		return;
	l->values[what] = *value;
	l->written |= UINT64_C(1) << what;
	for (size_t i = 0; i < l->ahead_len; i++)
		l->ahead[i].written |= UINT64_C(1) << what;
}

/* Write to a register or memory. Other words of the frame that a store reaches become unknown. */
static void write_value(struct loop *l, const ZydisDecodedOperand *op, const struct sum *value)
{
	if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		const uint8_t whole = whole_register(op->reg.value);

		write_to(l, whole == NOTHING ? register_of(op->reg.value) : whole,
		         whole == NOTHING ? &unknown : value);
		return;
	}
	if (!in_frame(op))
		return;
	for (size_t i = 0; i < l->slots_len; i++)
		if (l->slots[i] < op->mem.disp.value + op->size / 8 &&
		    op->mem.disp.value < l->slots[i] + 8)
			write_to(l, (uint8_t)(LC_REGISTERS + i), &unknown);
	if (op->size == 32 || op->size == 64)
		write_to(l, slot_at(l, op->mem.disp.value), value);
}

static struct sum address_of(const struct loop *l, const ZydisDecodedOperandMem *m)
{
	struct sum s = number(m->disp.has_displacement ? m->disp.value : 0), x;

	if (m->base != ZYDIS_REGISTER_NONE) {
		x = value_of(l, m->base);
		s = add(s, &x, 1);
	}
	if (m->index != ZYDIS_REGISTER_NONE) {
		x = value_of(l, m->index);
		s = add(s, &x, m->scale);
	}
	return s;
}

/* ---- instructions ---- */

/* The result of an instruction in its first operand; unknown for most. */
static struct sum result(struct loop *l, const ZydisDecodedInstruction *in,
                         const ZydisDecodedOperand *ops)
{
	const struct sum one = number(1);
	struct sum a, b;

	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_MOVD:
	case ZYDIS_MNEMONIC_MOVQ:
	case ZYDIS_MNEMONIC_VMOVD:
	case ZYDIS_MNEMONIC_VMOVQ:
		return read_value(l, &ops[1]);
	case ZYDIS_MNEMONIC_LEA:
		return address_of(l, &ops[1].mem);
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		a = read_value(l, &ops[0]);
		b = read_value(l, &ops[1]);
		return add(a, &b, in->mnemonic == ZYDIS_MNEMONIC_ADD ? 1 : -1);
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		a = read_value(l, &ops[0]);
		return add(a, &one, in->mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1);
	case ZYDIS_MNEMONIC_NEG:
		a = read_value(l, &ops[0]);
		return add(number(0), &a, -1);
	case ZYDIS_MNEMONIC_SHL:
		a = read_value(l, &ops[0]);
		if (ops[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || ops[1].imm.value.u > 30)
			return unknown;
		return add(number(0), &a, INT64_C(1) << ops[1].imm.value.u);
	case ZYDIS_MNEMONIC_IMUL:
		if (in->operand_count_visible < 2)
			return unknown;
		a = read_value(l, &ops[in->operand_count_visible - 2]);
		b = read_value(l, &ops[in->operand_count_visible - 1]);
		return multiply(&a, &b);
	case ZYDIS_MNEMONIC_XOR:
		return ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		               ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		               ops[0].reg.value == ops[1].reg.value
		           ? number(0)
		           : unknown;
	default:
		return unknown;
	}
}

/* The value of an unknown that the loop does not write, by the registers of the sample. */
static bool value_at_sample(const struct loop *l, uint8_t what, int64_t *out)
{
	int32_t held = 0;

	if (what == NOTHING) {
		*out = 1;
		return true;
	}
	if (what >= FIRST_VECTOR || (l->written >> what & 1))
		return false;
	if (what < LC_REGISTERS) {
		*out = (int32_t)(uint32_t)l->regs->r[what];
		return true;
	}
	if (!l->same_stack ||
	    !lc_peek(l->regs->r[SP] + (uint64_t)(int64_t)l->slots[what - LC_REGISTERS], &held,
	             sizeof(held)))
		return false;
	*out = held;
	return true;
}

/* A sum of what the loop does not write; false where it is of something else. */
static bool sum_at_sample(const struct loop *l, const struct sum *s, int64_t *out)
{
	*out = s->number;
	for (size_t i = 0; i < s->len; i++) {
		int64_t of, by, product;

		if (!value_at_sample(l, s->terms[i].of, &of) ||
		    !value_at_sample(l, s->terms[i].by, &by) ||
		    __builtin_mul_overflow(of, by, &product) ||
		    __builtin_mul_overflow(product, s->terms[i].factor, &product) ||
		    __builtin_add_overflow(*out, product, out))
			return false;
	}
	return !s->unknown;
}

/* May both be in one array: do they have a register in common that the loop does not change? */
static bool may_be_beside(const struct loop *l, const struct sum *address)
{
	if (address->unknown)
		return true;
	for (size_t i = 0; i < address->len; i++)
		for (size_t k = 0; k < l->address.len; k++)
			if (address->terms[i].of == l->address.terms[k].of &&
			    address->terms[i].by == NOTHING && l->address.terms[k].by == NOTHING)
				return true;
	return false;
}

/* After a call, registers are unknown; words of the frame stay. */
static void forget_registers(struct loop *l)
{
	for (uint8_t i = 0; i < UNKNOWNS; i++)
		if ((i < LC_REGISTERS && i != SP && i != THREAD && i != HEAP_BASE) ||
		    i >= FIRST_VECTOR)
			write_to(l, i, &unknown);
}

static void note_access(struct loop *l, size_t at, const ZydisDecodedOperand *op)
{
	const struct sum address = address_of(l, &op->mem);
	int64_t d;

	if (!l->second) {
		if (at == l->access && !l->found) {
			l->address = address;
			l->width = op->size / 8;
			l->found = !l->dead;
		}
	} else if (!l->dead && l->others_len < OTHERS) {
		const struct sum apart = add(address, &l->address, -1);

		if (!sum_at_sample(l, &apart, &d))
			l->unclear |= may_be_beside(l, &address);
		else if (d < l->whole && d > -l->whole)
			l->others[l->others_len++] = d;
	}
}

static void run(struct loop *l, size_t at, const ZydisDecodedInstruction *in,
                const ZydisDecodedOperand *ops)
{
	const bool calls = in->meta.category == ZYDIS_CATEGORY_CALL;
	const bool accesses = in->meta.category != ZYDIS_CATEGORY_PREFETCH &&
	                      in->meta.category != ZYDIS_CATEGORY_NOP &&
	                      in->meta.category != ZYDIS_CATEGORY_WIDENOP;
	struct sum value;

	for (unsigned i = 0; accesses && i < in->operand_count; i++)
		if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    ops[i].mem.type == ZYDIS_MEMOP_TYPE_MEM && !in_frame(&ops[i]) &&
		    ops[i].mem.base != ZYDIS_REGISTER_RIP)
			note_access(l, at, &ops[i]);
	if (calls) {
		forget_registers(l);
		return;
	}
	if (!in->operand_count)
		return;
	value = result(l, in, ops);
	for (unsigned i = in->operand_count; i-- > 0;)
		if (ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			write_value(l, &ops[i], i ? &unknown : &value);
}

/* ---- the loop ---- */

static bool decode(struct loop *l, size_t at, ZydisDecodedInstruction *in, ZydisDecodedOperand *ops)
{
	return ZYAN_SUCCESS(
	    ZydisDecoderDecodeFull(&l->decoder, l->code->bytes + at, l->code->len - at, in, ops));
}

/* Make unknown what the inner loop from `begin` to the branch at `end` writes. */
static bool enter_inner(struct loop *l, size_t begin, size_t end)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	for (size_t at = begin; at < end; at += in.length) {
		if (!decode(l, at, &in, ops))
			return false;
		if (in.meta.category == ZYDIS_CATEGORY_CALL)
			forget_registers(l);
		for (unsigned i = 0; i < in.operand_count; i++) {
			if (in_frame(&ops[i]) && (ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
				slot_at(l, ops[i].mem.disp.value);
			if ((ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
			    !(in.meta.category == ZYDIS_CATEGORY_CALL))
				write_value(l, &ops[i], &unknown);
		}
	}
	return true;
}

/* A loop inside of the loop: from where it begins to its branch back. */
struct inner {
	size_t begin, end;
};

/* Find the loops inside of the loop. Returns false where there are too many. */
static bool find_inner(const struct loop *l, struct inner *inner, size_t *len)
{
	size_t at = l->begin, length;

	*len = 0;
	for (unsigned i = 0; at < l->end; at += length, i++) {
		int64_t target = 0;

		length = lc_insn_step(l->code->bytes + at, l->code->len - at, &target);
		if (!length || i == INSNS_MAX)
			return false;
		if (target >= 0 || (size_t)-target > at - l->begin)
			continue;
		if (*len == BRANCHES)
			return false;
		inner[*len].begin = (size_t)((int64_t)at + target);
		inner[(*len)++].end = at;
	}
	return true;
}

/* Branches that lead to `at` come in: what they have not seen written is unknown. */
static void come_in(struct loop *l, size_t at)
{
	for (size_t i = 0; i < l->ahead_len;) {
		const uint64_t written = l->ahead[i].written;

		if (l->ahead[i].to != at) {
			i++;
			continue;
		}
		l->ahead[i] = l->ahead[--l->ahead_len];
		l->dead = false;
		for (uint8_t k = 0; k < UNKNOWNS; k++)
			if (written >> k & 1)
				write_to(l, k, &unknown);
	}
}

/* Run the loop once. Returns false where its code is not understood. */
static bool pass(struct loop *l, const struct inner *inner, size_t inner_len)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	l->dead = false;
	l->ahead_len = 0;
	memcpy(l->values, l->first, sizeof(l->values));
	for (size_t at = l->begin; at <= l->end; at += in.length) {
		bool branches, falls = true;
		int64_t target;

		come_in(l, at);
		for (size_t i = 0; i < inner_len; i++)
			if (inner[i].begin == at && at != l->begin &&
			    !enter_inner(l, at, inner[i].end))
				return false;
		if (!decode(l, at, &in, ops))
			return false;
		branches = in.meta.category == ZYDIS_CATEGORY_COND_BR ||
		           in.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
		falls = in.meta.category == ZYDIS_CATEGORY_COND_BR ||
		        (!branches && in.meta.category != ZYDIS_CATEGORY_RET &&
		         in.mnemonic != ZYDIS_MNEMONIC_UD2 && in.mnemonic != ZYDIS_MNEMONIC_HLT);
		if (at == l->end)
			break;
		if (branches && ops[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
			target = (int64_t)at + in.length + ops[0].imm.value.s;
			if (!l->dead && target > (int64_t)at && target <= (int64_t)l->end) {
				if (l->ahead_len == BRANCHES)
					return false;
				l->ahead[l->ahead_len++] = (struct ahead){ .to = (size_t)target };
			}
		} else if (!branches) {
			run(l, at, &in, ops);
			if (l->written >> SP & 1)
				return false; /* words of the frame have other names */
		}
		if (!falls)
			l->dead = true;
	}
	return !l->dead;
}

/* By how much an unknown grows in a round of the loop; of what itself does not. */
static struct sum growth(const struct loop *l, uint8_t what)
{
	const struct sum *end = &l->values[what];
	struct sum d = end->unknown ? unknown : add(*end, &l->first[what], -1);

	if (l->first[what].len != 1 || l->first[what].terms[0].of != what)
		return unknown; /* it is computed from others, which have their growth */
	for (size_t i = 0; i < d.len && !d.unknown; i++)
		if (d.terms[i].by != NOTHING || (l->written >> d.terms[i].of & 1))
			d.unknown = true;
	return d;
}

static bool is_none(const struct sum *s)
{
	return !s->unknown && !s->len && !s->number;
}

/* By how much a sum grows in a round; unknown where it does not grow evenly. */
static struct sum growth_of(const struct loop *l, const struct sum *s)
{
	struct sum all = number(0);

	for (size_t i = 0; i < s->len && !all.unknown; i++) {
		const struct term *t = &s->terms[i];
		const struct sum of = growth(l, t->of);
		struct sum by, product;

		if (t->by == NOTHING) {
			all = add(all, &of, t->factor);
			continue;
		}
		by = growth(l, t->by);
		if (is_none(&by)) {
			product = itself(t->by);
			product = multiply(&of, &product);
		} else if (is_none(&of)) {
			product = itself(t->of);
			product = multiply(&by, &product);
		} else {
			return unknown;
		}
		all = add(all, &product, t->factor);
	}
	return s->unknown ? unknown : all;
}

/*
 * A register may be computed at the end of a round for the next one, as the product of an index is:
 * where a round begins it is then what it is at the end of one, less what that grows by.
 */
static bool begin_with_computed(struct loop *l)
{
	struct sum first[UNKNOWNS];
	bool any = false;

	for (uint8_t i = 0; i < UNKNOWNS; i++) {
		const struct sum own = growth(l, i);
		struct sum grown, start;

		first[i] = l->first[i];
		if (!own.unknown || l->values[i].unknown)
			continue;
		grown = growth_of(l, &l->values[i]);
		start = add(l->values[i], &grown, -1);
		if (start.unknown)
			continue;
		first[i] = start;
		any = true;
	}
	memcpy(l->first, first, sizeof(first));
	return any;
}

/* The growth of the address, of one unknown at most. Returns false where there is none. */
static bool find_growth(struct loop *l)
{
	l->step = growth_of(l, &l->address);
	if (l->step.unknown || l->step.len > 1 || is_none(&l->step) ||
	    (l->step.len && l->step.terms[0].by != NOTHING) ||
	    !sum_at_sample(l, &l->step, &l->whole) || !l->whole)
		return false;
	l->whole = l->whole < 0 ? -l->whole : l->whole;
	return true;
}

/* Are they `whole` / n apart each? They are sorted, and the first is 0. */
static bool evenly(const int64_t *at, size_t n, int64_t whole)
{
	for (size_t i = 0; i < n; i++)
		if (at[i] * (int64_t)n != whole * (int64_t)i)
			return false;
	return n > 0 && whole % (int64_t)n == 0;
}

/* Into how many equal steps do the accesses of an unrolled loop divide its step, `whole` > 0? */
static int64_t parts(struct loop *l, int64_t whole)
{
	int64_t *at = l->others;
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < l->others_len; i++) {
		const int64_t place = (at[i] % whole + whole) % whole;
		size_t k = n;

		while (k > 0 && at[k - 1] > place)
			k--;
		if (k > 0 && at[k - 1] == place)
			continue;
		memmove(&at[k + 1], &at[k], (n - k) * sizeof(*at));
		at[k] = place;
		n++;
	}
	if (evenly(at, n, whole))
		return n == 1 && l->unclear && whole >= LINE_BYTES && whole > l->width &&
		               whole <= UNROLLED_MAX
		           ? 0
		           : (int64_t)n;
	if (whole < LINE_BYTES)
		return 1;
	if (whole <= UNROLLED_MAX)
		return 0; /* an unrolled loop that is not fully understood */
	/* Accesses to one cache line belong together, like the two halves of a complex number. */
	for (size_t i = 0; i < n; i++)
		if (!kept || at[i] - at[kept - 1] >= LINE_BYTES)
			at[kept++] = at[i];
	return evenly(at, kept, whole) ? (int64_t)kept : 0;
}

static void set_step(struct loop *l, struct lc_step *out)
{
	const int64_t factor = l->step.len ? l->step.terms[0].factor : 0;
	const uint8_t of = l->step.terms[0].of;
	int64_t n = parts(l, l->whole);

	/* A vector of a whole cache line is two halves: a step of a line passes over some of it. */
	if (n && l->width >= LINE_BYTES && l->whole / n <= l->width)
		n *= 2;
	if (!n || l->step.number % n || factor % n || l->step.number != (int32_t)l->step.number)
		return;
	*out = (struct lc_step){ .kind = LC_STEP_CONSTANT,
		                 .bytes = (int32_t)(l->step.number / n),
		                 .factor = (int32_t)(factor / n) };
	if (!factor)
		return;
	out->kind = of < LC_REGISTERS ? LC_STEP_REGISTER : LC_STEP_STACK;
	if (of < LC_REGISTERS)
		out->reg = of;
	else
		out->slot = (int16_t)l->slots[of - LC_REGISTERS];
}

/* Find the smallest loop around bytes[at]: a branch behind it to a place before it. */
static bool find_loop(const struct lc_code_bytes *code, size_t from, size_t at, struct loop *l)
{
	const size_t end = code->len - at < BEHIND_BYTES ? code->len : at + BEHIND_BYTES;
	size_t length;

	for (size_t i = at; i < end; i += length) {
		int64_t target = 0;

		if (l->code && i - at >= l->end - l->begin)
			break; /* a loop that ends here or later is larger */

		length = lc_insn_step(code->bytes + i, code->len - i, &target);
		if (!length)
			break;
		if (target >= 0 || (size_t)-target > i - from || i - (size_t)-target > at)
			continue;
		if (!l->code || (size_t)-target < l->end - l->begin) {
			l->code = code;
			l->begin = i - (size_t)-target;
			l->end = i;
		}
	}
	return l->code;
}

/* Does an instruction begin at `at`, decoded from `from`? */
static bool leads_to(const struct lc_code_bytes *code, size_t from, size_t at)
{
	while (from < at) {
		int64_t target;
		const size_t length = lc_insn_step(code->bytes + from, code->len - from, &target);

		if (!length)
			return false;
		from += length;
	}
	return from == at;
}

void lc_step_find(const struct lc_code_bytes *code, size_t from, size_t at,
                  const struct lc_registers *regs, bool same_stack, struct lc_step *out)
{
	struct inner inner[BRANCHES];
	struct loop l;
	size_t inner_len;

	*out = (struct lc_step){ .kind = LC_STEP_UNKNOWN };
	l.code = NULL;
	if (at >= code->len || from > at || !find_loop(code, from, at, &l) ||
	    !leads_to(code, l.begin, at))
		return;
	l.access = at;
	l.regs = regs;
	l.same_stack = same_stack;
	l.slots_len = l.others_len = 0;
	l.written = 0;
	l.found = l.second = l.unclear = false;
	for (uint8_t i = 0; i < UNKNOWNS; i++)
		l.first[i] = itself(i);
	ZydisDecoderInit(&l.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!find_inner(&l, inner, &inner_len) || !pass(&l, inner, inner_len) || !l.found ||
	    l.address.unknown)
		return;
	if (begin_with_computed(&l)) {
		l.found = false;
		if (!pass(&l, inner, inner_len))
			return;
	}
	if (!find_growth(&l))
		return;
	l.second = true;
	if (pass(&l, inner, inner_len))
		set_step(&l, out);
}

uint32_t lc_step_bytes(const struct lc_step *step, const struct lc_registers *regs, bool same_stack)
{
	int64_t bytes = step->bytes;
	int32_t by = 0;

	if (step->kind < LC_STEP_CONSTANT)
		return 0;
	if (step->kind == LC_STEP_REGISTER)
		by = (int32_t)(uint32_t)regs->r[step->reg];
	else if (step->kind == LC_STEP_STACK &&
	         (!same_stack ||
	          !lc_peek(regs->r[SP] + (uint64_t)(int64_t)step->slot, &by, sizeof(by))))
		return 0;
	bytes += (int64_t)step->factor * by;
	bytes = bytes < 0 ? -bytes : bytes;
	return bytes <= UINT32_MAX ? (uint32_t)bytes : 0;
}
