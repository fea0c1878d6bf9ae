/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delay/delay_rewrite.c - writes the loops behind the code of each method, and jumps to them.
 *
 * All loops of a method have the same bytes but for the instructions about the value. Verification
 * knows at a loop of the value and of the loop's own variables only: whatever the other variables
 * hold at the return, they are `top` there.
 */
#include "src/delay/delay_rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/vector.h"
#include "src/classfile/edit.h"
#include "src/delay/delay_depth.h"

/* A loop's largest operand stack, and the local variables that it adds to a method. */
enum { STACK_WORDS = 4, LOOP_LOCALS = 3 };
enum { NEAR_MAX_BYTES = 32767, NAME_MAX_BYTES = 12, JUMP_BYTES = 3, LOCAL_MAX_BYTES = 4 };
enum { FRAMES_PER_LOOP = 4 };
enum { FRAME_SAME = 0, FRAME_CHOP_2 = 249, FRAME_APPEND_2 = 253, FRAME_FULL = 255 };
enum { ACC_NATIVE = 0x100, ACC_ABSTRACT = 0x400 };
enum { TYPE_INTEGER = 1, TYPE_FLOAT, TYPE_DOUBLE, TYPE_LONG, TYPE_OBJECT = 7 };

/* Instructions of the loop that no other file of ours writes. */
enum {
	OP_LCONST_0 = 9,
	OP_LCONST_1 = 10,
	OP_LDC2_W = 20,
	OP_ILOAD = 21,
	OP_LLOAD = 22,
	OP_LSTORE = 55,
	OP_DUP2 = 92,
	OP_LADD = 97,
	OP_LMUL = 105,
	OP_LAND = 127,
	OP_LXOR = 131,
	OP_LCMP = 148,
	OP_IFNE = 154,
	OP_IFLE = 158,
};

/* The last x that never occurs. */
#define NEVER UINT64_C(0x9e3779b97f4a7c15)

/* Kinds of returns, from ireturn to return. */
static const struct {
	uint8_t type, words;
} values[] = {
	{ TYPE_INTEGER, 1 }, { TYPE_LONG, 2 },   { TYPE_FLOAT, 1 },
	{ TYPE_DOUBLE, 2 },  { TYPE_OBJECT, 1 }, { 0, 0 },
};

/* Verification types of the loop's variables x and i, which are appended. */
static const uint8_t loop_types[] = { TYPE_LONG, TYPE_INTEGER };

struct rewrite {
	struct lc_edit edit;
	const struct lc_delay *delays;
	struct lc_delay_result *results;
	size_t delays_len;
	bool changed;
	/* State of the method that is rewritten. */
	const struct lc_delay *delay;
	struct lc_insert *inserts; /* malloc'ed, as all arrays */
	struct lc_tail_frame *frames;
	struct lc_tail_line *lines;
	int32_t *depths;
	uint32_t *work;
	size_t len, inserts_cap, frames_cap, lines_cap;
	uint32_t value, x, i; /* local variables */
	struct lc_bytes tail, types;
	/* Numbers of constants; 0: not in the pool yet. */
	uint16_t class, seed, multiplier, increment, never, stackmap_name;
	uint16_t executions, loops, mask, iterations; /* of the delay constants_of */
	const struct lc_delay *constants_of;
};

/* A method is in this state. */
static void note(struct lc_delay_result *r, enum lc_delay_state state)
{
	r->methods[state]++;
	if (state > r->state)
		r->state = state;
}

static bool is_named(struct lc_class_text t, const char *name)
{
	return !name || lc_class_text_is(t, name);
}

/* The delay of that method of the class, or NULL. */
static const struct lc_delay *delay_of(const struct rewrite *r, const struct lc_member *m)
{
	const struct lc_class *c = &r->edit.cls;

	for (size_t i = 0; i < r->delays_len; i++) {
		const struct lc_delay *d = &r->delays[i];

		if (is_named(lc_class_name(c, c->this_class), d->class_name) &&
		    is_named(lc_class_utf8(c, m->name), d->method) &&
		    is_named(lc_class_utf8(c, m->descriptor), d->descriptor))
			return d;
	}
	return NULL;
}

