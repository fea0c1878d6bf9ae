/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/reached.c - follows references through the operand stack and the local variables of a
 * method, over all ways through it.
 *
 * Blocks begin at the method's begin and at targets of jumps and handlers. Each has the words with
 * which it begins: the union of what the ways to it bring. Words only grow, from nothing over sets
 * of up to LC_REACHED_SOURCES to "not known", so that the walk over changed blocks ends.
 */
#include "src/classfile/reached.h"

#include <stdlib.h>
#include <string.h>

#include "src/classfile/insn_role.h"
#include "src/classfile/reached_impl.h"
#include "src/classfile/stack_effect.h"

enum {
	OP_ACONST_NULL = 1,
	ACC_STATIC = 8,
	WORDS_MAX = 1 << 18, /* of all blocks of a method */
	STEPS_MAX = 1 << 22, /* instructions looked at in one analysis */
};

static const struct lc_reached_words not_known = { { LC_REACHED_NOT_KNOWN } };

static bool same(const struct lc_reached_words *a, const struct lc_reached_words *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* The union. */
static struct lc_reached_words unite(const struct lc_reached_words *a,
                                     const struct lc_reached_words *b)
{
	struct lc_reached_words both = { 0 };
	unsigned i = 0, j = 0, n = 0;

	if (a->of[0] == LC_REACHED_NOT_KNOWN || b->of[0] == LC_REACHED_NOT_KNOWN)
		return not_known;
	for (;;) {
		const uint32_t x = i < LC_REACHED_SOURCES ? a->of[i] : 0;
		const uint32_t y = j < LC_REACHED_SOURCES ? b->of[j] : 0;

		if (!x && !y)
			return both;
		if (n == LC_REACHED_SOURCES)
			return not_known;
		both.of[n++] = !y || (x && x < y) ? x : y;
		i += x == both.of[n - 1];
		j += y == both.of[n - 1];
	}
}

static struct lc_reached_words element_of(const struct lc_reached_words *array)
{
	struct lc_reached_words w = *array;

	if (w.of[0] == LC_REACHED_NOT_KNOWN)
		return w;
	for (unsigned i = 0; i < LC_REACHED_SOURCES && w.of[i]; i++) {
		if ((w.of[i] >> 16 & 0xff) == LC_REACHED_ELEMENTS)
			return not_known;
		w.of[i] += 1u << 16;
	}
	return w;
}

struct lc_reached_sources lc_reached_sources_of(const struct lc_reached_words *w)
{
	struct lc_reached_sources s = { .known = w->of[0] != LC_REACHED_NOT_KNOWN };

	for (; s.known && s.len < LC_REACHED_SOURCES && w->of[s.len]; s.len++)
		s.of[s.len] = (struct lc_reached_source){
			.kind = (uint8_t)(w->of[s.len] >> 24),
			.elements = (uint8_t)(w->of[s.len] >> 16),
			.index = (uint16_t)w->of[s.len],
		};
	return s;
}

static struct lc_reached_words word_from(const struct lc_reached_sources *s)
{
	struct lc_reached_words w = { 0 };

	if (!s->known)
		return not_known;
	for (unsigned i = 0; i < s->len; i++)
		w.of[i] = lc_reached_pack(s->of[i].kind, s->of[i].elements, s->of[i].index);
	return w;
}

void lc_reached_join(struct lc_reached_sources *to, const struct lc_reached_sources *from)
{
	const struct lc_reached_words a = word_from(to), b = word_from(from), both = unite(&a, &b);

	*to = lc_reached_sources_of(&both);
}

/* ---- the stack ---- */

static void push(struct lc_reached *r, struct lc_reached_words w)
{
	if (r->now.depth == r->frame - r->code.max_locals)
		r->bad = true;
	else
		lc_reached_stack(r)[r->now.depth++] = w;
}

static struct lc_reached_words pop(struct lc_reached *r)
{
	if (!r->now.depth) {
		r->bad = true;
		return not_known;
	}
	return lc_reached_stack(r)[--r->now.depth];
}

/* Take words and put back as many unknown ones as the instruction does. */
static void effect(struct lc_reached *r, uint32_t at)
{
	int32_t pops, pushes;

	if (!lc_stack_effect(r->cls, &r->code, at, &pops, &pushes) ||
	    (uint32_t)pops > r->now.depth) {
		r->bad = true;
		return;
	}
	r->now.depth -= (uint32_t)pops;
	while (pushes-- > 0 && !r->bad)
		push(r, not_known);
}

static void effect_with(struct lc_reached *r, uint32_t at, struct lc_reached_words result)
{
	effect(r, at);
	if (!r->bad && r->now.depth)
		lc_reached_stack(r)[r->now.depth - 1] = result;
}

/* ---- instructions ---- */

static bool is_reference(char type)
{
	return type == 'L' || type == '[';
}

static void visit_load(struct lc_reached *r, uint32_t at)
{
	const struct lc_insn_local l = lc_insn_local(r->code.insns + at);

	if (l.slot + l.is_wide >= r->code.max_locals) {
		r->bad = true;
		return;
	}
	push(r, l.is_reference ? r->now.words[l.slot] : not_known);
	if (l.is_wide)
		push(r, not_known);
}

/* A local variable becomes `w`. */
static void set_local(struct lc_reached *r, uint32_t slot, struct lc_reached_words w)
{
	r->now.words[slot] = w;
	r->ever[slot] = unite(&r->ever[slot], &w);
}

static void visit_store(struct lc_reached *r, uint32_t at)
{
	const struct lc_insn_local l = lc_insn_local(r->code.insns + at);
	struct lc_reached_words w;

	if (l.is_wide)
		(void)pop(r);
	w = pop(r);
	if (l.slot + l.is_wide >= r->code.max_locals) {
		r->bad = true;
		return;
	}
	set_local(r, l.slot, l.is_reference ? w : not_known);
	if (l.is_wide)
		set_local(r, l.slot + 1, not_known);
	r->now.locals_changed = true;
}

static void visit_shuffle(struct lc_reached *r, uint8_t op)
{
	const struct lc_insn_shuffle shuffle = lc_insn_shuffle(op);
	struct lc_reached_words taken[4];

	for (unsigned i = shuffle.takes; i; i--)
		taken[i - 1] = pop(r);
	for (const char *put = shuffle.puts; *put; put++)
		push(r, taken[*put - '0']);
}

static void visit_field(struct lc_reached *r, uint8_t op, uint32_t at)
{
	const uint32_t index = lc_be_get2(r->code.insns + at + 1);
	struct lc_class_ref ref;

	if ((op != LC_OP_GETFIELD && op != LC_OP_GETSTATIC) ||
	    !lc_class_field_ref(r->cls, index, &ref) || !ref.descriptor.len ||
	    !is_reference(*ref.descriptor.data))
		effect(r, at);
	else
		effect_with(
		    r, at,
		    lc_reached_word(op == LC_OP_GETFIELD ? LC_REACHED_FIELD : LC_REACHED_STATIC,
		                    index));
}

static bool returns_reference(struct lc_class_text descriptor)
{
	const char *closing = descriptor.len ? memchr(descriptor.data, ')', descriptor.len) : NULL;

	return closing && closing + 1 < descriptor.data + descriptor.len &&
	       is_reference(closing[1]);
}

static struct lc_class_text called_descriptor(const struct lc_reached *r, uint32_t at)
{
	const uint32_t index = lc_be_get2(r->code.insns + at + 1);
	struct lc_class_ref ref = { 0 };

	if (r->code.insns[at] == LC_OP_INVOKEDYNAMIC)
		return lc_class_dynamic_descriptor(r->cls, index);
	if (!lc_class_method_ref(r->cls, index, &ref))
		(void)lc_class_interface_ref(r->cls, index, &ref);
	return ref.descriptor;
}

static void visit_call(struct lc_reached *r, uint32_t at)
{
	if (returns_reference(called_descriptor(r, at)))
		effect_with(r, at, lc_reached_word(LC_REACHED_RESULT, at));
	else
		effect(r, at);
}

static void visit_aaload(struct lc_reached *r)
{
	struct lc_reached_words array;

	(void)pop(r);
	array = pop(r);
	push(r, element_of(&array));
}

static void visit_other(struct lc_reached *r, uint8_t op, uint32_t at)
{
	if (op == OP_ACONST_NULL)
		effect_with(r, at, (struct lc_reached_words){ 0 });
	else if (op == LC_OP_LDC || op == LC_OP_LDC_W)
		effect_with(r, at, lc_reached_word(LC_REACHED_CONSTANT, at));
	else
		effect(r, at);
}

void lc_reached_visit(struct lc_reached *r, uint32_t at)
{
	const uint8_t *insn = r->code.insns + at;

	switch (lc_insn_role(insn)) {
	case LC_ROLE_LOAD:
		visit_load(r, at);
		break;
	case LC_ROLE_STORE:
		visit_store(r, at);
		break;
	case LC_ROLE_SHUFFLE:
		visit_shuffle(r, *insn);
		break;
	case LC_ROLE_FIELD:
		visit_field(r, *insn, at);
		break;
	case LC_ROLE_CALL:
		visit_call(r, at);
		break;
	case LC_ROLE_NEW:
		effect_with(r, at, lc_reached_word(LC_REACHED_NEW, at));
		break;
	case LC_ROLE_AALOAD:
		visit_aaload(r);
		break;
	case LC_ROLE_CAST: /* the same reference */
		if (!r->now.depth)
			r->bad = true;
		break;
	default:
		visit_other(r, *insn, at);
	}
}

/* ---- the ways ---- */

/* Words of block `b` grow by those of `now`, of whose stack `depth` words count. */
static void join(struct lc_reached *r, uint32_t number, uint32_t depth)
{
	struct lc_reached_block *b = &r->blocks[number];
	struct lc_reached_words *words = r->words + (size_t)number * r->frame;
	const uint32_t len = r->code.max_locals + depth;

	if (!b->reached) {
		b->reached = b->changed = true;
		b->depth = depth;
		memcpy(words, r->now.words, len * sizeof(*words));
		return;
	}
	if (b->depth != depth) {
		r->bad = true;
		return;
	}
	for (uint32_t i = 0; i < len; i++) {
		const struct lc_reached_words both = unite(&words[i], &r->now.words[i]);

		b->changed |= !same(&both, &words[i]);
		words[i] = both;
	}
}

static bool jump(void *user, uint32_t at, uint32_t target)
{
	struct lc_reached *r = user;

	join(r, r->code.moved[target], r->now.depth);
	return !r->bad;
}

/* The local variables go along to the handlers of the instruction at `at`, whose stack is one
 * exception. */
static void tell_handlers(struct lc_reached *r, uint32_t at)
{
	for (uint32_t i = 0; i < r->code.handlers_len; i++) {
		const uint8_t *h = r->code.handlers + (size_t)LC_HANDLER_BYTES * i;
		const uint32_t start = lc_be_get2(h);
		struct lc_reached_words below;

		if (at < start || at >= lc_be_get2(h + 2) ||
		    (!r->now.locals_changed && at != start))
			continue;
		below = lc_reached_stack(r)[0];
		lc_reached_stack(r)[0] = lc_reached_word(LC_REACHED_CAUGHT, 0);
		join(r, r->code.moved[lc_be_get2(h + 4)], 1);
		lc_reached_stack(r)[0] = below;
	}
	r->now.locals_changed = false;
}

void lc_reached_begin(struct lc_reached *r, uint32_t number)
{
	const struct lc_reached_block *b = &r->blocks[number];

	memcpy(r->now.words, r->words + (size_t)number * r->frame,
	       (r->code.max_locals + b->depth) * sizeof(*r->now.words));
	r->now.depth = b->depth;
	r->now.locals_changed = true;
}

/* Look at a block, and let its ways go on in others. */
static void walk_block(struct lc_reached *r, uint32_t number)
{
	uint32_t at = r->blocks[number].at;

	r->blocks[number].changed = false;
	lc_reached_begin(r, number);
	while (!r->bad) {
		const uint8_t op = r->code.insns[at];
		const uint32_t next = at + lc_method_insn_bytes(&r->code, at);

		r->bad = ++r->steps > STEPS_MAX;
		tell_handlers(r, at);
		lc_reached_visit(r, at);
		if (!r->bad)
			(void)lc_method_code_each_target(&r->code, at, jump, r);
		if (r->bad || lc_stack_ends_flow(op))
			return;
		if (next >= r->code.len) {
			r->bad = true;
			return;
		}
		if (r->code.flags[next] & LC_AT_TARGET) {
			join(r, r->code.moved[next], r->now.depth);
			return;
		}
		at = next;
	}
}

/* The words with which the method begins. */
static void enter(struct lc_reached *r)
{
	const struct lc_class_text d = lc_class_utf8(r->cls, r->method.descriptor);
	const char *at, *end;
	uint32_t slot = 0;

	if (!d.len) {
		r->bad = true;
		return;
	}
	at = d.data + 1;
	end = d.data + d.len;
	for (uint32_t i = 0; i < r->code.max_locals; i++)
		r->now.words[i] = not_known;
	if (!(r->method.access_flags & ACC_STATIC) && r->code.max_locals)
		r->now.words[slot++] = lc_reached_word(LC_REACHED_PARAMETER, 0);
	while (at < end && *at != ')') {
		const bool wide = *at == 'J' || *at == 'D';

		if (slot >= r->code.max_locals) {
			r->bad = true;
			return;
		}
		if (is_reference(*at))
			r->now.words[slot] = lc_reached_word(LC_REACHED_PARAMETER, slot);
		slot += wide ? 2 : 1;
		at = lc_insn_skip_type(at, end);
	}
	for (uint32_t i = 0; i < slot && i < r->code.max_locals; i++)
		r->ever[i] = r->now.words[i];
	join(r, 0, 0);
}

static bool walk_changed(struct lc_reached *r)
{
	bool any = false;

	for (uint32_t i = 0; i < r->blocks_len && !r->bad; i++)
		if (r->blocks[i].changed) {
			any = true;
			walk_block(r, i);
		}
	return any;
}

/*
 * Without an exception table, code to which nothing leads is a handler: there each variable may be
 * all that it ever is.
 */
static bool enter_handlers(struct lc_reached *r)
{
	bool any = false;

	for (uint32_t i = 0; i < r->blocks_len && !r->code.handlers_len && !r->bad; i++) {
		struct lc_reached_block *b = &r->blocks[i];

		b->handler |= !b->reached;
		if (!b->handler)
			continue;
		memcpy(r->now.words, r->ever, r->code.max_locals * sizeof(*r->ever));
		lc_reached_stack(r)[0] = lc_reached_word(LC_REACHED_CAUGHT, 0);
		join(r, i, 1);
		while (walk_changed(r)) /* what follows a handler is none */
			any = true;
	}
	return any;
}

static void walk(struct lc_reached *r)
{
	enter(r);
	while (walk_changed(r) && !r->bad)
		;
	while (enter_handlers(r) && !r->bad)
		;
}

/* ---- open and close ---- */

static bool find_code(const struct lc_class *c, const struct lc_member *method,
                      struct lc_method_code *out)
{
	uint32_t at = method->attributes + 2;
	struct lc_attribute a;

	while (lc_class_attribute(c, at, method->end, &a)) {
		if (lc_class_text_is(lc_class_utf8(c, a.name), "Code"))
			return lc_method_code_read(c, &a, out);
		at = a.body + a.len;
	}
	return false;
}

/* Set the flags of all positions. False: the code is not analysed. */
static bool mark(struct lc_method_code *code)
{
	uint32_t bytes;

	for (uint32_t at = 0; at < code->len; at += bytes) {
		const uint8_t op = code->insns[at];

		bytes = lc_method_insn_bytes(code, at);
		if (!bytes || op == LC_OP_JSR || op == LC_OP_JSR_W || op == LC_OP_RET ||
		    (op == LC_OP_WIDE && code->insns[at + 1] == LC_OP_RET))
			return false;
		code->flags[at] |= LC_AT_START;
		if (!lc_method_code_mark_targets(code, at))
			return false;
		if (lc_stack_ends_flow(op) && at + bytes < code->len)
			code->flags[at + bytes] |= LC_AT_TARGET;
	}
	if (!lc_method_code_mark_handlers(code))
		return false;
	code->flags[0] |= LC_AT_TARGET;
	for (uint32_t at = 0; at < code->len; at++)
		if ((code->flags[at] & (LC_AT_START | LC_AT_TARGET)) == LC_AT_TARGET)
			return false;
	return true;
}

struct depths {
	struct lc_reached *r;
	uint32_t now;
};

static bool carry_depth(void *user, uint32_t at, uint32_t target)
{
	struct depths *d = user;

	d->r->code.moved[target] = d->now;
	return true;
}

/*
 * The deepest stack of the code, which max_stack may be far above; at least 1, for handlers. A
 * compiler's code jumps back to places that it has come by, so that one pass sees all depths; other
 * code is refused when it is walked.
 */
static uint32_t deepest(struct lc_reached *r)
{
	struct depths d = { .r = r };
	uint32_t most = 1;
	int32_t pops, pushes;

	for (uint32_t at = 0; at < r->code.len; at += lc_method_insn_bytes(&r->code, at)) {
		if (!lc_stack_effect(r->cls, &r->code, at, &pops, &pushes))
			return most;
		if (r->code.moved[at] > d.now)
			d.now = r->code.moved[at];
		d.now -= (uint32_t)pops < d.now ? (uint32_t)pops : d.now;
		d.now += (uint32_t)pushes;
		if (d.now > most)
			most = d.now;
		(void)lc_method_code_each_target(&r->code, at, carry_depth, &d);
		if (lc_stack_ends_flow(r->code.insns[at]))
			d.now = 1; /* a handler, unless a jump leads there */
	}
	return most;
}

/* Number the blocks; code->moved of a position is the number of the block that begins there. */
static bool divide(struct lc_reached *r)
{
	for (uint32_t at = 0; at < r->code.len; at++)
		r->blocks_len += (r->code.flags[at] & LC_AT_TARGET) != 0;
	r->frame = r->code.max_locals + deepest(r);
	if ((uint64_t)r->frame * r->blocks_len > WORDS_MAX)
		return false;
	r->blocks = calloc(r->blocks_len, sizeof(*r->blocks));
	r->words =
	    calloc((size_t)r->frame * (r->blocks_len + 1) + r->code.max_locals, sizeof(*r->words));
	if (!r->blocks || !r->words)
		return false;
	r->now.words = r->words + (size_t)r->frame * r->blocks_len;
	r->ever = r->now.words + r->frame;
	for (uint32_t at = 0, i = 0; at < r->code.len; at++)
		if (r->code.flags[at] & LC_AT_TARGET) {
			r->blocks[i].at = at;
			r->code.moved[at] = i++;
		}
	return true;
}

struct lc_reached *lc_reached_open(const struct lc_class *c, const struct lc_member *method)
{
	struct lc_method_code code = { 0 };
	struct lc_reached *r;

	if (!find_code(c, method, &code) || !(r = malloc(sizeof(*r))))
		return NULL;
	*r = (struct lc_reached){ .cls = c, .method = *method, .code = code };
	r->code.flags = calloc(code.len + 1u, 1);
	r->code.moved = calloc(code.len + 1u, sizeof(*r->code.moved));
	if (r->code.flags && r->code.moved && mark(&r->code) && divide(r)) {
		walk(r);
		if (!r->bad)
			return r;
	}
	lc_reached_close(r);
	return NULL;
}
