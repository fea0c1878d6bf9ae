/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample/insn.c - decodes x86-64 instructions through Zydis. Nothing here allocates or keeps state.
 */
#include "src/sample/insn.h"

#include <Zydis/Zydis.h>

#include "src/core/record.h"
#include "src/format/kinds.h"
#include "src/sample/decode.h"

_Static_assert(ZYDIS_VERSION_MAJOR(ZYDIS_VERSION) >= 4, "Zydis 4.0 or newer is needed");

/* Number of the 64-bit general register that holds `r`, or LC_NO_REGISTER. */
static uint8_t general_register(ZydisRegister r)
{
	const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return LC_NO_REGISTER;
	return (uint8_t)(whole - ZYDIS_REGISTER_RAX);
}

static bool is_64_bit(ZydisRegister r)
{
	return r >= ZYDIS_REGISTER_RAX && r <= ZYDIS_REGISTER_R15;
}

/* Does the operand's base hold the JVM's data of the thread, as r15 does in the JVM's own code? */
static bool in_thread(const ZydisDecodedOperandMem *m, bool native)
{
	return !native && m->base == ZYDIS_REGISTER_R15;
}

/* Does the operand's base hold an address of the stack? `leave` pops what is at rbp. */
static bool on_stack(const ZydisDecodedOperand *op)
{
	return op->mem.base == ZYDIS_REGISTER_RSP ||
	       (op->mem.base == ZYDIS_REGISTER_RBP &&
	        op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN);
}

/*
 * May the operand be in an object? Stacks, data of the JVM's thread, constants and segments hold
 * none.
 */
static bool may_be_object(const ZydisDecodedOperand *op, bool native)
{
	const ZydisDecodedOperandMem *m = &op->mem;

	if (op->type != ZYDIS_OPERAND_TYPE_MEMORY)
		return false;
	if (m->type != ZYDIS_MEMOP_TYPE_MEM && m->type != ZYDIS_MEMOP_TYPE_VSIB)
		return false;
	if (m->segment == ZYDIS_REGISTER_FS || m->segment == ZYDIS_REGISTER_GS)
		return false;
	if (on_stack(op) || in_thread(m, native))
		return false;
	if (m->base == ZYDIS_REGISTER_NONE)
		return is_64_bit(m->index);
	return is_64_bit(m->base);
}

/*
 * Is the operand the thread's own: on its stack, in the JVM's data of the thread, a constant in the
 * code?
 */
static bool is_own(const ZydisDecodedOperand *op, bool native)
{
	const ZydisDecodedOperandMem *m = &op->mem;

	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && m->type == ZYDIS_MEMOP_TYPE_MEM &&
	       m->segment != ZYDIS_REGISTER_FS && m->segment != ZYDIS_REGISTER_GS &&
	       (on_stack(op) || in_thread(m, native) || m->base == ZYDIS_REGISTER_RIP);
}

static const ZydisDecodedOperand *pick_own(const ZydisDecodedInstruction *in,
                                           const ZydisDecodedOperand *ops, bool native)
{
	for (unsigned i = 0; i < in->operand_count; i++)
		if (is_own(&ops[i], native))
			return &ops[i];
	return NULL;
}

static bool touches_no_data(ZydisInstructionCategory category)
{
	return category == ZYDIS_CATEGORY_NOP || category == ZYDIS_CATEGORY_WIDENOP ||
	       category == ZYDIS_CATEGORY_PREFETCH || category == ZYDIS_CATEGORY_PREFETCHWT1 ||
	       category == ZYDIS_CATEGORY_CLDEMOTE;
}

/*
 * Pick the operand that a sample is likely about. A load waits for its data where a store retires
 * at once, so reads come first.
 */
static const ZydisDecodedOperand *pick_memory(const ZydisDecodedInstruction *in,
                                              const ZydisDecodedOperand *ops, bool native)
{
	const ZydisDecodedOperand *written = NULL;

	if (touches_no_data(in->meta.category))
		return NULL;
	for (unsigned i = 0; i < in->operand_count; i++) {
		if (!may_be_object(&ops[i], native))
			continue;
		if (ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ)
			return &ops[i];
		if (!written)
			written = &ops[i];
	}
	return written;
}

/*
 * Does the instruction order memory and nothing else? Compilers and the JVM take `lock` with an
 * operand on top of the stack, which is faster than mfence.
 */
