/* SPDX-License-Identifier: Apache-2.0 */
/* sample/loaded_by.c - follows the base of an operand back to the load that it came from. */
#include "src/sample/loaded_by.h"

#include "src/core/record.h"
#include "src/format/kinds.h"
#include "src/sample/decode.h"
#include "src/sample/insn.h"
#include "src/sample/ways.h"

enum {
	COPIES_MAX = 4,
	HEAP_BASE = 12,   /* number of the register that holds the heap's base, if one does */
	NARROW_SCALE = 8, /* of a compressed reference that is not an address yet */
	REX = 0x40,
	REX_MASK = 0xf0,
	MOV_LOAD = 0x8b,
	WIDTH_INT = 2, /* log2 of a reference's bytes */
	WIDTH_LONG = 3,
};

static bool decode(const struct lc_code_bytes *code, size_t at, struct lc_insn *in)
{
	return at < code->len && lc_insn_decode(code->bytes + at, code->len - at, code->native, in);
}

/* The register of the operand that has the reference. */
static uint8_t reference_in(const struct lc_insn *in)
{
	const bool narrow = in->index != LC_NO_REGISTER && in->scale == NARROW_SCALE &&
	                    (in->base == HEAP_BASE || in->base == LC_NO_REGISTER);

	return narrow ? in->index : in->base;
}

/* The register whose reference the instruction writes to another; or LC_NO_REGISTER. */
static uint8_t copied_from(const struct lc_insn *in)
{
	if (in->copy_to != LC_NO_REGISTER)
		return in->copy_from;
	/* lea of a compressed reference */
	if (in->address_to != LC_NO_REGISTER && !in->disp && in->scale == NARROW_SCALE &&
	    (in->base == HEAP_BASE || in->base == LC_NO_REGISTER))
		return in->index;
	return LC_NO_REGISTER;
}

static bool is_load(const struct lc_code_bytes *code, size_t at, const struct lc_insn *in)
{
	const unsigned width = in->access >> LC_ACCESS_WIDTH_SHIFT;
	size_t opcode = at;

	if (opcode < code->len && (code->bytes[opcode] & REX_MASK) == REX)
		opcode++;
	return opcode < code->len && code->bytes[opcode] == MOV_LOAD && in->memory && !in->vector &&
	       !in->own && (width == WIDTH_INT || width == WIDTH_LONG);
}

bool lc_loaded_by_disp(const struct lc_code_bytes *code, size_t at, int32_t *disp)
{
	struct lc_insn in;

	if (!decode(code, at, &in) || !is_load(code, at, &in))
		return false;
	*disp = in.disp;
	return true;
}

bool lc_loaded_by(const struct lc_code_bytes *code, const struct lc_ways *ways, size_t at,
                  size_t *load)
{
	struct lc_insn in;
	uint8_t reg;
	size_t by;

	if (!decode(code, at, &in) || !in.memory || in.own || in.vector || in.moves)
		return false;
	reg = reference_in(&in);
	if (reg == LC_NO_REGISTER)
		return false;
	for (unsigned i = 0; i <= COPIES_MAX; i++) {
		if (!lc_ways_written(code, ways, at, reg, &by) || !decode(code, by, &in))
			return false;
		if (is_load(code, by, &in)) {
			*load = by;
			return true;
		}
		reg = copied_from(&in);
		if (reg == LC_NO_REGISTER)
			return false;
		at = by;
	}
	return false;
}
