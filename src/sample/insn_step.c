/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/insn_step.c - finds the length of the most frequent instructions by tables of its own,
 * without Zydis.
 *
 * A sample steps over hundreds of instructions, with cold caches. Zydis reads many cache lines for
 * each, these tables few. An instruction that they do not know for certain is left to Zydis.
 * test_insn_step.c compares both over all prefixes, opcodes and operands.
 */
#include <string.h>

#include "src/sample/insn.h"

/* By the opcode, sixteen in a row, which of kinds[] the instruction is; "." is not known. */
static const char one_byte[] = "mmmm8z..mmmm8z.."
                               "mmmm8z..mmmm8z.."
                               "mmmm8z..mmmm8z.."
                               "mmmm8z..mmmm8z.."
                               "................"
                               "oooooooooooooooo"
                               "...m....zd8i...."
                               "bbbbbbbbbbbbbbbb"
                               "id.kmmmmmmmm.l.9"
                               "rooooooooo..oo.."
                               "....rrrr8zrrrrrr"
                               "88888888vvvvvvvv"
                               "iiwn..12.o..n..."
                               "mmmm............"
                               "bbbb....cj.b...."
                               "....n.34......56";

/* Behind 0f. */
static const char two_bytes[] = ".....n.....n...."
                                "ss......0......m"
                                "........pps.sspp"
                                "................"
                                "mmmmmmmmmmmmmmmm"
                                ".s..ppppsss.ssss"
                                "..............pq"
                                "..............qq"
                                "jjjjjjjjjjjjjjjj"
                                "mmmmmmmmmmmmmmmm"
                                "..nmim.....mim.m"
                                "aa.m..mmt.7muumm"
                                "aa......oooooooo"
                                "......x........."
                                "...............p"
                                "................";

/* The prefixes that an instruction may have. */
enum { PLAIN = 1, WITH_66 = 2, WITH_F3 = 4, WITH_F2 = 8, LOCKED = 16 };

/* The constant behind an instruction. */
enum constant { NONE, BYTE, TWO_BYTES, FOUR_BYTES, WORD, WORD_OR_MORE, CONSTANTS };

/* Its bytes with operands of 32, 16 and 64 bits. */
static const uint8_t constant_bytes[CONSTANTS][3] = {
	[NONE] = { 0, 0, 0 },       [BYTE] = { 1, 1, 1 }, [TWO_BYTES] = { 2, 2, 2 },
	[FOUR_BYTES] = { 4, 4, 4 }, [WORD] = { 4, 2, 4 }, [WORD_OR_MORE] = { 4, 2, 8 },
};

/*
 * The bytes after an opcode. Three bits of the operand may tell eight instructions apart. `which`:
 * those that are known; `constant_of`: those that have the constant.
 */
struct kind {
	uint8_t prefixes;
	bool operand, memory_only, branches;
	uint8_t constant; /* enum constant */
	uint8_t which, constant_of;
};

#define NO_OPERAND .which = 0xff, .constant_of = 0xff
#define OPERAND .operand = true, .which = 0xff, .constant_of = 0xff

static const struct kind kinds[128] = {
	['n'] = { PLAIN, NO_OPERAND },
	['o'] = { PLAIN | WITH_66, NO_OPERAND },
	['r'] = { PLAIN | WITH_66 | WITH_F2 | WITH_F3, NO_OPERAND }, /* strings, pause */
	['8'] = { PLAIN | WITH_66, .constant = BYTE, NO_OPERAND },
	['w'] = { PLAIN, .constant = TWO_BYTES, NO_OPERAND },
	['z'] = { PLAIN | WITH_66, .constant = WORD, NO_OPERAND },
	['v'] = { PLAIN | WITH_66, .constant = WORD_OR_MORE, NO_OPERAND },
	['b'] = { PLAIN, .branches = true, .constant = BYTE, NO_OPERAND },
	['j'] = { PLAIN, .branches = true, .constant = FOUR_BYTES, NO_OPERAND },
	['c'] = { PLAIN, .constant = FOUR_BYTES, NO_OPERAND },
	['m'] = { PLAIN | WITH_66, OPERAND },
	['l'] = { PLAIN | WITH_66, .memory_only = true, OPERAND },
	['i'] = { PLAIN | WITH_66, .constant = BYTE, OPERAND },
	['d'] = { PLAIN | WITH_66, .constant = WORD, OPERAND },
	/* May have a lock prefix, if the operand is memory. */
	['a'] = { PLAIN | WITH_66 | LOCKED, OPERAND },
	['k'] = { PLAIN | WITH_66 | LOCKED, .constant = BYTE, OPERAND },
	/* Vectors, and bits. */
	['p'] = { PLAIN | WITH_66, OPERAND },
	['q'] = { PLAIN | WITH_66 | WITH_F3, OPERAND },
	['s'] = { PLAIN | WITH_66 | WITH_F2 | WITH_F3, OPERAND },
	['t'] = { WITH_F3, OPERAND },
	['u'] = { PLAIN | WITH_F3, OPERAND },
	['x'] = { WITH_66, OPERAND },
	/* Eight in one. */
	['0'] = { PLAIN, true, .memory_only = true, .which = 0x0f }, /* prefetch */
	['1'] = { PLAIN | WITH_66, true, .constant = BYTE, .which = 0x01, .constant_of = 0x01 },
	['2'] = { PLAIN | WITH_66, true, .constant = WORD, .which = 0x01, .constant_of = 0x01 },
	['3'] = { PLAIN | WITH_66, true, .constant = BYTE, .which = 0xff, .constant_of = 0x03 },
	['4'] = { PLAIN | WITH_66, true, .constant = WORD, .which = 0xff, .constant_of = 0x03 },
	['5'] = { PLAIN | WITH_66, true, .which = 0x03 },
	['6'] = { PLAIN | WITH_66, true, .which = 0x57 },
	['7'] = { PLAIN | WITH_66, true, .constant = BYTE, .which = 0xf0, .constant_of = 0xf0 },
	['9'] = { PLAIN | WITH_66, true, .which = 0x01 },
};

