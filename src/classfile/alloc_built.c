/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/alloc_built.c - follows the height of the operand stack from `new; dup` to the
 * constructor call.
 *
 * `new; dup` leaves two references in two words of the stack, and the call takes the upper one. The
 * lower one is the object behind the call if no instruction in between has reached down to either
 * word, and if no jump leads in between from elsewhere: a compiler that shares code, or an
 * optimiser that moves it, may put another uninitialised object there. Heights are followed in the
 * order of the code. Behind a goto or the like the height is that of an earlier jump to the place,
 * and unknown where there is none; then everything that was pending is dropped.
 */
#include "src/classfile/alloc_built.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/vector.h"
#include "src/classfile/stack_effect.h"

enum { PENDING_MAX = 64 };

/* Jumps to a position. */
struct position {
	bool target;
	uint32_t first, last; /* the first and the last instruction that lead here */
	int32_t height;       /* words on the stack, counted from wherever `base` began */
	uint32_t base;
};

/* An object made and not yet constructed: its references are the words `height` and the next. */
struct pending {
	uint32_t from; /* position of `new` */
	int32_t height;
};

/* A constructor call that may be marked. */
struct call {
	uint32_t from, at;
};

struct walk {
	const struct lc_class *cls;
	struct lc_method_code *code;
	struct position *positions;
	struct pending pending[PENDING_MAX];
	uint32_t pending_len;
	struct lc_vector calls; /* struct call */
	int32_t height;
	uint32_t base; /* grows where the height is not known any more */
};

/* The instruction at `source` leads to `target`; UINT32_MAX: none of the code does. */
static bool reach(void *user, uint32_t source, uint32_t target)
{
	struct walk *w = user;
	struct position *p = &w->positions[target];

	if (!p->target || source < p->first)
		p->first = source;
	if (!p->target || source > p->last)
		p->last = source;
	p->target = true;
	if (source != UINT32_MAX) {
		p->height = w->height;
		p->base = w->base;
	}
	return true;
}

static void lose_height(struct walk *w)
{
	w->base++;
	w->height = 0;
	w->pending_len = 0;
}

/* The call takes the word at `receiver`: is that the upper one of an object that is pending? */
static enum lc_rewrite_status visit_call(struct walk *w, uint32_t at, int32_t receiver)
{
	struct lc_class_ref ref = { 0 };
	struct lc_class_text class;
	uint32_t from;

	if (!w->pending_len || w->pending[w->pending_len - 1].height + 1 != receiver ||
	    !lc_class_method_ref(w->cls, lc_be_get2(w->code->insns + at + 1), &ref) ||
	    !lc_class_text_is(ref.name, "<init>"))
		return LC_REWRITE_DONE;
	from = w->pending[w->pending_len - 1].from;
	class = lc_class_name(w->cls, lc_be_get2(w->code->insns + from + 1));
	if (class.len != ref.holder.len || memcmp(class.data, ref.holder.data, class.len) != 0)
		return LC_REWRITE_DONE;
	return lc_vector_push(&w->calls, &(struct call){ from, at }) ? LC_REWRITE_NO_MEMORY
	                                                             : LC_REWRITE_DONE;
}

/* Nothing that has a word at `low` or above is as it was. */
static void touch(struct walk *w, int32_t low)
{
	while (w->pending_len && w->pending[w->pending_len - 1].height + 1 >= low)
		w->pending_len--;
}

/* `last`: the instruction before this one in the code. */
static enum lc_rewrite_status visit(struct walk *w, uint32_t at, uint32_t last)
{
	const uint8_t *insns = w->code->insns;
	enum lc_rewrite_status status = LC_REWRITE_DONE;
	int32_t pops = 0, pushes = 0;
	uint8_t op = insns[at];

	if (!lc_stack_effect(w->cls, w->code, at, &pops, &pushes))
		return LC_REWRITE_MALFORMED;
	if (op == LC_OP_INVOKESPECIAL)
		status = visit_call(w, at, w->height - pops);
	touch(w, w->height - pops);
	if (op == LC_OP_DUP && at && insns[last] == LC_OP_NEW && w->pending_len < PENDING_MAX)
		w->pending[w->pending_len++] = (struct pending){ last, w->height - 1 };
	w->height += pushes - pops;
	if (!lc_method_code_each_target(w->code, at, reach, w))
		return LC_REWRITE_MALFORMED;
	if (op == LC_OP_JSR || op == LC_OP_JSR_W)
		lose_height(w); /* who returns behind it is not followed */
	return status;
}

/* Does nothing lead in between from elsewhere? */
static bool is_entered_at_its_begin(const struct walk *w, const struct call *call)
{
	for (uint32_t i = call->from + 1; i <= call->at; i++) {
		const struct position *p = &w->positions[i];

		if (p->target && (p->first < call->from || p->last > call->at))
			return false;
	}
	return true;
}

static enum lc_rewrite_status walk(struct walk *w)
{
	enum lc_rewrite_status status = LC_REWRITE_DONE;
	uint32_t bytes, last = 0;

	for (uint32_t i = 0; i < w->code->handlers_len; i++) {
		uint32_t handler = lc_be_get2(w->code->handlers + LC_HANDLER_BYTES * i + 4);

		if (handler >= w->code->len)
			return LC_REWRITE_MALFORMED;
		reach(w, UINT32_MAX, handler);
	}
	for (uint32_t at = 0; at < w->code->len && status == LC_REWRITE_DONE; at += bytes) {
		const struct position *p = &w->positions[at];

		bytes = lc_method_insn_bytes(w->code, at);
		if (!bytes)
			return LC_REWRITE_MALFORMED;
		if (at && lc_stack_ends_flow(w->code->insns[last])) {
			if (p->target && p->base == w->base)
				w->height = p->height;
			else
				lose_height(w);
		}
		status = visit(w, at, last);
		last = at;
	}
	return status;
}

enum lc_rewrite_status lc_alloc_built_mark(const struct lc_class *c, struct lc_method_code *code)
{
	struct walk w = {
		.cls = c, .code = code, .calls = { .element_bytes = sizeof(struct call) }, .base = 1
	};
	enum lc_rewrite_status status;

	w.positions = calloc(code->len, sizeof(*w.positions));
	if (!w.positions)
		return LC_REWRITE_NO_MEMORY;
	status = walk(&w);
	for (size_t i = 0; i < w.calls.len && status == LC_REWRITE_DONE; i++) {
		const struct call *call = (const struct call *)w.calls.data + i;

		if (is_entered_at_its_begin(&w, call))
			code->flags[call->at] |= LC_AT_BUILT;
	}
	free(w.calls.data);
	free(w.positions);
	return status;
}