/* An instruction about a local variable, in its short or its wide form. */
static unsigned put_local(uint8_t bytes[LOCAL_MAX_BYTES], uint8_t op, uint32_t local)
{
	if (local > UINT8_MAX) {
		bytes[0] = LC_OP_WIDE;
		bytes[1] = op;
		lc_be_put2(bytes + 2, local);
		return 4;
	}
	bytes[0] = op;
	bytes[1] = (uint8_t)local;
	return 2;
}

static void add_local(struct lc_bytes *b, uint8_t op, uint32_t local)
{
	uint8_t bytes[LOCAL_MAX_BYTES];

	lc_bytes_add(b, bytes, put_local(bytes, op, local));
}

/* Subtract one. */
static void add_decrement(struct lc_bytes *b, uint32_t local)
{
	add_local(b, LC_OP_IINC, local);
	if (local > UINT8_MAX)
		lc_be_add2(b, UINT16_MAX);
	else
		lc_be_add1(b, UINT8_MAX);
}

static void add_operand(struct lc_bytes *b, uint8_t op, uint32_t operand)
{
	lc_be_add1(b, op);
	lc_be_add2(b, operand);
}

/* A jump back to `to`, or one forward, which land() ends. Returns its position. */
static size_t add_jump(struct lc_bytes *b, uint8_t op, size_t to)
{
	const size_t at = b->len;

	add_operand(b, op, (uint32_t)(to - at));
	return at;
}

static void land(struct lc_bytes *b, size_t jump)
{
	if (!b->failed)
		lc_be_put2(b->data + jump + 1, (uint32_t)(b->len - jump));
}

/* A field of the method's delay. */
static uint16_t field(struct rewrite *r, char kind, const char *type)
{
	char name[NAME_MAX_BYTES];

	snprintf(name, sizeof(name), "%c%u", kind, (unsigned)(r->delay - r->delays));
	return lc_pool_field(&r->edit.pool, r->class, name, type);
}

/* The constants of all loops, and of those of the method's delay. */
static void find_constants(struct rewrite *r)
{
	struct lc_pool *p = &r->edit.pool;
	const uint32_t every = r->delay->every ? r->delay->every : 1;

	if (!r->class) {
		r->class = lc_pool_class(p, LC_DELAY_CLASS);
		r->seed = lc_pool_field(p, r->class, "seed", "J");
		r->multiplier = lc_pool_long(p, LC_DELAY_MULTIPLIER);
		r->increment = lc_pool_long(p, LC_DELAY_INCREMENT);
		r->never = lc_pool_long(p, NEVER);
		r->stackmap_name = lc_pool_utf8(p, "StackMapTable");
	}
	if (r->constants_of == r->delay)
		return;
	r->constants_of = r->delay;
	r->mask = lc_pool_long(p, every - 1);
	r->executions = field(r, 'c', "J");
	r->loops = field(r, 'd', "J");
	r->iterations = field(r, 'n', "I");
}

static void add_frame(struct rewrite *r, uint8_t type, const uint8_t *types, size_t len)
{
	struct lc_tail_frame *f = &r->frames[r->len * FRAMES_PER_LOOP];

	while (f->types)
		f++;
	*f = (struct lc_tail_frame){ .at = (uint32_t)r->tail.len,
		                     .type = type,
		                     .types = types,
		                     .types_len = (uint32_t)len };
}