enum {
	LONGEST = 15,
	PREFIXES_MAX = 3, /* 66 */
	REGISTERS = 3,    /* of an operand's first byte, the upper bits: no memory */
	COMPARE = 1 << 7, /* of the eight at 83: it stores nothing */
	PREFIX_LOCK = 0xf0,
	PREFIX_66 = 0x66,
	PREFIX_F3 = 0xf3,
	PREFIX_F2 = 0xf2,
	VEX_3 = 0xc4,
	VEX_2 = 0xc5,
	EVEX = 0x62,
};

/*
 * Bytes of an operand: the byte that describes it, perhaps a second one, and a displacement. Reads
 * two bytes.
 */
static size_t operand_bytes(const uint8_t *at)
{
	const unsigned mode = at[0] >> 6, base = at[0] & 7;
	size_t n = 1;

	if (mode == REGISTERS)
		return n;
	if (base == 4) {
		n++;
		if (!mode && (at[1] & 7) == 5)
			n += 4;
	} else if (!mode && base == 5) {
		n += 4;
	}
	return n + (mode == 1 ? 1 : mode == 2 ? 4 : 0);
}

/* The instruction without its prefixes, of which `prefixes` is one, or PLAIN. */
static size_t step_over(const uint8_t *bytes, const uint8_t *at, unsigned prefixes, bool wide,
                        int64_t *target)
{
	const bool two = *at == 0x0f;
	const uint8_t opcode = at[two];
	const struct kind *k = &kinds[(unsigned)(two ? two_bytes : one_byte)[opcode]];
	const unsigned which = 1u << (at[two + 1] >> 3 & 7);
	size_t length;

	at += two + 1;
	if (!(k->prefixes & prefixes) ||
	    (k->operand && (!(k->which & which) || (k->memory_only && *at >> 6 == REGISTERS))))
		return 0;
	if (prefixes == LOCKED && (*at >> 6 == REGISTERS || (!two && which == COMPARE)))
		return 0;
	if (k->operand)
		at += operand_bytes(at);
	if (!k->operand || (k->constant_of & which))
		at += constant_bytes[k->constant][wide ? 2 : prefixes == WITH_66];
	length = (size_t)(at - bytes);
	if (k->branches && k->constant == BYTE) {
		*target = (int8_t)at[-1] + (int64_t)length;
	} else if (k->branches) {
		int32_t far;

		memcpy(&far, at - 4, sizeof(far));
		*target = far + (int64_t)length;
	}
	return length;
}

/* -- instructions of vectors ----------------------------------------------------------------- */

/* A decoded prefix of a vector instruction. */
struct vex {
	unsigned prefix; /* 0: none, 1: 66, 2: f3, 3: f2 */
	bool third;      /* it names a third register */
	bool upper;      /* the first register is one of the upper eight */
	bool long_vector, wide;
};

