/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/method_code.c - measures instructions, finds their targets and computes where they
 * move.
 *
 * A goto or jsr that no longer reaches becomes goto_w or jsr_w. That moves everything behind it,
 * so the layout is repeated until nothing changes; code of at most 32767 bytes never needs it.
 * The padding of a switch depends on its position and is computed with it.
 */
#include "src/classfile/method_code.h"

enum { LAYOUT_ROUNDS_MAX = 16, NEAR_MAX_BYTES = 32767, WIDE_JUMP_BYTES = 5 };

/* Bytes of an instruction by opcode; 0: there is no such opcode; VARIES: its bytes tell. */
enum { VARIES = 255 };
static const uint8_t insn_bytes[256] = {
	[0 ... 15] = 1,    [LC_OP_BIPUSH] = 2,      [LC_OP_SIPUSH] = 3,
	[LC_OP_LDC] = 2,   [LC_OP_LDC_W... 20] = 3, [21 ... LC_OP_ALOAD] = 2,
	[26 ... 53] = 1,   [54 ... 58] = 2,         [59 ... 131] = 1,
	[LC_OP_IINC] = 3,  [133 ... 152] = 1,       [LC_OP_IFEQ... LC_OP_JSR] = 3,
	[LC_OP_RET] = 2,   [170 ... 171] = VARIES,  [172 ... LC_OP_RETURN] = 1,
	[178 ... 184] = 3, [185 ... 186] = 5,       [LC_OP_NEW] = 3,
	[188] = 2,         [LC_OP_ANEWARRAY] = 3,   [190 ... 191] = 1,
	[192 ... 193] = 3, [194 ... 195] = 1,       [LC_OP_WIDE] = VARIES,
	[197] = 4,         [198 ... 199] = 3,       [LC_OP_GOTO_W... LC_OP_JSR_W] = 5,
};

bool lc_method_code_read(const struct lc_class *c, const struct lc_attribute *a,
                         struct lc_method_code *out)
{
	const uint8_t *p = c->bytes + a->body;
	uint32_t left = a->len, count;
	struct lc_attribute inner;

	if (left < 8)
		return false;
	out->max_stack = lc_be_get2(p);
	out->max_locals = lc_be_get2(p + 2);
	out->len = lc_be_get4(p + 4);
	left -= 8;
	if (!out->len || out->len > LC_CODE_MAX_BYTES || left < out->len || left - out->len < 2)
		return false;
	out->insns = p + 8;
	left -= out->len + 2;
	out->handlers_len = lc_be_get2(out->insns + out->len);
	out->handlers = out->insns + out->len + 2;
	if (left < LC_HANDLER_BYTES * out->handlers_len + 2)
		return false;
	out->end = a->body + a->len;
	out->attributes =
	    (uint32_t)(out->handlers - c->bytes) + LC_HANDLER_BYTES * out->handlers_len;
	out->prologue = out->tail = NULL;
	out->prologue_len = out->tail_len = out->tail_type = out->stackmap_name = 0;
	out->tail_frames = NULL;
	out->tail_lines = NULL;
	out->tail_frames_len = out->tail_lines_len = 0;
	left = out->attributes + 2;
	for (count = lc_be_get2(c->bytes + out->attributes); count; count--) {
		if (!lc_class_attribute(c, left, out->end, &inner))
			return false;
		left = inner.body + inner.len;
	}
	return left == out->end;
}

/* The position of the operands of the switch at `at`, behind its padding. */
static uint32_t switch_operands(uint32_t at)
{
	return (at + 4) & ~UINT32_C(3);
}

