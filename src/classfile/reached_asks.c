/* SPDX-License-Identifier: Apache-2.0 */
/* classfile/reached_asks.c - answers questions about an analysed method. */
#include <stdlib.h>

#include "src/classfile/insn_role.h"
#include "src/classfile/reached.h"
#include "src/classfile/reached_impl.h"
#include "src/classfile/stack_effect.h"

enum {
	NO_OBJECT = UINT32_MAX,
};

void lc_reached_close(struct lc_reached *r)
{
	if (!r)
		return;
	free(r->code.flags);
	free(r->code.moved);
	free(r->blocks);
	free(r->words);
	free(r);
}

/* Set `now` to the words in front of the instruction at `at`. */
static bool go_to(struct lc_reached *r, uint32_t at)
{
	uint32_t from = at;

	if (at >= r->code.len || !(r->code.flags[at] & LC_AT_START))
		return false;
	while (!(r->code.flags[from] & LC_AT_TARGET))
		from--;
	if (!r->blocks[r->code.moved[from]].reached)
		return false;
	lc_reached_begin(r, r->code.moved[from]);
	while (from < at && !lc_stack_ends_flow(r->code.insns[from])) {
		lc_reached_visit(r, from);
		from += lc_method_insn_bytes(&r->code, from);
	}
	return from == at && !r->bad;
}

static struct lc_reached_sources below_top(struct lc_reached *r, uint32_t words)
{
	if (words >= r->now.depth)
		return (struct lc_reached_sources){ 0 };
	return lc_reached_sources_of(&lc_reached_stack(r)[r->now.depth - 1 - words]);
}

/* Words that lie above the accessed object on the stack; NO_OBJECT: no object is accessed. */
static uint32_t words_above(const struct lc_reached *r, uint8_t op, uint32_t at)
{
	int32_t pops, pushes;

	if (op >= LC_OP_IALOAD && op <= LC_OP_SALOAD)
		return 1;
	if (op >= LC_OP_IASTORE && op <= LC_OP_SASTORE)
		return op == LC_OP_LASTORE || op == LC_OP_DASTORE ? 3 : 2;
	switch (op) {
	case LC_OP_PUTFIELD:
	case LC_OP_INVOKEVIRTUAL:
	case LC_OP_INVOKESPECIAL:
	case LC_OP_INVOKEINTERFACE:
		return lc_stack_effect(r->cls, &r->code, at, &pops, &pushes) && pops > 0
		           ? (uint32_t)pops - 1
		           : NO_OBJECT;
	case LC_OP_GETFIELD:
	case LC_OP_GETSTATIC: /* the class, on no stack */
	case LC_OP_PUTSTATIC:
	case LC_OP_ARRAYLENGTH:
	case LC_OP_ATHROW:
	case LC_OP_CHECKCAST:
	case LC_OP_INSTANCEOF:
	case LC_OP_MONITORENTER:
	case LC_OP_MONITOREXIT:
		return 0;
	default:
		return NO_OBJECT;
	}
}

bool lc_reached_access(struct lc_reached *r, uint32_t at, struct lc_reached_access *out)
{
	uint32_t words;
	uint8_t op;

	if (!go_to(r, at))
		return false;
	op = r->code.insns[at];
	words = words_above(r, op, at);
	if (words == NO_OBJECT)
		return false;
	*out = (struct lc_reached_access){ .op = op };
	if (op >= LC_OP_GETSTATIC && op != LC_OP_ARRAYLENGTH && op != LC_OP_ATHROW &&
	    op < LC_OP_MONITORENTER)
		out->index = lc_be_get2(r->code.insns + at + 1);
	if (op == LC_OP_GETSTATIC || op == LC_OP_PUTSTATIC) {
		const struct lc_reached_words w = lc_reached_word(LC_REACHED_CLASS, out->index);

		out->object = lc_reached_sources_of(&w);
		return true;
	}
	out->object = below_top(r, words);
	if (op == LC_OP_AASTORE)
		out->value = below_top(r, 0);
	return true;
}

bool lc_reached_argument(struct lc_reached *r, uint32_t at, uint32_t slot,
                         struct lc_reached_sources *out)
{
	int32_t pops, pushes;

	if (!go_to(r, at) || lc_insn_role(r->code.insns + at) != LC_ROLE_CALL ||
	    !lc_stack_effect(r->cls, &r->code, at, &pops, &pushes) || slot >= (uint32_t)pops)
		return false;
	*out = below_top(r, (uint32_t)pops - 1 - slot);
	return true;
}

uint8_t lc_reached_loaded(struct lc_reached *r, uint32_t at, struct lc_reached_sources *out)
{
	struct lc_class_ref ref;
	uint8_t op;

	if (!go_to(r, at))
		return 0;
	op = r->code.insns[at];
	if (op == LC_OP_GETFIELD || op == LC_OP_GETSTATIC) {
		if (!lc_class_field_ref(r->cls, lc_be_get2(r->code.insns + at + 1), &ref) ||
		    !ref.descriptor.len ||
		    (ref.descriptor.data[0] != 'L' && ref.descriptor.data[0] != '['))
			return 0;
	} else if (op != LC_OP_AALOAD) {
		return 0;
	}
	lc_reached_visit(r, at);
	if (r->bad)
		return 0;
	*out = below_top(r, 0);
	return op;
}

bool lc_reached_returned(struct lc_reached *r, struct lc_reached_sources *out)
{
	bool any = false;

	for (uint32_t at = 0; at < r->code.len; at += lc_method_insn_bytes(&r->code, at)) {
		struct lc_reached_sources s;

		if (r->code.insns[at] != LC_OP_ARETURN || !go_to(r, at))
			continue;
		s = below_top(r, 0);
		if (any)
			lc_reached_join(out, &s);
		else
			*out = s;
		any = true;
	}
	return any;
}

uint8_t lc_reached_called(const struct lc_reached *r, uint32_t at, struct lc_class_ref *out)
{
	uint32_t index;

	if (at >= r->code.len || !(r->code.flags[at] & LC_AT_START) ||
	    lc_insn_role(r->code.insns + at) != LC_ROLE_CALL)
		return 0;
	index = lc_be_get2(r->code.insns + at + 1);
	if (r->code.insns[at] == LC_OP_INVOKEDYNAMIC) {
		*out = (struct lc_class_ref){ .descriptor =
			                          lc_class_dynamic_descriptor(r->cls, index) };
		return LC_OP_INVOKEDYNAMIC;
	}
	return lc_class_method_ref(r->cls, index, out) || lc_class_interface_ref(r->cls, index, out)
	           ? r->code.insns[at]
	           : 0;
}

unsigned lc_reached_opcode(const struct lc_reached *r, uint32_t at)
{
	return at < r->code.len ? r->code.insns[at] : LC_REACHED_END;
}

uint32_t lc_reached_next(const struct lc_reached *r, uint32_t at)
{
	return at + lc_method_insn_bytes(&r->code, at);
}

struct lc_class_text lc_reached_made(const struct lc_reached *r, uint32_t at, bool *array,
                                     char *element)
{
	static const char elements[] = "ZCFDBSIJ"; /* from 4 on */
	const uint8_t *insn = r->code.insns + at;

	*array = *insn == LC_OP_NEWARRAY || *insn == LC_OP_ANEWARRAY;
	*element = 0;
	if (*insn == LC_OP_NEWARRAY) {
		*element = insn[1] >= 4 && insn[1] < 12 ? elements[insn[1] - 4] : 0;
		return (struct lc_class_text){ "", 0 };
	}
	return lc_class_name(r->cls, lc_be_get2(insn + 1));
}
