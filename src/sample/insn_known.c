/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/insn_known.c - decodes in full the instructions that stand most often near a sample, by
 * itself. All others are left to Zydis, with which test_insn_step.c compares what is decoded here.
 */
#include <string.h>

#include "src/core/record.h"
#include "src/format/kinds.h"
#include "src/sample/decode.h"
#include "src/sample/insn.h"

enum {
	PREFIX_66 = 0x66,
	REGISTERS = 3, /* of an operand's first byte, the upper bits: no memory */
	SP = 4,
	THREAD = 15,
	LONGEST = 15,
	READ = 1,
	WRITE = 2,
};

/* The bytes of an instruction. */
struct reader {
	const uint8_t *at;
	bool prefix_66, rex, wide;
	unsigned upper_reg, upper_index, upper_base; /* 8 or 0: from REX */
};

/* An instruction's effect on its operands. */
struct form {
	enum { OTHER, MOVES, TESTS, ADDS, SUBTRACTS, SHIFTS_RIGHT, ADDRESS_ONLY } what;
	uint8_t operand, reg;       /* READ, WRITE: the one that may be memory, and the other */
	uint8_t operand_bits, bits; /* their sizes; 8 bits: of the first one */
	uint8_t constant_bytes;
	bool has_reg, constant_one;
	bool bits_count; /* the constant says by how many bits to shift */
};

static bool describe_arithmetic(unsigned which, struct form *f)
{
	enum { ADD = 0, SUB = 5, CMP = 7 };

	f->what = which == ADD ? ADDS : which == SUB ? SUBTRACTS : OTHER;
	return which != CMP;
}

/* One-byte opcodes. `which`: the bits of the operand's first byte that tell eight of them apart. */
static bool describe(uint8_t opcode, unsigned which, unsigned bits, struct form *f)
{
	const bool byte = !(opcode & 1);
	const uint8_t wide_constant = bits == 16 ? 2 : 4;

	f->bits = f->operand_bits = byte ? 8 : (uint8_t)bits;
	f->has_reg = true;
	if (opcode < 0x40 && (opcode & 7) < 4) {
		const bool writes = describe_arithmetic(opcode >> 3, f);

		f->operand = READ;
		f->reg = READ;
		if (writes)
			*(opcode & 2 ? &f->reg : &f->operand) |= WRITE;
		return true;
	}
	switch (opcode) {
	case 0x63:
		f->reg = WRITE;
		f->operand = READ;
		f->bits = (uint8_t)bits;
		f->operand_bits = 32;
		return bits == 64;
	case 0x84:
	case 0x85:
		f->what = TESTS;
		f->reg = f->operand = READ;
		return true;
	case 0x88:
	case 0x89:
		f->what = MOVES;
		f->reg = READ;
		f->operand = WRITE;
		return true;
	case 0x8a:
	case 0x8b:
		f->what = MOVES;
		f->reg = WRITE;
		f->operand = READ;
		return true;
	case 0x8d:
		f->what = ADDRESS_ONLY;
		f->reg = WRITE;
		f->bits = (uint8_t)bits;
		return true;
	default:
		break;
	}
	f->has_reg = false;
	switch (opcode) {
	case 0x80:
	case 0x81:
	case 0x83:
		f->operand = describe_arithmetic(which, f) ? READ | WRITE : READ;
		f->constant_bytes = opcode == 0x81 ? wide_constant : 1;
		return true;
	case 0xc1:
	case 0xd1:
		f->what = which == 5 ? SHIFTS_RIGHT : OTHER;
		f->operand = READ | WRITE;
		f->constant_bytes = opcode == 0xc1;
		f->constant_one = opcode == 0xd1;
		f->bits_count = true;
		return which == 4 || which == 5 || which == 7;
	case 0xc6:
	case 0xc7:
		f->what = MOVES;
		f->operand = WRITE;
		f->constant_bytes = byte ? 1 : wide_constant;
		return !which;
	case 0xff:
		f->operand = READ | WRITE;
		return which < 2;
	default:
		return false;
	}
}

