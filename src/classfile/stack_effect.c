/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/stack_effect.c - tells what each instruction takes off the operand stack and puts on
 * it.
 */
#include "src/classfile/stack_effect.h"

/*
 * Words that an instruction takes off the stack and puts on it, as two characters; '?': its
 * operands tell.
 */
static const char effects[][3] = {
	/* nop to dconst_1 */
	"00", "01", "01", "01", "01", "01", "01", "01", "01", "02", "02", "01", "01", "01", "02",
	"02",
	/* bipush to ldc2_w, loads */
	"01", "01", "01", "01", "02", "01", "02", "01", "02", "01", "01", "01", "01", "01", "02",
	"02", "02", "02", "01", "01", "01", "01", "02", "02", "02", "02", "01", "01", "01", "01",
	/* iaload to saload */
	"21", "22", "21", "22", "21", "21", "21", "21",
	/* stores */
	"10", "20", "10", "20", "10", "10", "10", "10", "10", "20", "20", "20", "20", "10", "10",
	"10", "10", "20", "20", "20", "20", "10", "10", "10", "10",
	/* iastore to sastore */
	"30", "40", "30", "40", "30", "30", "30", "30",
	/* pop, pop2, dup to dup2_x2, swap */
	"10", "20", "12", "23", "34", "24", "35", "46", "22",
	/* iadd to drem, four types each */
	"21", "42", "21", "42", "21", "42", "21", "42", "21", "42", "21", "42", "21", "42", "21",
	"42", "21", "42", "21", "42",
	/* ineg to dneg, shifts, logic, iinc */
	"11", "22", "11", "22", "21", "32", "21", "32", "21", "32", "21", "42", "21", "42", "21",
	"42", "00",
	/* i2l to i2s */
	"12", "11", "12", "21", "21", "22", "11", "12", "12", "21", "22", "21", "11", "11", "11",
	/* lcmp to dcmpg */
	"41", "21", "21", "41", "41",
	/* ifeq to if_acmpne, goto, jsr, ret */
	"10", "10", "10", "10", "10", "10", "20", "20", "20", "20", "20", "20", "20", "20", "00",
	"01", "00",
	/* switches, returns */
	"10", "10", "10", "20", "10", "20", "10", "00",
	/* fields, invocations */
	"??", "??", "??", "??", "??", "??", "??", "??", "??",
	/* new to monitorexit */
	"01", "11", "11", "11", "10", "11", "11", "10", "10",
	/* wide, multianewarray, ifnull, ifnonnull, goto_w, jsr_w */
	"??", "?1", "10", "10", "00", "01"
};

_Static_assert(sizeof(effects) / sizeof(effects[0]) == LC_OP_JSR_W + 1, "one for each opcode");

static int32_t words_of(char type)
{
	return type == 'J' || type == 'D' ? 2 : type == 'V' ? 0 : 1;
}

/* Words of the arguments and of the result of a method. Returns false where it is no descriptor. */
static bool method_words(struct lc_class_text d, int32_t *arguments, int32_t *result)
{
	size_t i = 1;

	*arguments = 0;
	if (!d.len || d.data[0] != '(')
		return false;
	for (; i < d.len && d.data[i] != ')'; i++) {
		char type = d.data[i];

		while (i < d.len && d.data[i] == '[')
			i++;
		if (i < d.len && d.data[i] == 'L')
			while (i < d.len && d.data[i] != ';')
				i++;
		*arguments += words_of(type);
	}
	if (i + 1 >= d.len)
		return false;
	*result = words_of(d.data[i + 1]);
	return true;
}

/* The effect of an instruction that names a field or a method. */
static bool member_effect(const struct lc_class *c, uint8_t op, uint32_t index, int32_t *pops,
                          int32_t *pushes)
{
	struct lc_class_ref ref = { 0 };

	if (op < LC_OP_INVOKEVIRTUAL) {
		int32_t words;

		if (!lc_class_field_ref(c, index, &ref) || !ref.descriptor.len)
			return false;
		words = words_of(ref.descriptor.data[0]);
		*pops = (op >= LC_OP_GETFIELD) +
		        (op == LC_OP_PUTSTATIC || op == LC_OP_PUTFIELD ? words : 0);
		*pushes = op == LC_OP_GETSTATIC || op == LC_OP_GETFIELD ? words : 0;
		return true;
	}
	if (op == LC_OP_INVOKEDYNAMIC)
		ref.descriptor = lc_class_dynamic_descriptor(c, index);
	else if (!lc_class_method_ref(c, index, &ref) && !lc_class_interface_ref(c, index, &ref))
		return false;
	if (!method_words(ref.descriptor, pops, pushes))
		return false;
	*pops += op != LC_OP_INVOKEDYNAMIC && op != LC_OP_INVOKESTATIC;
	return true;
}

bool lc_stack_effect(const struct lc_class *c, const struct lc_method_code *code, uint32_t at,
                     int32_t *pops, int32_t *pushes)
{
	const uint8_t *insn = code->insns + at;
	uint8_t op = *insn == LC_OP_WIDE ? insn[1] : *insn;

	if (op > LC_OP_JSR_W)
		return false;
	if (op >= LC_OP_GETSTATIC && op <= LC_OP_INVOKEDYNAMIC)
		return member_effect(c, op, lc_be_get2(insn + 1), pops, pushes);
	*pops = op == LC_OP_MULTIANEWARRAY ? insn[3] : effects[op][0] - '0';
	*pushes = effects[op][1] - '0';
	return true;
}

bool lc_stack_ends_flow(uint8_t op)
{
	return op == LC_OP_GOTO || op == LC_OP_GOTO_W || op == LC_OP_RET ||
	       (op >= LC_OP_TABLESWITCH && op <= LC_OP_RETURN) || op == LC_OP_ATHROW;
}