/* Count the execution. Returns the jump of those that run no loop. */
static size_t add_count(struct rewrite *r)
{
	struct lc_bytes *b = &r->tail;

	add_operand(b, LC_OP_GETSTATIC, r->executions);
	lc_be_add1(b, OP_LCONST_1);
	lc_be_add1(b, OP_LADD);
	lc_be_add1(b, OP_DUP2);
	add_operand(b, LC_OP_PUTSTATIC, r->executions);
	add_operand(b, OP_LDC2_W, r->mask);
	lc_be_add1(b, OP_LAND);
	lc_be_add1(b, OP_LCONST_0);
	lc_be_add1(b, OP_LCMP);
	return add_jump(b, OP_IFNE, b->len);
}

/* Append the loop, from where the jump of the return leads to the return itself. */
static void add_loop(struct rewrite *r, uint8_t op)
{
	struct lc_bytes *b = &r->tail;
	size_t none, head, exit, done;

	/* The types of the full frame are put in when they are in their last place. */
	add_frame(r, FRAME_FULL, loop_types, 0);
	none = add_count(r);
	add_operand(b, LC_OP_GETSTATIC, r->loops);
	lc_be_add1(b, OP_LCONST_1);
	lc_be_add1(b, OP_LADD);
	add_operand(b, LC_OP_PUTSTATIC, r->loops);
	add_operand(b, LC_OP_GETSTATIC, r->seed);
	add_local(b, OP_LSTORE, r->x);
	add_operand(b, LC_OP_GETSTATIC, r->iterations);
	add_local(b, LC_OP_ISTORE, r->i);
	head = b->len;
	add_frame(r, FRAME_APPEND_2, loop_types, sizeof(loop_types));
	add_local(b, OP_ILOAD, r->i);
	exit = add_jump(b, OP_IFLE, b->len);
	add_local(b, OP_LLOAD, r->x);
	add_operand(b, OP_LDC2_W, r->multiplier);
	lc_be_add1(b, OP_LMUL);
	add_operand(b, OP_LDC2_W, r->increment);
	lc_be_add1(b, OP_LXOR);
	add_local(b, OP_LSTORE, r->x);
	add_decrement(b, r->i);
	add_jump(b, LC_OP_GOTO, head);
	land(b, exit);
	add_frame(r, FRAME_SAME, loop_types, 0);
	add_local(b, OP_LLOAD, r->x);
	add_operand(b, OP_LDC2_W, r->never);
	lc_be_add1(b, OP_LCMP);
	done = add_jump(b, OP_IFNE, b->len);
	add_local(b, OP_LLOAD, r->x);
	add_operand(b, LC_OP_PUTSTATIC, r->seed);
	land(b, none);
	land(b, done);
	add_frame(r, FRAME_CHOP_2, loop_types, 0);
	if (op != LC_OP_RETURN)
		add_local(b, (uint8_t)(OP_ILOAD + op - LC_OP_IRETURN), r->value);
	lc_be_add1(b, op);
}

/* The line of the instruction at `at`; 0: the table has none. */
static uint16_t line_at(const struct lc_class *c, const struct lc_method_code *code, uint32_t at)
{
	uint32_t best = 0;
	uint16_t line = 0;
	struct lc_attribute a;

	for (uint32_t p = code->attributes + 2; lc_class_attribute(c, p, code->end, &a);
	     p = a.body + a.len) {
		if (!lc_class_text_is(lc_class_utf8(c, a.name), "LineNumberTable"))
			continue;
		for (uint32_t e = 2; e + 4 <= a.len; e += 4) {
			const uint32_t start = lc_be_get2(c->bytes + a.body + e);

			if (start > at || start < best)
				continue;
			best = start;
			line = lc_be_get2(c->bytes + a.body + e + 2);
		}
	}
	return line;
}

static bool grow(struct rewrite *r)
{
	const size_t len = r->len + 1;
	void *p;

	p = lc_vector_reserve_array(r->inserts, &r->inserts_cap, len, sizeof(*r->inserts));
	if (!p)
		return false;
	r->inserts = p;
	p = lc_vector_reserve_array(r->frames, &r->frames_cap, len * FRAMES_PER_LOOP,
	                            sizeof(*r->frames));
	if (!p)
		return false;
	r->frames = p;
	memset(r->frames + r->len * FRAMES_PER_LOOP, 0, FRAMES_PER_LOOP * sizeof(*r->frames));
	p = lc_vector_reserve_array(r->lines, &r->lines_cap, len, sizeof(*r->lines));
	if (!p)
		return false;
	r->lines = p;
	return true;
}