/* Behind 0f. */
static bool describe_two(uint8_t opcode, unsigned bits, struct form *f)
{
	f->bits = f->operand_bits = (uint8_t)bits;
	f->has_reg = true;
	f->operand = READ;
	f->reg = WRITE;
	if (opcode >> 4 == 4) /* cmov */
		return true;
	switch (opcode) {
	case 0xaf:
		f->reg |= READ;
		return true;
	case 0xb6:
	case 0xbe:
		f->operand_bits = 8;
		return true;
	case 0xb7:
	case 0xbf:
		f->operand_bits = 16;
		return bits >= 32;
	default:
		return false;
	}
}

/* The number of a register, of `bits`: without REX the upper four of 8 bits are parts of others. */
static uint8_t number_of(const struct reader *r, unsigned number, unsigned bits)
{
	return (uint8_t)(bits == 8 && !r->rex && number >= 4 ? number - 4 : number);
}

static int32_t constant_at(const uint8_t *at, size_t bytes)
{
	int16_t two;
	int32_t four = 0;

	if (bytes == 1)
		return (int8_t)*at;
	memcpy(bytes == 2 ? (void *)&two : (void *)&four, at, bytes);
	return bytes == 2 ? two : four;
}

/* An operand in memory. */
struct place {
	uint8_t base, index, scale;
	bool in_code; /* relative to the instruction */
	int32_t disp;
};

static struct place read_place(struct reader *r)
{
	const unsigned mode = *r->at >> 6, low = *r->at & 7;
	struct place p = { .base = (uint8_t)(low | r->upper_base),
		           .index = LC_NO_REGISTER,
		           .scale = 1 };
	size_t bytes = mode == 1 ? 1 : mode == 2 ? 4 : 0;

	r->at++;
	if (low == 4) {
		const unsigned index = (*r->at >> 3 & 7) | r->upper_index;

		p.base = (uint8_t)((*r->at & 7) | r->upper_base);
		if (index != SP) {
			p.index = (uint8_t)index;
			p.scale = (uint8_t)(1u << (*r->at >> 6));
		}
		if (!mode && (*r->at & 7) == 5) {
			p.base = LC_NO_REGISTER;
			bytes = 4;
		}
		r->at++;
	} else if (!mode && low == 5) {
		p.base = LC_NO_REGISTER;
		p.in_code = true;
		bytes = 4;
	}
	if (bytes)
		p.disp = constant_at(r->at, bytes);
	r->at += bytes;
	return p;
}

static void set_place(struct lc_insn *out, const struct form *f, const struct place *p, bool native)
{
	const bool own = p->in_code || p->base == SP || (p->base == THREAD && !native);

	if (!own && p->base == LC_NO_REGISTER && p->index == LC_NO_REGISTER)
		return; /* at an address that the code names: neither */
	out->memory = !own;
	out->own = own;
	out->base = p->base;
	out->index = p->index;
	out->scale = p->scale;
	out->disp = p->disp;
	out->access =
	    (uint8_t)((unsigned)__builtin_ctz(f->operand_bits / 8u) << LC_ACCESS_WIDTH_SHIFT);
	if (f->operand & READ)
		out->access |= LC_TOUCH_LOAD;
	if (f->operand & WRITE)
		out->access |= LC_TOUCH_STORE;
	if (own)
		out->access |= LC_ACCESS_OWN;
	else
		out->polls = !native && f->what == TESTS && !p->disp && p->index == LC_NO_REGISTER;
}

static void set_address(struct lc_insn *out, const struct place *p, uint8_t to)
{
	out->address_to = to;
	out->base = p->base;
	out->index = p->index;
	out->scale = p->scale;
	out->disp = p->disp;
}

