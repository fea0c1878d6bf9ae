/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/insn_role.c - sorts instructions by their part in the flow of values between the
 * operand stack, local variables, fields and arrays.
 */
#include "src/classfile/insn_role.h"

enum {
	TYPES = 5, /* int, long, float, double, reference */
	ROLE_WIDE = LC_ROLE_ARETURN + 1,
};

static const uint8_t roles[256] = {
	[LC_OP_ILOAD... LC_OP_ALOAD_3] = LC_ROLE_LOAD,
	[LC_OP_AALOAD] = LC_ROLE_AALOAD,
	[LC_OP_ISTORE... LC_OP_ASTORE_3] = LC_ROLE_STORE,
	[LC_OP_AASTORE] = LC_ROLE_AASTORE,
	[LC_OP_DUP... LC_OP_SWAP] = LC_ROLE_SHUFFLE,
	[LC_OP_ARETURN] = LC_ROLE_ARETURN,
	[LC_OP_GETSTATIC... LC_OP_PUTFIELD] = LC_ROLE_FIELD,
	[LC_OP_INVOKEVIRTUAL... LC_OP_INVOKEDYNAMIC] = LC_ROLE_CALL,
	[LC_OP_NEW... LC_OP_ANEWARRAY] = LC_ROLE_NEW,
	[LC_OP_CHECKCAST] = LC_ROLE_CAST,
	[LC_OP_WIDE] = ROLE_WIDE,
	[LC_OP_MULTIANEWARRAY] = LC_ROLE_NEW,
};

enum lc_insn_role lc_insn_role(const uint8_t *insn)
{
	uint8_t role = roles[*insn];

	if (role != ROLE_WIDE)
		return (enum lc_insn_role)role;
	role = roles[insn[1]];
	return role == LC_ROLE_LOAD || role == LC_ROLE_STORE ? (enum lc_insn_role)role
	                                                     : LC_ROLE_OTHER;
}

/* The opcodes are five types followed by a number, then four of each type. */
struct lc_insn_local lc_insn_local(const uint8_t *insn)
{
	const bool wide = *insn == LC_OP_WIDE;
	const uint8_t opcode = wide ? insn[1] : *insn;
	const uint32_t op = opcode - (opcode < LC_OP_ISTORE ? (uint32_t)LC_OP_ILOAD : LC_OP_ISTORE);
	const uint32_t type = op < TYPES ? op : (op - TYPES) / 4;

	return (struct lc_insn_local){
		.slot = op >= TYPES ? (op - TYPES) % 4
		        : wide      ? lc_be_get2(insn + 2)
		                    : insn[1],
		.is_wide = type == 1 || type == 3,
		.is_reference = type == TYPES - 1,
	};
}

struct lc_insn_shuffle lc_insn_shuffle(uint8_t op)
{
	static const struct lc_insn_shuffle shuffles[] = {
		{ 1, "00" },    { 2, "101" },    { 3, "2012" }, { 2, "0101" },
		{ 3, "12012" }, { 4, "230123" }, { 2, "10" },
	};

	return shuffles[op - LC_OP_DUP];
}

const char *lc_insn_skip_type(const char *d, const char *end)
{
	while (d < end && *d == '[')
		d++;
	if (d < end && *d == 'L')
		while (d < end && *d != ';')
			d++;
	return d < end ? d + 1 : end;
}