/* Let the return at `at` jump to a loop of its own; where that is, the layout tells. */
static bool put_return(struct rewrite *r, const struct lc_method_code *code, uint32_t at)
{
	const uint8_t op = code->insns[at];
	struct lc_insert *insert;

	if (!grow(r))
		return false;
	insert = &r->inserts[r->len];
	*insert = (struct lc_insert){ .at = at, .instead = true };
	if (op != LC_OP_RETURN)
		insert->len = (uint8_t)put_local(
		    insert->bytes, (uint8_t)(LC_OP_ISTORE + op - LC_OP_IRETURN), r->value);
	insert->bytes[insert->len] = LC_OP_GOTO;
	insert->len += JUMP_BYTES;
	r->lines[r->len] = (struct lc_tail_line){ .at = (uint32_t)r->tail.len,
		                                  .line = line_at(&r->edit.cls, code, at) };
	add_loop(r, op);
	r->len++;
	return !r->tail.failed;
}

/* The type that a method of that descriptor returns, as a Class constant: its name. */
static uint16_t class_of_value(struct rewrite *r, struct lc_class_text descriptor)
{
	const char *type = descriptor.len ? memchr(descriptor.data, ')', descriptor.len) : NULL;
	const char *end;
	char *name;
	uint16_t number;

	if (!type)
		return 0;
	end = descriptor.data + descriptor.len;
	if (++type == end)
		return 0;
	if (*type == 'L' && end - type > 2) {
		type++;
		end--;
	}
	name = strndup(type, (size_t)(end - type));
	number = name ? lc_pool_class(&r->edit.pool, name) : 0;
	r->edit.pool.bytes.failed |= !name;
	free(name);
	return number;
}

/* The types of the frame at each loop: the value behind all variables of the method. */
static bool set_types(struct rewrite *r, const struct lc_member *m, uint8_t op, uint32_t locals)
{
	const uint8_t type = values[op - LC_OP_IRETURN].type;
	uint16_t class = 0;

	if (type == TYPE_OBJECT) {
		class = class_of_value(r, lc_class_utf8(&r->edit.cls, m->descriptor));
		if (!class)
			return false;
	}
	lc_bytes_empty(&r->types);
	lc_be_add2(&r->types, locals + (type != 0));
	for (uint32_t i = 0; i < locals; i++)
		lc_be_add1(&r->types, 0); /* top */
	if (type)
		lc_be_add1(&r->types, type);
	if (class)
		lc_be_add2(&r->types, class);
	lc_be_add2(&r->types, 0); /* nothing on the operand stack */
	for (size_t i = 0; i < r->len; i++) {
		r->frames[i * FRAMES_PER_LOOP].types = r->types.data;
		r->frames[i * FRAMES_PER_LOOP].types_len = (uint32_t)r->types.len;
	}
	return true;
}

/* Mark instructions and targets. *op gets the opcode of the returns, 0: there is none. */
static bool mark(struct lc_method_code *code, uint8_t *op)
{
	uint32_t bytes;

	*op = 0;
	for (uint32_t at = 0; at < code->len; at += bytes) {
		const uint8_t insn = code->insns[at];

		bytes = lc_method_insn_bytes(code, at);
		if (!bytes || !lc_method_code_mark_targets(code, at))
			return false;
		code->flags[at] |= LC_AT_START;
		if (insn < LC_OP_IRETURN || insn > LC_OP_RETURN)
			continue;
		if (*op && *op != insn)
			return false;
		*op = insn;
	}
	return lc_method_code_mark_handlers(code);
}