/* Is the instruction of the first table, with an operand and no constant, known? */
static bool knows_vector(struct vex v, uint8_t opcode, bool memory)
{
	const bool scalar = v.prefix >= 2;

	switch (opcode) {
	case 0x10: /* moves */
	case 0x11:
		return !v.third || (scalar && !memory);
	case 0x28:
	case 0x29:
	case 0x2e: /* compares */
	case 0x2f:
		return !scalar && !v.third && (opcode < 0x2e || !v.long_vector);
	case 0x2a: /* converts */
		return scalar && !v.long_vector;
	case 0x2c:
	case 0x2d:
		return scalar && !v.third && !v.long_vector;
	case 0x54: /* and, or, xor */
	case 0x55:
	case 0x56:
	case 0x57:
		return !scalar;
	case 0x58: /* arithmetic */
	case 0x59:
	case 0x5c:
	case 0x5d:
	case 0x5e:
	case 0x5f:
		return !scalar || !v.long_vector;
	case 0x5a:
		return scalar && !v.long_vector;
	case 0x6e: /* moves */
	case 0xd6:
		return v.prefix == 1 && !v.third && !v.long_vector;
	case 0x7e:
		return (v.prefix == 1 || v.prefix == 2) && !v.third && !v.long_vector;
	case 0x6f:
	case 0x7f:
		return (v.prefix == 1 || v.prefix == 2) && !v.third;
	case 0xdb:
	case 0xeb:
	case 0xef:
	case 0xfa:
	case 0xfb:
	case 0xfe:
	case 0xd4:
		return v.prefix == 1;
	case 0x92: /* masks */
		return !memory && !v.third && !v.upper && !v.long_vector &&
		       (v.prefix == 3 || (!v.prefix && !v.wide));
	default:
		return false;
	}
}

/* The second table: bits of general registers. */
static bool knows_bits(struct vex v, uint8_t opcode)
{
	if (v.long_vector)
		return false;
	return opcode == 0xf7 || (opcode == 0xf5 && v.prefix != 1) || (opcode == 0xf2 && !v.prefix);
}

static size_t step_over_vex(const uint8_t *bytes, const uint8_t *at)
{
	const bool three = *at == VEX_3;
	const uint8_t last = at[1 + three], opcode = at[2 + three];
	const struct vex v = { .prefix = last & 3,
		               .third = (last & 0x78) != 0x78,
		               .upper = !(at[1] & 0x80),
		               .long_vector = last & 4,
		               .wide = three && (last & 0x80) };
	const unsigned table = three ? at[1] & 0x1f : 1;

	at += 3 + three;
	if (table == 1 && opcode == 0x77) /* vzeroupper */
		return v.prefix || v.third || v.long_vector ? 0 : (size_t)(at - bytes);
	if (table == 1 ? !knows_vector(v, opcode, *at >> 6 != REGISTERS)
	               : table != 2 || !knows_bits(v, opcode))
		return 0;
	return (size_t)(at - bytes) + operand_bytes(at);
}

/*
 * Moves of vectors of 512 bits or with masks; nothing is broadcast or named besides, and what the
 * mask leaves out is zeroed in registers only.
 */
static size_t step_over_evex(const uint8_t *bytes, const uint8_t *at)
{
	const unsigned prefix = at[2] & 3;
	const uint8_t last = at[3], opcode = at[4];

	if ((at[1] & 0x0f) != 1 || (at[2] & 0x7c) != 0x7c || (last & 0x18) != 0x08 ||
	    (last & 0x60) == 0x60 || (opcode != 0x6f && opcode != 0x7f) || !prefix ||
	    ((last & 0x80) && (opcode != 0x6f || !(last & 7))))
		return 0;
	return (size_t)(at + 5 - bytes) + operand_bytes(at + 5);
}

/* -- all -------------------------------------------------------------------------------------- */

size_t lc_insn_known_step(const uint8_t *bytes, size_t len, int64_t *target)
{
	uint8_t padded[LONGEST + 1] = { 0 };
	const uint8_t *at = bytes;
	unsigned prefixes = PLAIN;
	bool wide = false;
	size_t length;

	*target = 0;
	if (len < LONGEST) { /* so much may be read, whatever stands there */
		memcpy(padded, bytes, len);
		at = bytes = padded;
	}
	if (*at == PREFIX_66)
		for (prefixes = WITH_66; *at == PREFIX_66 && at < bytes + PREFIXES_MAX; at++)
			;
	else if (*at == PREFIX_F3 || *at == PREFIX_F2 || *at == PREFIX_LOCK)
		prefixes = *at == PREFIX_F3 ? WITH_F3 : *at == PREFIX_F2 ? WITH_F2 : LOCKED, at++;
	if (*at >> 4 == 4) /* REX */
		wide = *at++ & 8;
	if (*at != VEX_2 && *at != VEX_3 && *at != EVEX)
		length = step_over(bytes, at, prefixes, wide, target);
	else if (at != bytes)
		length = 0;
	else
		length = *at == EVEX ? step_over_evex(bytes, at) : step_over_vex(bytes, at);
	if (length <= len)
		return length;
	*target = 0;
	return 0;
}