static uint32_t varying_bytes(const struct lc_method_code *code, uint32_t at)
{
	const uint8_t *insns = code->insns;
	uint32_t operands = switch_operands(at), left;
	int64_t entries;

	if (insns[at] == LC_OP_WIDE) {
		if (code->len - at < 2)
			return 0;
		if (insns[at + 1] == LC_OP_IINC)
			return 6;
		return insn_bytes[insns[at + 1]] == 2 && insns[at + 1] > LC_OP_LDC &&
		               insns[at + 1] != LC_OP_NEWARRAY
		           ? 4
		           : 0;
	}
	if (operands >= code->len || code->len - operands < 8)
		return 0;
	left = code->len - operands;
	if (insns[at] == LC_OP_LOOKUPSWITCH) {
		entries = lc_be_get4s(insns + operands + 4);
		if (entries < 0 || entries > (left - 8) / 8)
			return 0;
		return operands - at + 8 + 8 * (uint32_t)entries;
	}
	if (left < 12)
		return 0;
	entries =
	    (int64_t)lc_be_get4s(insns + operands + 8) - lc_be_get4s(insns + operands + 4) + 1;
	if (entries < 1 || entries > (left - 12) / 4)
		return 0;
	return operands - at + 12 + 4 * (uint32_t)entries;
}

uint32_t lc_method_insn_bytes(const struct lc_method_code *code, uint32_t at)
{
	uint32_t bytes = insn_bytes[code->insns[at]];

	if (bytes == VARIES)
		bytes = varying_bytes(code, at);
	return bytes <= code->len - at ? bytes : 0;
}

bool lc_method_insn_stores_local0(const uint8_t *insn)
{
	if (*insn == LC_OP_WIDE)
		return insn[1] >= LC_OP_ISTORE && insn[1] <= LC_OP_ASTORE && !lc_be_get2(insn + 2);
	if (*insn >= LC_OP_ISTORE && *insn <= LC_OP_ASTORE)
		return !insn[1];
	return *insn >= LC_OP_ISTORE_0 && *insn <= LC_OP_ASTORE_3 &&
	       (*insn - LC_OP_ISTORE_0) % 4 == 0;
}

static bool is_near_jump(uint8_t op)
{
	return (op >= LC_OP_IFEQ && op <= LC_OP_JSR) || op == LC_OP_IFNULL || op == LC_OP_IFNONNULL;
}

static bool is_far_jump(uint8_t op)
{
	return op == LC_OP_GOTO_W || op == LC_OP_JSR_W;
}

static bool is_switch(uint8_t op)
{
	return op == LC_OP_TABLESWITCH || op == LC_OP_LOOKUPSWITCH;
}

/*
 * The first entry of a switch behind the default that holds an offset, and how far apart such
 * entries are.
 */
static void switch_entries(const struct lc_method_code *code, uint32_t at, uint32_t *first,
                           uint32_t *step)
{
	bool table = code->insns[at] == LC_OP_TABLESWITCH;

	*first = switch_operands(at) + 12;
	*step = table ? 4 : 8;
}

/* Visit one target. */
static inline bool visit_one(const struct lc_method_code *code, uint32_t at, int32_t offset,
                             lc_method_code_visit *visit, void *user)
{
	int64_t target = (int64_t)at + offset;

	return target >= 0 && target < code->len && visit(user, at, (uint32_t)target);
}

/* Inlined for each way to visit. */
static inline __attribute__((always_inline)) bool
each_target(const struct lc_method_code *code, uint32_t at, lc_method_code_visit *visit, void *user)
{
	const uint8_t *insns = code->insns;
	uint32_t entry, step, end;

	if (is_near_jump(insns[at]))
		return visit_one(code, at, lc_be_get2s(insns + at + 1), visit, user);
	if (is_far_jump(insns[at]))
		return visit_one(code, at, lc_be_get4s(insns + at + 1), visit, user);
	if (!is_switch(insns[at]))
		return true;
	if (!visit_one(code, at, lc_be_get4s(insns + switch_operands(at)), visit, user))
		return false;
	end = at + lc_method_insn_bytes(code, at);
	switch_entries(code, at, &entry, &step);
	for (; entry < end; entry += step)
		if (!visit_one(code, at, lc_be_get4s(insns + entry), visit, user))
			return false;
	return true;
}

bool lc_method_code_each_target(const struct lc_method_code *code, uint32_t at,
                                lc_method_code_visit *visit, void *user)
{
	return each_target(code, at, visit, user);
}

static bool mark(void *user, uint32_t at, uint32_t target)
{
	struct lc_method_code *code = user;

	code->flags[target] |= LC_AT_TARGET;
	return true;
}

bool lc_method_code_mark_targets(struct lc_method_code *code, uint32_t at)
{
	return each_target(code, at, mark, code);
}