static enum lc_delay_state put_returns(struct rewrite *r, const struct lc_method_code *code,
                                       uint8_t op)
{
	const int32_t words = values[op - LC_OP_IRETURN].words;
	uint32_t bytes;
	bool known;

	r->depths = malloc(code->len * sizeof(*r->depths));
	r->work = malloc(code->len * sizeof(*r->work));
	if (!r->depths || !r->work)
		return LC_DELAY_NO_MEMORY;
	/* The depths are unknown if a subroutine is called at several depths. A class without
	 * frames allows any stack at a loop that only one way leads to. */
	known = lc_delay_depths(&r->edit.cls, code, r->depths, r->work);
	if (!known && r->edit.cls.major >= LC_CLASS_MAJOR_STACKMAP)
		return LC_DELAY_MALFORMED;
	for (uint32_t at = 0; at < code->len; at += bytes) {
		bytes = lc_method_insn_bytes(code, at);
		if (code->insns[at] != op || (known && r->depths[at] != words))
			continue;
		if (!put_return(r, code, at))
			return LC_DELAY_NO_MEMORY;
		if (r->tail.len > LC_CODE_MAX_BYTES)
			return LC_DELAY_TOO_LARGE;
	}
	return r->len ? LC_DELAY_IN_PLACE : LC_DELAY_NO_RETURN;
}

/* Let each jump lead to its loop. */
static bool aim(struct rewrite *r, const struct lc_method_code *code)
{
	for (size_t i = 0; i < r->len; i++) {
		struct lc_insert *insert = &r->inserts[i];
		const uint32_t from = code->moved[insert->at] + insert->len - JUMP_BYTES;
		const uint32_t to = code->moved[code->len] + r->lines[i].at;

		if (to - from > NEAR_MAX_BYTES)
			return false;
		lc_be_put2(insert->bytes + insert->len - 2, to - from);
	}
	return true;
}

static enum lc_delay_state delay_code(struct rewrite *r, const struct lc_member *m,
                                      struct lc_method_code *code)
{
	uint8_t op;
	const uint32_t locals = code->max_locals;
	enum lc_delay_state state;

	if (!mark(code, &op))
		return LC_DELAY_MALFORMED;
	if (!op)
		return LC_DELAY_NO_RETURN;
	r->value = locals;
	r->x = locals + values[op - LC_OP_IRETURN].words;
	r->i = r->x + 2;
	if (r->x + LOOP_LOCALS > UINT16_MAX || code->max_stack > UINT16_MAX - STACK_WORDS)
		return LC_DELAY_TOO_LARGE;
	find_constants(r);
	state = put_returns(r, code, op);
	if (state != LC_DELAY_IN_PLACE)
		return state;
	if (!set_types(r, m, op, locals))
		return LC_DELAY_MALFORMED;
	code->max_locals = (uint16_t)(r->x + LOOP_LOCALS);
	code->tail = r->tail.data;
	code->tail_len = (uint16_t)r->tail.len;
	code->stackmap_name = r->stackmap_name;
	code->tail_frames = r->frames;
	code->tail_frames_len = (uint32_t)r->len * FRAMES_PER_LOOP;
	code->tail_lines = r->lines;
	code->tail_lines_len = (uint32_t)r->len;
	switch (lc_method_code_layout(code, r->inserts, r->len)) {
	case LC_REWRITE_DONE:
		return aim(r, code) ? LC_DELAY_IN_PLACE : LC_DELAY_TOO_LARGE;
	case LC_REWRITE_TOO_LARGE:
		return LC_DELAY_TOO_LARGE;
	default:
		return LC_DELAY_MALFORMED;
	}
}