static bool is_fence(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *own)
{
	return in->mnemonic == ZYDIS_MNEMONIC_MFENCE ||
	       ((in->attributes & ZYDIS_ATTRIB_HAS_LOCK) && own &&
	        own->mem.base == ZYDIS_REGISTER_RSP);
}

/* The kind of access to the operand, and its width. */
static uint8_t access_of(const ZydisDecodedOperand *op)
{
	const unsigned bytes = op->size / 8u;
	unsigned access = LC_ACCESS_WIDTH_UNKNOWN << LC_ACCESS_WIDTH_SHIFT;

	if (bytes && !(bytes & (bytes - 1)) && !(op->size % 8))
		access = (unsigned)__builtin_ctz(bytes) << LC_ACCESS_WIDTH_SHIFT;
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		access |= LC_TOUCH_LOAD;
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		access |= LC_TOUCH_STORE;
	return (uint8_t)access;
}

static void set_memory(struct lc_insn *out, const ZydisDecodedInstruction *in,
                       const ZydisDecodedOperand *op, bool native)
{
	const ZydisDecodedOperandMem *m = &op->mem;

	out->memory = true;
	out->access = access_of(op);
	out->base = general_register(m->base);
	out->index = general_register(m->index);
	out->vector = m->index != ZYDIS_REGISTER_NONE && out->index == LC_NO_REGISTER;
	out->scale = m->scale ? m->scale : 1;
	out->disp = (int32_t)m->disp.value; /* 32 bits at most where there is a register */
	/* An object has nothing at its very start but its header. */
	out->polls = !native && in->mnemonic == ZYDIS_MNEMONIC_TEST && !m->disp.value &&
	             m->index == ZYDIS_REGISTER_NONE;
	if (in->meta.category == ZYDIS_CATEGORY_STRINGOP)
		out->step = (uint8_t)(op->size / 8);
	out->moves = in->mnemonic == ZYDIS_MNEMONIC_MOVSB || in->mnemonic == ZYDIS_MNEMONIC_MOVSW ||
	             (in->mnemonic == ZYDIS_MNEMONIC_MOVSD && out->step) ||
	             in->mnemonic == ZYDIS_MNEMONIC_MOVSQ;
}

static void set_control(struct lc_insn *out, const ZydisDecodedInstruction *in,
                        const ZydisDecodedOperand *ops)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		out->falls = true;
		break;
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
		break;
	default:
		if (in->mnemonic == ZYDIS_MNEMONIC_UD2 || in->mnemonic == ZYDIS_MNEMONIC_HLT)
			break;
		out->falls = true;
		return;
	}
	out->control = true;
	out->calls = in->meta.category == ZYDIS_CATEGORY_CALL;
	if (in->meta.category != ZYDIS_CATEGORY_CALL && in->operand_count &&
	    ops[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && ops[0].imm.is_relative)
		out->target = ops[0].imm.value.s + in->length;
}

static void set_mov(struct lc_insn *out, const ZydisDecodedOperand *ops)
{
	const ZydisOperandType to = ops[0].type, from = ops[1].type;

	if (to == ZYDIS_OPERAND_TYPE_REGISTER && from == ZYDIS_OPERAND_TYPE_MEMORY &&
	    ops[1].mem.base == ZYDIS_REGISTER_R15)
		out->from_thread = general_register(ops[0].reg.value);
	if (to == ZYDIS_OPERAND_TYPE_REGISTER && from == ZYDIS_OPERAND_TYPE_REGISTER &&
	    is_64_bit(ops[0].reg.value) && is_64_bit(ops[1].reg.value)) {
		out->copy_to = general_register(ops[0].reg.value);
		out->copy_from = general_register(ops[1].reg.value);
	}
	if (to == ZYDIS_OPERAND_TYPE_MEMORY && from == ZYDIS_OPERAND_TYPE_REGISTER)
		out->store_from = general_register(ops[1].reg.value);
	if (from == ZYDIS_OPERAND_TYPE_IMMEDIATE && ops[0].size >= 32) {
		out->constant = true;
		out->value = ops[0].size == 32 ? (uint32_t)ops[1].imm.value.u : ops[1].imm.value.u;
		if (to == ZYDIS_OPERAND_TYPE_REGISTER)
			out->constant_to = general_register(ops[0].reg.value);
	}
}

/*
 * Note additions, and the subtractions and shifts that turn the address of a class into its
 * compressed form.
 */
