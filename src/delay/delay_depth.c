/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delay/delay_depth.c - follows each way through a method once, with the depth of the operand
 * stack.
 */
#include "src/delay/delay_depth.h"

#include "src/classfile/stack_effect.h"

struct walk {
	const struct lc_method_code *code;
	int32_t *depths;
	uint32_t *work; /* instructions that have a depth and were not followed yet */
	uint32_t len;
	int32_t depth; /* behind the instruction that is followed */
};

/* Each instruction is in `work` at most once: when it gets its depth. */
static bool reach(struct walk *w, uint32_t at, int32_t depth)
{
	if (at >= w->code->len || !(w->code->flags[at] & LC_AT_START))
		return false;
	if (w->depths[at] != LC_DELAY_UNREACHED)
		return w->depths[at] == depth;
	w->depths[at] = depth;
	w->work[w->len++] = at;
	return true;
}

static bool reach_target(void *user, uint32_t at, uint32_t target)
{
	struct walk *w = user;

	return reach(w, target, w->depth);
}

static bool follow(struct walk *w, const struct lc_class *c, uint32_t at)
{
	const uint8_t op = w->code->insns[at];
	int32_t pops, pushes;

	if (!lc_stack_effect(c, w->code, at, &pops, &pushes) || pops > w->depths[at])
		return false;
	w->depth = w->depths[at] - pops + pushes;
	if (!lc_method_code_each_target(w->code, at, reach_target, w))
		return false;
	if (op == LC_OP_JSR || op == LC_OP_JSR_W)
		w->depth--; /* the subroutine takes the address that it returns to */
	return lc_stack_ends_flow(op) || reach(w, at + lc_method_insn_bytes(w->code, at), w->depth);
}

bool lc_delay_depths(const struct lc_class *c, const struct lc_method_code *code, int32_t *depths,
                     uint32_t *work)
{
	struct walk w = { .code = code, .depths = depths, .work = work };

	for (uint32_t at = 0; at < code->len; at++)
		depths[at] = LC_DELAY_UNREACHED;
	if (!reach(&w, 0, 0))
		return false;
	for (uint32_t i = 0; i < code->handlers_len; i++)
		if (!reach(&w, lc_be_get2(code->handlers + LC_HANDLER_BYTES * i + 4), 1))
			return false;
	while (w.len)
		if (!follow(&w, c, work[--w.len]))
			return false;
	return true;
}