static void set_move(struct lc_insn *out, const struct form *f, const struct place *memory,
                     uint8_t operand, uint8_t reg)
{
	if (!f->has_reg)
		return;
	if (memory && f->reg == WRITE && memory->base == THREAD)
		out->from_thread = reg;
	else if (memory && f->reg == READ)
		out->store_from = reg;
	else if (!memory && f->bits == 64) {
		out->copy_to = f->reg == WRITE ? reg : operand;
		out->copy_from = f->reg == WRITE ? operand : reg;
	}
}

/* Set the values of a move, addition, subtraction or shift. `to`: the destination register, if any.
 */
static void set_values(struct lc_insn *out, const struct form *f, uint8_t to, uint8_t from,
                       bool has_constant, int64_t constant)
{
	if (f->what == MOVES) {
		if (!has_constant || f->operand_bits < 32)
			return;
		out->constant = true;
		out->value = f->operand_bits == 32 ? (uint32_t)constant : (uint64_t)constant;
		out->constant_to = to;
		return;
	}
	if (to == LC_NO_REGISTER || f->bits != 64)
		return;
	if (has_constant)
		out->value = (uint64_t)constant;
	if (f->what == ADDS) {
		out->add_to = to;
		out->add_from = from;
	} else if (f->what == SUBTRACTS) {
		out->sub_to = to;
		out->sub_from = from;
	} else if (f->what == SHIFTS_RIGHT) {
		out->shr_to = to;
	}
}

static void write_to(struct lc_insn *out, uint8_t reg)
{
	out->written |= (uint16_t)(1u << reg);
}

/* An instruction with an operand that may be memory. */
static void decode_operands(struct reader *r, const struct form *f, bool native,
                            struct lc_insn *out)
{
	const unsigned first = *r->at;
	const bool has_constant = f->constant_bytes || f->constant_one;
	const uint8_t reg = number_of(r, (first >> 3 & 7) | r->upper_reg, f->bits);
	uint8_t operand = LC_NO_REGISTER, to, from = LC_NO_REGISTER;
	int64_t constant = f->constant_one;
	struct place place;

	if (first >> 6 == REGISTERS) {
		operand = number_of(r, (first & 7) | r->upper_base, f->operand_bits);
		r->at++;
	} else {
		place = read_place(r);
		if (f->what != ADDRESS_ONLY)
			set_place(out, f, &place, native);
		else if (f->bits == 64 && !place.in_code)
			set_address(out, &place, reg);
	}
	if (f->constant_bytes)
		constant = f->bits_count ? *r->at : constant_at(r->at, f->constant_bytes);
	r->at += f->constant_bytes;
	if (f->has_reg && (f->reg & WRITE))
		write_to(out, reg);
	if (operand != LC_NO_REGISTER && (f->operand & WRITE))
		write_to(out, operand);
	if (f->what == MOVES)
		set_move(out, f, operand == LC_NO_REGISTER ? &place : NULL, operand, reg);
	/* The first of the two operands is the one that is written, or else no register's name. */
	to = f->has_reg && (f->reg & WRITE) ? reg : operand;
	if (f->has_reg && operand != LC_NO_REGISTER)
		from = to == reg && (f->reg & WRITE) ? operand : reg;
	if ((f->what != ADDS && f->what != SUBTRACTS) || from != LC_NO_REGISTER || has_constant)
		set_values(out, f, to, from, has_constant, constant);
}

/* A word of the stack is read or written, at rsp. */
static void use_stack(struct lc_insn *out, uint8_t touch)
{
	out->own = true;
	out->base = SP;
	out->scale = 1;
	out->access = (uint8_t)(3u << LC_ACCESS_WIDTH_SHIFT | touch | LC_ACCESS_OWN);
	write_to(out, SP);
}