static void set_arithmetic(struct lc_insn *out, const ZydisDecodedInstruction *in,
                           const ZydisDecodedOperand *ops)
{
	const uint8_t to = general_register(ops[0].reg.value);

	if (ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		out->value = ops[1].imm.value.u;
	else if (ops[1].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return;
	if (in->mnemonic == ZYDIS_MNEMONIC_ADD) {
		out->add_to = to;
		if (ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
			out->add_from = general_register(ops[1].reg.value);
	} else if (in->mnemonic == ZYDIS_MNEMONIC_SUB) {
		out->sub_to = to;
		if (ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
			out->sub_from = general_register(ops[1].reg.value);
	} else if (in->mnemonic == ZYDIS_MNEMONIC_SHR &&
	           ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		out->shr_to = to;
	}
}

static void set_address(struct lc_insn *out, const ZydisDecodedOperand *ops)
{
	const ZydisDecodedOperandMem *m = &ops[1].mem;

	if (m->base == ZYDIS_REGISTER_RIP)
		return;
	out->address_to = general_register(ops[0].reg.value);
	out->base = general_register(m->base);
	out->index = general_register(m->index);
	out->scale = m->scale ? m->scale : 1;
	out->disp = (int32_t)m->disp.value;
}

static void set_registers(struct lc_insn *out, const ZydisDecodedInstruction *in,
                          const ZydisDecodedOperand *ops)
{
	out->copy_to = out->copy_from = out->from_thread = LC_NO_REGISTER;
	out->address_to = out->store_from = out->constant_to = LC_NO_REGISTER;
	out->add_to = out->add_from = LC_NO_REGISTER;
	out->sub_to = out->sub_from = out->shr_to = LC_NO_REGISTER;
	for (unsigned i = 0; i < in->operand_count; i++) {
		uint8_t r;

		if (ops[i].type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    !(ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		r = general_register(ops[i].reg.value);
		if (r != LC_NO_REGISTER)
			out->written |= (uint16_t)(1u << r);
	}
	if (in->mnemonic == ZYDIS_MNEMONIC_MOV && in->operand_count == 2)
		set_mov(out, ops);
	else if (in->mnemonic == ZYDIS_MNEMONIC_LEA && is_64_bit(ops[0].reg.value))
		set_address(out, ops);
	else if (in->operand_count_visible == 2 && ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	         is_64_bit(ops[0].reg.value))
		set_arithmetic(out, in, ops);
}

size_t lc_insn_length(const uint8_t *bytes, size_t len)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction in;
	int64_t target;
	const size_t known = lc_insn_known_step(bytes, len, &target);

	if (known)
		return known;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
	if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, len, &in)))
		return 0;
	return in.length;
}

size_t lc_insn_step(const uint8_t *bytes, size_t len, int64_t *target)
{
	const size_t known = lc_insn_known_step(bytes, len, target);
	struct lc_insn in;

	if (known)
		return known;
	if (!lc_insn_decode(bytes, len, false, &in))
		return lc_insn_length(bytes, len);
	*target = in.target;
	return in.length;
}

bool lc_insn_decode(const uint8_t *bytes, size_t len, bool native, struct lc_insn *out)
{
	return lc_insn_known_decode(bytes, len, native, out) ||
	       lc_insn_zydis_decode(bytes, len, native, out);
}

bool lc_insn_zydis_decode(const uint8_t *bytes, size_t len, bool native, struct lc_insn *out)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction in;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	const ZydisDecodedOperand *memory;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, bytes, len, &in, ops)))
		return false;
	*out = (struct lc_insn){ .length = in.length,
		                 .base = LC_NO_REGISTER,
		                 .index = LC_NO_REGISTER };
	out->repeats = in.meta.category == ZYDIS_CATEGORY_STRINGOP &&
	               (in.attributes &
	                (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE));
	set_control(out, &in, ops);
	set_registers(out, &in, ops);
	memory = pick_memory(&in, ops, native);
	if (memory) {
		set_memory(out, &in, memory, native);
		return true;
	}
	if (!touches_no_data(in.meta.category))
		memory = pick_own(&in, ops, native);
	out->fence = is_fence(&in, memory);
	if (memory) {
		set_memory(out, &in, memory, native);
		out->access |= LC_ACCESS_OWN;
		if (out->fence)
			out->access |= LC_ACCESS_FENCE;
		out->own = true;
		out->memory = out->polls = false;
		out->step = 0;
	}
	return true;
}