static enum lc_rewrite_status rewrite_code(void *user, const struct lc_member *m,
                                           const struct lc_attribute *a)
{
	struct rewrite *r = user;
	struct lc_method_code code;
	enum lc_rewrite_status status;
	struct lc_delay_result *result;
	enum lc_delay_state state;

	r->delay = delay_of(r, m);
	if (!r->delay)
		return LC_REWRITE_DONE;
	result = &r->results[r->delay - r->delays];
	if (lc_class_text_begins(lc_class_utf8(&r->edit.cls, m->name), "<")) {
		note(result, LC_DELAY_CONSTRUCTOR);
		return LC_REWRITE_DONE;
	}
	status = lc_edit_read(&r->edit, a, &code);
	if (status != LC_REWRITE_DONE)
		return status;
	r->len = 0;
	lc_bytes_empty(&r->tail);
	state = delay_code(r, m, &code);
	free(r->depths);
	free(r->work);
	r->depths = NULL;
	r->work = NULL;
	note(result, state);
	if (state != LC_DELAY_IN_PLACE)
		return state == LC_DELAY_NO_MEMORY ? LC_REWRITE_NO_MEMORY : LC_REWRITE_DONE;
	result->returns += (uint32_t)r->len;
	r->changed = true;
	return lc_edit_put(&r->edit, a, &code, r->inserts, r->len,
	                   (uint32_t)code.max_stack + STACK_WORDS);
}

/* Set the results that are known before any code is read. */
static void look(struct rewrite *r)
{
	const struct lc_class *c = &r->edit.cls;
	uint32_t at = c->methods + 2;

	for (size_t i = 0; i < r->delays_len; i++)
		if (is_named(lc_class_name(c, c->this_class), r->delays[i].class_name))
			r->results[i].state = LC_DELAY_NO_METHOD;
	for (uint32_t n = lc_be_get2(c->bytes + c->methods); n; n--) {
		const struct lc_member m = lc_class_member(c, at);
		const struct lc_delay *d = delay_of(r, &m);

		at = m.end;
		if (d && m.access_flags & ACC_NATIVE)
			note(&r->results[d - r->delays], LC_DELAY_NATIVE);
		if (d && m.access_flags & ACC_ABSTRACT)
			note(&r->results[d - r->delays], LC_DELAY_ABSTRACT);
	}
}

/* The class as a whole is left as it is: no delay of it is in place. */
static void fail(struct rewrite *r, enum lc_rewrite_status status)
{
	const enum lc_delay_state state = status == LC_REWRITE_TOO_LARGE   ? LC_DELAY_TOO_LARGE
	                                  : status == LC_REWRITE_NO_MEMORY ? LC_DELAY_NO_MEMORY
	                                                                   : LC_DELAY_MALFORMED;

	for (size_t i = 0; i < r->delays_len; i++)
		if (r->results[i].state != LC_DELAY_NO_CLASS)
			r->results[i] = (struct lc_delay_result){ .state = state };
}

enum lc_rewrite_status lc_delay_rewrite(const uint8_t *in, size_t len,
                                        const struct lc_delay *delays, size_t delays_len,
                                        struct lc_delay_result *results, uint8_t **out,
                                        size_t *out_len)
{
	struct rewrite r = { .delays = delays, .delays_len = delays_len, .results = results };
	enum lc_rewrite_status status = lc_edit_open(&r.edit, in, len);

	memset(results, 0, delays_len * sizeof(*results));
	if (status == LC_REWRITE_DONE) {
		look(&r);
		status = lc_edit_methods(&r.edit, rewrite_code, &r);
	}
	if (status == LC_REWRITE_DONE && (r.edit.pool.bytes.failed || r.edit.pool.full))
		status = r.edit.pool.full ? LC_REWRITE_TOO_LARGE : LC_REWRITE_NO_MEMORY;
	if (status == LC_REWRITE_DONE && !r.changed)
		status = LC_REWRITE_NOTHING;
	if (status == LC_REWRITE_DONE)
		status = lc_edit_join(&r.edit, out, out_len);
	if (status != LC_REWRITE_DONE && status != LC_REWRITE_NOTHING)
		fail(&r, status);
	lc_edit_close(&r.edit);
	free(r.inserts);
	free(r.frames);
	free(r.lines);
	free(r.tail.data);
	free(r.types.data);
	return status;
}