/* Calls, returns, push and pop. */
static bool decode_stack(struct reader *r, struct lc_insn *out)
{
	const uint8_t opcode = *r->at, reg = (uint8_t)((opcode & 7) | r->upper_base);

	if (r->prefix_66 || (opcode >> 4 != 5 && (r->rex || (opcode != 0xe8 && opcode != 0xc3))))
		return false;
	r->at++;
	if (opcode >> 4 == 5) {
		out->falls = true;
		use_stack(out, opcode & 8 ? LC_TOUCH_LOAD : LC_TOUCH_STORE);
		if (opcode & 8)
			write_to(out, reg);
		return true;
	}
	out->control = true;
	out->calls = opcode == 0xe8;
	use_stack(out, out->calls ? LC_TOUCH_STORE : LC_TOUCH_LOAD);
	r->at += out->calls ? 4 : 0;
	return true;
}

/* A branch, or a constant that goes to a register. */
static bool decode_simple(struct reader *r, struct lc_insn *out, bool *branches)
{
	const bool two = *r->at == 0x0f;
	const uint8_t opcode = r->at[two];
	const bool near = two ? false : opcode == 0xeb || opcode >> 4 == 7;

	*branches = near || (!two && opcode == 0xe9) || (two && opcode >> 4 == 8);
	if (*branches) {
		out->control = true;
		out->falls = two || opcode >> 4 == 7;
		r->at += two + 1;
		out->target = constant_at(r->at, near ? 1 : 4);
		r->at += near ? 1 : 4;
		return !r->prefix_66;
	}
	if (two || opcode < 0xb8 || opcode > 0xbf || r->prefix_66)
		return false;
	out->falls = out->constant = true;
	out->constant_to = (uint8_t)((opcode & 7) | r->upper_base);
	write_to(out, out->constant_to);
	r->at++;
	if (r->wide)
		memcpy(&out->value, r->at, sizeof(out->value));
	else
		out->value = (uint32_t)constant_at(r->at, 4);
	r->at += r->wide ? 8 : 4;
	return true;
}

bool lc_insn_known_decode(const uint8_t *bytes, size_t len, bool native, struct lc_insn *out)
{
	struct reader r = { .at = bytes };
	struct form f = { .what = OTHER };
	unsigned bits;
	bool branches;

	if (len < LONGEST)
		return false;
	*out = (struct lc_insn){ .base = LC_NO_REGISTER,
		                 .index = LC_NO_REGISTER,
		                 .copy_to = LC_NO_REGISTER,
		                 .copy_from = LC_NO_REGISTER,
		                 .address_to = LC_NO_REGISTER,
		                 .store_from = LC_NO_REGISTER,
		                 .constant_to = LC_NO_REGISTER,
		                 .add_to = LC_NO_REGISTER,
		                 .add_from = LC_NO_REGISTER,
		                 .sub_to = LC_NO_REGISTER,
		                 .sub_from = LC_NO_REGISTER,
		                 .shr_to = LC_NO_REGISTER,
		                 .from_thread = LC_NO_REGISTER };
	r.prefix_66 = *r.at == PREFIX_66;
	r.at += r.prefix_66;
	if (*r.at >> 4 == 4) {
		r.rex = true;
		r.wide = *r.at & 8;
		r.upper_reg = (unsigned)(*r.at & 4) << 1;
		r.upper_index = (unsigned)(*r.at & 2) << 2;
		r.upper_base = (unsigned)(*r.at & 1) << 3;
		r.at++;
	}
	if (decode_stack(&r, out)) {
		out->length = (uint8_t)(r.at - bytes);
		return true;
	}
	if (decode_simple(&r, out, &branches)) {
		out->length = (uint8_t)(r.at - bytes);
		if (branches)
			out->target += out->length;
		return true;
	}
	bits = r.wide ? 64 : r.prefix_66 ? 16 : 32;
	out->falls = true;
	if (branches || !(*r.at == 0x0f ? describe_two(r.at[1], bits, &f)
	                                : describe(*r.at, r.at[1] >> 3 & 7, bits, &f)))
		return false;
	r.at += *r.at == 0x0f ? 2 : 1;
	if (f.what == ADDRESS_ONLY && *r.at >> 6 == REGISTERS)
		return false;
	decode_operands(&r, &f, native, out);
	out->length = (uint8_t)(r.at - bytes);
	return true;
}