bool lc_method_code_mark_handlers(struct lc_method_code *code)
{
	for (uint32_t i = 0; i < code->handlers_len; i++) {
		const uint8_t *h = code->handlers + LC_HANDLER_BYTES * i;
		uint32_t start = lc_be_get2(h), end = lc_be_get2(h + 2);

		if (start >= end || end > code->len || lc_be_get2(h + 4) >= code->len)
			return false;
		code->flags[lc_be_get2(h + 4)] |= LC_AT_TARGET;
	}
	return true;
}

static uint32_t new_insn_bytes(const struct lc_method_code *code, uint32_t at, uint32_t bytes,
                               uint32_t to)
{
	if (code->flags[at] & LC_AT_WIDEN)
		return WIDE_JUMP_BYTES;
	if (is_switch(code->insns[at]))
		return bytes - (switch_operands(at) - at) + (switch_operands(to) - to);
	return bytes;
}

/* Compute the new position of every old one. */
static void place(struct lc_method_code *code, const struct lc_insert *inserts, size_t len)
{
	uint32_t to = code->prologue_len, bytes;
	size_t next = 0;

	for (uint32_t at = 0; at < code->len; at += bytes) {
		bytes = lc_method_insn_bytes(code, at);
		for (uint32_t i = 0; i < bytes; i++)
			code->moved[at + i] = to;
		to += new_insn_bytes(code, at, bytes, to);
		if (next < len && inserts[next].at == at) {
			if (!inserts[next].instead)
				to += inserts[next].len;
			else if (inserts[next].len > bytes)
				to += inserts[next].len - bytes;
			next++;
		}
	}
	code->moved[code->len] = to;
	code->new_len = to + code->tail_len;
}

/* Mark the jumps that no longer reach. Returns their number, or -1 if one has no wide form. */
static int widen(struct lc_method_code *code)
{
	int widened = 0;

	for (uint32_t at = 0; at < code->len; at += lc_method_insn_bytes(code, at)) {
		uint8_t op = code->insns[at];
		int64_t offset;

		if (!is_near_jump(op) || code->flags[at] & LC_AT_WIDEN)
			continue;
		offset = (int64_t)code->moved[(int64_t)at + lc_be_get2s(code->insns + at + 1)] -
		         code->moved[at];
		if (offset == (int16_t)offset)
			continue;
		if (op != LC_OP_GOTO && op != LC_OP_JSR)
			return -1;
		code->flags[at] |= LC_AT_WIDEN;
		widened++;
	}
	return widened;
}

static bool targets_are_starts(const struct lc_method_code *code)
{
	for (uint32_t i = 0; i < code->handlers_len; i++) {
		const uint8_t *h = code->handlers + LC_HANDLER_BYTES * i;
		uint32_t end = lc_be_get2(h + 2);

		if (!(code->flags[lc_be_get2(h)] & LC_AT_START) ||
		    (end < code->len && !(code->flags[end] & LC_AT_START)))
			return false;
	}
	for (uint32_t at = 0; at < code->len; at++)
		if ((code->flags[at] & (LC_AT_START | LC_AT_TARGET)) == LC_AT_TARGET)
			return false;
	return true;
}

enum lc_rewrite_status lc_method_code_layout(struct lc_method_code *code,
                                             const struct lc_insert *inserts, size_t len)
{
	if (!targets_are_starts(code))
		return LC_REWRITE_MALFORMED;
	if (code->tail_type && code->handlers_len == UINT16_MAX)
		return LC_REWRITE_TOO_LARGE;
	for (int round = 0; round < LAYOUT_ROUNDS_MAX; round++) {
		int widened;

		place(code, inserts, len);
		if (code->new_len > LC_CODE_MAX_BYTES)
			return LC_REWRITE_TOO_LARGE;
		widened = code->new_len > NEAR_MAX_BYTES ? widen(code) : 0;
		if (!widened)
			return LC_REWRITE_DONE;
		if (widened < 0)
			return LC_REWRITE_TOO_LARGE;
	}
	return LC_REWRITE_TOO_LARGE;
}

static uint32_t new_offset(const struct lc_method_code *code, uint32_t at, int32_t offset)
{
	return code->moved[(int64_t)at + offset] - code->moved[at];
}

static void emit_jump(const struct lc_method_code *code, uint32_t at, struct lc_bytes *out)
{
	uint8_t op = code->insns[at];
	int32_t offset =
	    is_far_jump(op) ? lc_be_get4s(code->insns + at + 1) : lc_be_get2s(code->insns + at + 1);

	if (code->flags[at] & LC_AT_WIDEN)
		op = op == LC_OP_GOTO ? LC_OP_GOTO_W : LC_OP_JSR_W;
	lc_be_add1(out, op);
	if (is_far_jump(op))
		lc_be_add4(out, new_offset(code, at, offset));
	else
		lc_be_add2(out, new_offset(code, at, offset));
}

static void emit_switch(const struct lc_method_code *code, uint32_t at, uint32_t bytes,
                        struct lc_bytes *out)
{
	uint32_t operands = switch_operands(at), to = code->moved[at], entry, step;
	const uint8_t *insns = code->insns;

	lc_be_add1(out, insns[at]);
	for (uint32_t pad = switch_operands(to) - to - 1; pad; pad--)
		lc_be_add1(out, 0);
	lc_be_add4(out, new_offset(code, at, lc_be_get4s(insns + operands)));
	switch_entries(code, at, &entry, &step);
	if (step == 4)
		lc_bytes_add(out, insns + operands + 4, 8); /* low and high */
	else
		lc_bytes_add(out, insns + operands + 4, 4); /* number of pairs */
	for (; entry < at + bytes; entry += step) {
		if (step == 8)
			lc_bytes_add(out, insns + entry - 4, 4); /* the key */
		lc_be_add4(out, new_offset(code, at, lc_be_get4s(insns + entry)));
	}
}

void lc_method_code_emit(const struct lc_method_code *code, const struct lc_insert *inserts,
                         size_t len, struct lc_bytes *out)
{
	const struct lc_insert *end = len ? inserts + len : inserts;
	uint32_t copied = 0, bytes;

	lc_bytes_add(out, code->prologue, code->prologue_len);
	for (uint32_t at = 0; at < code->len; at += bytes) {
		uint8_t op = code->insns[at];
		bool here = inserts < end && inserts->at == at;

		bytes = lc_method_insn_bytes(code, at);
		if (here && inserts->before) {
			lc_bytes_add(out, code->insns + copied, at - copied);
			copied = at;
			lc_bytes_add(out, inserts->bytes, inserts->len);
		}
		if (is_near_jump(op) || is_far_jump(op) || is_switch(op)) {
			lc_bytes_add(out, code->insns + copied, at - copied);
			copied = at + bytes;
			if (is_switch(op))
				emit_switch(code, at, bytes, out);
			else
				emit_jump(code, at, out);
		}
		if (here && !inserts->before) {
			lc_bytes_add(out, code->insns + copied,
			             at + (inserts->instead ? 0 : bytes) - copied);
			copied = at + bytes;
			lc_bytes_add(out, inserts->bytes, inserts->len);
			for (uint32_t i = inserts->len; inserts->instead && i < bytes; i++)
				lc_be_add1(out, LC_OP_NOP);
		}
		if (here)
			inserts++;
	}
	lc_bytes_add(out, code->insns + copied, code->len - copied);
	lc_bytes_add(out, code->tail, code->tail_len);
}

void lc_method_code_emit_handlers(const struct lc_method_code *code, struct lc_bytes *out)
{
	lc_be_add2(out, code->handlers_len + (code->tail_type != 0));
	for (uint32_t i = 0; i < code->handlers_len; i++) {
		const uint8_t *h = code->handlers + LC_HANDLER_BYTES * i;

		for (uint32_t field = 0; field < 6; field += 2)
			lc_be_add2(out, code->moved[lc_be_get2(h + field)]);
		lc_bytes_add(out, h + 6, 2);
	}
	if (!code->tail_type)
		return;
	lc_be_add2(out, code->prologue_len);
	lc_be_add2(out, code->moved[code->len]);
	lc_be_add2(out, code->moved[code->len]);
	lc_be_add2(out, 0); /* any class of exception */
}
