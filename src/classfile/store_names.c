/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/store_names.c - follows values through the operand stack and the local variables of a
 * method, and notes the events of each value.
 *
 * Invariants: the stack holds the words nearest to its top. Words below them are unknown, and a
 * word that is taken from there is 0. Events are noted for values that an instruction makes or that
 * are passed in, not for a word that is one of two values.
 *
 * The file is longer than 600 lines because it has each instruction's effect on the words;
 * store_names_rows.c turns the events into rows.
 */
#include "src/classfile/store_names.h"

#include <stdlib.h>
#include <string.h>

#include "src/classfile/hook_calls.h"
#include "src/classfile/insn_role.h"
#include "src/classfile/stack_effect.h"
#include "src/classfile/store_names_impl.h"

enum {
	ACC_STATIC = 8,
	PENDING_MAX = 32, /* forward jumps whose words are kept at a time */
	EITHER_DEPTH = 8, /* a word that is one of several is not followed further */
	ARRAYS_MAX = 255,
};

/* A method or a field of the pool, looked up when it is first used. */
enum result { RESULT_OTHER, RESULT_OBJECT, RESULT_ARRAY, RESULT_BUFFER };

struct lc_store_names_member {
	bool known, good;
	bool takes_any;     /* an array, a buffer or any object is an argument */
	bool is_hook;       /* the agent's */
	bool of_buffer;     /* a buffer is what the method is called on */
	uint8_t words;      /* of the result, or of the field */
	uint8_t result;     /* enum result */
	uint8_t arrays;     /* of the result's class */
	uint16_t arguments; /* words, without the object that the method is called on */
};

/* A jump forward: the words that it carries are in `carried`. */
struct pending {
	uint32_t target;
	uint32_t first, len;
};

/* Instructions of a method that matter. */
enum {
	HAS_ARRAY = 1,  /* an instruction that makes one, or a call that returns one or a buffer */
	HAS_NEW = 2,    /* new */
	HAS_OBJECT = 4, /* a call that may return an array */
	HAS_KEEP = 8,   /* a store to a field or an array */
	HAS_CAST = 16,  /* to an array, or the end of a method that returns an object */
	HAS_PARAMETER = 32,
	HAS_PASS = 64, /* a call of a method that is known, which takes an array or the like */
};

struct walk {
	struct lc_store_names_scan *scan;
	const struct lc_class *cls;
	struct lc_method_code *code;
	const struct lc_member *method;
	uint64_t *stack, *locals;
	uint8_t *assigned;
	uint32_t len; /* words on the stack that are known of */
	bool carries; /* one of them may be a value */
	bool failed;  /* no memory */
	bool bad;     /* nothing that the JVM accepts */
};

/* ---- values ---- */

static uint64_t add_value(struct walk *w, struct value v)
{
	struct lc_vector *values = &w->scan->values;

	v.event = NO_EVENT;
	if (values->len == VALUES_MAX)
		return 0;
	if (lc_vector_push(values, &v)) {
		w->failed = true;
		return 0;
	}
	w->carries = true;
	return word_make(WORD_VALUE, (uint32_t)values->len - 1, 0);
}

static uint64_t either(struct walk *w, uint64_t a, uint64_t b)
{
	if (!a || a == b)
		return b;
	return b ? add_value(w, (struct value){ .kind = VALUE_EITHER, .one = a, .other = b }) : a;
}

/*
 * Note the event of each value that the word may be and that can have one. An element that is
 * stored is an event of its array.
 */
static void note(struct walk *w, uint64_t word, struct event e, unsigned depth)
{
	struct lc_vector *events = &w->scan->events;
	struct value *v;

	if (word_kind(word) != WORD_VALUE || depth >= EITHER_DEPTH)
		return;
	v = value_at(w->scan, word_a(word));
	if (v->kind == VALUE_EITHER) {
		note(w, v->one, e, depth + 1);
		note(w, value_at(w->scan, word_a(word))->other, e, depth + 1);
		return;
	}
	if (v->kind == VALUE_ELEMENT && e.kind != EVENT_LOCAL && e.kind != EVENT_RETURNED) {
		e.taken++;
		note(w, v->one, e, depth + 1);
		return;
	}
	if (v->kind != VALUE_MADE)
		return;
	/* An object is named by the place that keeps it, not by a method that passes it on. */
	if (v->source == LC_STORE_OF_OBJECT && e.kind != EVENT_FIELD && e.kind != EVENT_ELEMENT)
		return;
	e.next = v->event;
	if (lc_vector_push(events, &e))
		w->failed = true;
	else
		v->event = (uint32_t)events->len - 1;
}

/* ---- the stack ---- */

static void push(struct walk *w, uint64_t word)
{
	if (w->len == w->code->max_stack)
		w->bad = true;
	else
		w->stack[w->len++] = word;
}

static uint64_t pop(struct walk *w)
{
	return w->len ? w->stack[--w->len] : 0;
}

static void pop_words(struct walk *w, uint32_t words)
{
	w->len = words < w->len ? w->len - words : 0;
}

static void push_words(struct walk *w, uint32_t words)
{
	while (words-- && !w->bad)
		push(w, 0);
}

/* dup and the like, and swap: how many words they take, and which of these they put back. */
static void visit_shuffle(struct walk *w, uint8_t op)
{
	const struct lc_insn_shuffle shuffle = lc_insn_shuffle(op);
	uint64_t taken[4];

	for (unsigned i = shuffle.takes; i; i--)
		taken[i - 1] = pop(w);
	for (const char *put = shuffle.puts; *put; put++)
		push(w, taken[*put - '0']);
}

/* ---- jumps ---- */

static bool is_subroutine_call(uint8_t op)
{
	return op == LC_OP_JSR || op == LC_OP_JSR_W;
}

/* The words of the stack go along to `target`. */
static bool carry(void *user, uint32_t at, uint32_t target)
{
	struct walk *w = user;
	struct lc_vector *pending = &w->scan->pending, *carried = &w->scan->carried;
	const struct pending p = { target, (uint32_t)carried->len, w->len };

	if (target <= at || pending->len == PENDING_MAX)
		return true;
	for (uint32_t i = 0; i < w->len && !w->failed; i++)
		w->failed = lc_vector_push(carried, &w->stack[i]);
	w->failed = w->failed || lc_vector_push(pending, &p);
	return true;
}

static void carry_on(struct walk *w, uint32_t at)
{
	bool any = false;

	/* A subroutine begins with one more word. */
	for (uint32_t i = 0; w->carries && !is_subroutine_call(w->code->insns[at]) && i < w->len;
	     i++)
		any |= word_kind(w->stack[i]) == WORD_VALUE;
	if (any)
		(void)lc_method_code_each_target(w->code, at, carry, w);
}

/* Join the words that a jump has carried here with those of the stack. */
static void join(struct walk *w, const struct pending *p)
{
	const uint64_t *words = (const uint64_t *)w->scan->carried.data + p->first;
	const uint32_t both = p->len < w->len ? p->len : w->len;

	for (uint32_t i = 1; i <= both; i++)
		w->stack[w->len - i] = either(w, w->stack[w->len - i], words[p->len - i]);
	if (p->len > w->len) {
		memmove(w->stack + (p->len - w->len), w->stack, w->len * sizeof(*w->stack));
		memcpy(w->stack, words, (p->len - w->len) * sizeof(*w->stack));
		w->len = p->len;
	}
}

/* Ways meet at `at`: local variables with several assignments may have other values. */
static void meet(struct walk *w, uint32_t at)
{
	struct lc_vector *pending = &w->scan->pending;
	struct pending *all = pending->data;
	size_t kept = 0;

	for (uint32_t i = 0; i < w->code->max_locals; i++)
		if (w->assigned[i] > 1)
			w->locals[i] = 0;
	for (size_t i = 0; i < pending->len; i++) {
		if (all[i].target == at)
			join(w, &all[i]);
		else if (all[i].target > at)
			all[kept++] = all[i];
	}
	pending->len = kept;
	if (!kept)
		w->scan->carried.len = 0;
}

/* ---- local variables ---- */

static void assign(struct walk *w, uint32_t slot)
{
	if (slot < w->code->max_locals && w->assigned[slot] < 2)
		w->assigned[slot]++;
}

static uint64_t loaded(const struct walk *w, uint32_t slot, uint32_t at)
{
	uint64_t word = slot < w->code->max_locals ? w->locals[slot] : 0;

	return word ? word : word_make(WORD_LOCAL, slot, at);
}

static void store_local(struct walk *w, uint32_t at)
{
	const struct lc_insn_local a = lc_insn_local(w->code->insns + at);
	const uint64_t word = pop(w);
	const uint32_t next = at + lc_method_insn_bytes(w->code, at);

	pop_words(w, a.is_wide);
	if (a.slot + a.is_wide >= w->code->max_locals)
		return;
	w->locals[a.slot] = a.is_reference ? word : 0;
	if (a.is_wide)
		w->locals[a.slot + 1] = 0;
	else
		note(w, word, (struct event){ .kind = EVENT_LOCAL, .a = a.slot, .at = next }, 0);
}

static uint8_t arrays_of(struct lc_class_text type)
{
	size_t n = 0;

	while (n < type.len && n < ARRAYS_MAX && type.data[n] == '[')
		n++;
	return (uint8_t)n;
}

bool lc_store_names_is_buffer(struct lc_class_text class)
{
	return lc_class_text_is(class, "java/nio/ByteBuffer") ||
	       lc_class_text_is(class, "java/nio/MappedByteBuffer") ||
	       lc_class_text_is(class, "java/lang/foreign/MemorySegment");
}

static enum result result_of(struct lc_class_text type)
{
	if (arrays_of(type))
		return RESULT_ARRAY;
	if (lc_class_text_is(type, "Ljava/lang/Object;"))
		return RESULT_OBJECT;
	return type.len > 2 && lc_store_names_is_buffer(
	                           (struct lc_class_text){ type.data + 1, type.len - 2 })
	           ? RESULT_BUFFER
	           : RESULT_OTHER;
}

/*
 * Arrays, buffers and any objects that are passed in are values, each in its local variable.
 * Returns a HAS_ bit, or 0.
 */
static unsigned begin_parameters(struct walk *w)
{
	struct lc_class_text d = lc_class_utf8(w->cls, w->method->descriptor);
	const char *end, *at;
	uint32_t slot = !(w->method->access_flags & ACC_STATIC);

	if (!d.len)
		return 0;
	end = d.data + d.len;
	at = d.data + 1;
	if (slot)
		assign(w, 0);
	while (at < end && *at != ')') {
		const bool wide = *at == 'J' || *at == 'D';
		const char *next = lc_insn_skip_type(at, end);
		struct lc_class_text type = { at, (size_t)(next - at) };

		if (result_of(type) != RESULT_OTHER && slot < w->code->max_locals)
			w->locals[slot] =
			    add_value(w, (struct value){ .kind = VALUE_MADE,
			                                 .source = LC_STORE_OF_PARAMETER,
			                                 .at = slot,
			                                 .built = UINT32_MAX,
			                                 .arrays = arrays_of(type) });
		assign(w, slot);
		if (wide)
			assign(w, slot + 1);
		slot += wide ? 2 : 1;
		at = next;
	}
	return w->carries ? HAS_PARAMETER : 0;
}

/* ---- members ---- */

static void look_up(const struct walk *w, uint8_t op, uint32_t index,
                    struct lc_store_names_member *m)
{
	struct lc_class_ref ref = { 0 };
	struct lc_class_text d, result;
	const char *end, *at;
	uint32_t words = 0;

	m->known = true;
	if (op == LC_OP_INVOKEDYNAMIC)
		ref.descriptor = lc_class_dynamic_descriptor(w->cls, index);
	else if (!lc_class_method_ref(w->cls, index, &ref) &&
	         !lc_class_interface_ref(w->cls, index, &ref) &&
	         !lc_class_field_ref(w->cls, index, &ref))
		return;
	d = ref.descriptor;
	if (!d.len)
		return;
	end = d.data + d.len;
	at = d.data;
	if (*at == '(') {
		const char *next;

		for (at++; at < end && *at != ')'; at = next) {
			next = lc_insn_skip_type(at, end);
			words += *at == 'J' || *at == 'D' ? 2 : 1;
			m->takes_any |=
			    result_of((struct lc_class_text){ at, (size_t)(next - at) }) !=
			    RESULT_OTHER;
		}
		at++;
	}
	if (at >= end || words > UINT8_MAX + 1)
		return;
	result = (struct lc_class_text){ at, (size_t)(end - at) };
	m->good = true;
	m->is_hook = lc_hook_calls_is_ours(w->cls, index);
	m->arguments = (uint16_t)words;
	m->words = *at == 'J' || *at == 'D' ? 2 : *at != 'V';
	m->arrays = arrays_of(result);
	m->result = (uint8_t)result_of(result);
	m->of_buffer = lc_store_names_is_buffer(ref.holder);
}

static const struct lc_store_names_member *member_at(struct walk *w, uint8_t op, uint32_t at)
{
	const uint32_t index = lc_be_get2(w->code->insns + at + 1);
	struct lc_store_names_member *m;

	if (index >= w->cls->pool_count) {
		w->bad = true;
		return NULL;
	}
	m = &w->scan->members[index];
	if (!m->known)
		look_up(w, op, index, m);
	if (!m->good)
		w->bad = true;
	return m->good ? m : NULL;
}

static unsigned made_by_call(struct walk *w, uint8_t op, uint32_t at)
{
	const struct lc_store_names_member *m = member_at(w, op, at);

	unsigned has = 0;

	if (!m || op == LC_OP_INVOKEDYNAMIC)
		return 0;
	if (m->takes_any && (op == LC_OP_INVOKESPECIAL || op == LC_OP_INVOKESTATIC))
		has = HAS_PASS;
	if (m->result != RESULT_OTHER)
		has |= m->result == RESULT_OBJECT ? HAS_OBJECT : HAS_ARRAY;
	return has;
}

static void visit_field(struct walk *w, uint8_t op, uint32_t at)
{
	const struct lc_store_names_member *m = member_at(w, op, at);
	const uint32_t index = lc_be_get2(w->code->insns + at + 1);
	uint64_t word;

	if (!m)
		return;
	if (op == LC_OP_GETSTATIC || op == LC_OP_GETFIELD) {
		pop_words(w, op == LC_OP_GETFIELD);
		push(w, m->arrays ? word_make(WORD_FIELD, index, 0) : 0);
		push_words(w, m->words - 1u);
		return;
	}
	word = pop(w);
	pop_words(w, m->words - 1u + (op == LC_OP_PUTFIELD));
	if (m->words == 1)
		note(w, word, (struct event){ .kind = EVENT_FIELD, .a = index, .at = at }, 0);
}

/* The call is passed the uppermost words; the first arrives in the local variable `slot`. */
static void note_arguments(struct walk *w, uint32_t words, uint32_t slot, uint8_t op, uint32_t at)
{
	for (uint32_t i = 0; i < words && i < w->len; i++) {
		const uint32_t there = slot + words - 1 - i;

		if (there > UINT8_MAX)
			continue;
		note(w, w->stack[w->len - 1 - i],
		     (struct event){ .kind = EVENT_ARGUMENT,
		                     .a = lc_be_get2(w->code->insns + at + 1),
		                     .at = at,
		                     .slot = (uint8_t)there,
		                     .exact =
		                         op == LC_OP_INVOKESTATIC || op == LC_OP_INVOKESPECIAL },
		     0);
	}
}

static void visit_call(struct walk *w, uint8_t op, uint32_t at)
{
	const struct lc_store_names_member *m = member_at(w, op, at);
	const bool on_object = op != LC_OP_INVOKESTATIC && op != LC_OP_INVOKEDYNAMIC;
	uint64_t object;

	if (!m)
		return;
	if (w->carries && op != LC_OP_INVOKEDYNAMIC && !m->is_hook)
		note_arguments(w, m->arguments, on_object, op, at);
	pop_words(w, m->arguments);
	object = on_object ? pop(w) : 0;
	if (op == LC_OP_INVOKESPECIAL && word_kind(object) == WORD_VALUE) {
		struct value *v = value_at(w->scan, word_a(object));

		if (v->kind == VALUE_MADE && v->source == LC_STORE_OF_OBJECT &&
		    v->built == UINT32_MAX)
			v->built = at;
	}
	if (m->result == RESULT_BUFFER && m->of_buffer && word_kind(object) == WORD_VALUE)
		push(w, object); /* order(), slice() and the like: the same block */
	else if (m->result != RESULT_OTHER && op != LC_OP_INVOKEDYNAMIC)
		push(w, add_value(w, (struct value){ .kind = VALUE_MADE,
		                                     .source = LC_STORE_OF_CALL,
		                                     .at = at,
		                                     .built = UINT32_MAX,
		                                     .arrays = m->arrays,
		                                     .is_buffer = m->result == RESULT_BUFFER }));
	else
		push_words(w, m->words);
}

/* ---- what there is in a method ---- */

/* Count assignments; returns HAS_ bits, 0 for invalid code. */
static unsigned survey(struct walk *w)
{
	unsigned has = 0;
	uint32_t bytes;

	for (uint32_t at = 0; at < w->code->len && !w->bad; at += bytes) {
		const uint8_t *insn = w->code->insns + at;
		struct lc_insn_local a;

		bytes = lc_method_insn_bytes(w->code, at);
		if (!bytes)
			return 0;
		switch (lc_insn_role(insn)) {
		case LC_ROLE_STORE:
			a = lc_insn_local(insn);
			assign(w, a.slot);
			if (a.is_wide)
				assign(w, a.slot + 1);
			break;
		case LC_ROLE_NEW:
			has |= *insn == LC_OP_NEW ? HAS_NEW : HAS_ARRAY;
			break;
		case LC_ROLE_CALL:
			has |= made_by_call(w, *insn, at);
			break;
		case LC_ROLE_FIELD:
			has |= *insn == LC_OP_PUTFIELD || *insn == LC_OP_PUTSTATIC ? HAS_KEEP : 0;
			break;
		case LC_ROLE_AASTORE:
			has |= HAS_KEEP;
			break;
		case LC_ROLE_ARETURN:
			has |= HAS_CAST;
			break;
		case LC_ROLE_CAST:
			if (arrays_of(lc_class_name(w->cls, lc_be_get2(insn + 1))))
				has |= HAS_CAST;
			break;
		default:
			break;
		}
	}
	return w->bad ? 0 : has;
}

/* Can there be a row? */
static bool is_worth_a_walk(unsigned has)
{
	return has & HAS_ARRAY || (has & (HAS_NEW | HAS_PARAMETER) && has & HAS_KEEP) ||
	       (has & HAS_PARAMETER && has & HAS_PASS) || (has & HAS_OBJECT && has & HAS_CAST);
}

/* ---- instructions ---- */

static void visit_new(struct walk *w, uint8_t op, uint32_t at)
{
	const uint8_t *insn = w->code->insns + at;
	struct value v = { .kind = VALUE_MADE, .at = at, .built = UINT32_MAX };
	struct lc_class_text class;

	if (op == LC_OP_NEW) {
		v.source = LC_STORE_OF_OBJECT;
	} else if (op == LC_OP_NEWARRAY) {
		pop_words(w, 1);
		v.arrays = 1;
	} else {
		class = lc_class_name(w->cls, lc_be_get2(insn + 1));
		v.arrays = arrays_of(class);
		if (op == LC_OP_ANEWARRAY && v.arrays < ARRAYS_MAX)
			v.arrays++;
		pop_words(w, op == LC_OP_ANEWARRAY ? 1 : insn[3]);
	}
	push(w, add_value(w, v));
}

/* The class that a result is cast to tells whether it is an array or a buffer. */
static void visit_cast(struct walk *w, uint32_t at)
{
	const uint64_t word = w->len ? w->stack[w->len - 1] : 0;
	struct lc_class_text class = lc_class_name(w->cls, lc_be_get2(w->code->insns + at + 1));
	struct value *v;

	if (word_kind(word) != WORD_VALUE)
		return;
	v = value_at(w->scan, word_a(word));
	if (v->kind != VALUE_MADE || v->source != LC_STORE_OF_CALL || v->arrays)
		return;
	v->arrays = arrays_of(class);
	v->is_buffer |= lc_store_names_is_buffer(class);
	v->other_class =
	    !v->arrays && !v->is_buffer && !lc_class_text_is(class, "java/lang/Object");
}

static void visit_element(struct walk *w, uint8_t op, uint32_t at)
{
	uint64_t value = op == LC_OP_AASTORE ? pop(w) : 0, array;

	pop_words(w, 1);
	array = pop(w);
	if (op == LC_OP_AASTORE)
		note(w, value, (struct event){ .kind = EVENT_ELEMENT, .into = array, .at = at }, 0);
	else
		push(w, array ? add_value(w, (struct value){ .kind = VALUE_ELEMENT, .one = array })
		              : 0);
}

static void visit_load(struct walk *w, uint32_t at)
{
	const struct lc_insn_local a = lc_insn_local(w->code->insns + at);

	push(w, a.is_reference ? loaded(w, a.slot, at) : 0);
	push_words(w, a.is_wide);
}

static void visit_other(struct walk *w, uint32_t at)
{
	int32_t pops = 0, pushes = 0;

	if (!lc_stack_effect(w->cls, w->code, at, &pops, &pushes)) {
		w->bad = true;
		return;
	}
	pop_words(w, (uint32_t)pops);
	carry_on(w, at);
	push_words(w, (uint32_t)pushes);
}

static void visit(struct walk *w, uint32_t at)
{
	const uint8_t *insn = w->code->insns + at;

	switch (lc_insn_role(insn)) {
	case LC_ROLE_LOAD:
		visit_load(w, at);
		break;
	case LC_ROLE_STORE:
		store_local(w, at);
		break;
	case LC_ROLE_SHUFFLE:
		visit_shuffle(w, *insn);
		break;
	case LC_ROLE_FIELD:
		visit_field(w, *insn, at);
		break;
	case LC_ROLE_CALL:
		visit_call(w, *insn, at);
		break;
	case LC_ROLE_NEW:
		visit_new(w, *insn, at);
		break;
	case LC_ROLE_AALOAD:
	case LC_ROLE_AASTORE:
		visit_element(w, *insn, at);
		break;
	case LC_ROLE_CAST:
		visit_cast(w, at);
		break;
	case LC_ROLE_ARETURN:
		note(w, pop(w), (struct event){ .kind = EVENT_RETURNED, .at = at }, 0);
		break;
	default:
		visit_other(w, at);
	}
}

/* Returns false if the JVM does not accept the code. */
static bool walk(struct walk *w)
{
	bool flows = true; /* from the instruction before this one */
	uint32_t bytes;

	for (uint32_t at = 0; at < w->code->len && !w->failed && !w->bad; at += bytes) {
		bytes = lc_method_insn_bytes(w->code, at);
		if (!flows) {
			w->len = 0;
			w->code->flags[at] |= LC_AT_TARGET; /* of an exception, at least */
		}
		if (w->code->flags[at] & LC_AT_TARGET)
			meet(w, at);
		visit(w, at);
		flows = !lc_stack_ends_flow(w->code->insns[at]) &&
		        !is_subroutine_call(w->code->insns[at]);
	}
	return !w->bad;
}

/* Make room for the words of the stack and the local variables, and for the variables' counts. */
static bool lend(struct walk *w)
{
	struct lc_store_names_scan *s = w->scan;
	const size_t locals = w->code->max_locals, words = locals + w->code->max_stack;
	uint64_t *array =
	    lc_vector_reserve_array(s->words, &s->words_cap, words + 1, sizeof(*array));
	uint8_t *assigned =
	    array ? lc_vector_reserve_array(s->assigned, &s->assigned_cap, locals + 1, 1) : NULL;

	if (array)
		s->words = array;
	if (!assigned)
		return false;
	s->assigned = assigned;
	w->locals = array;
	w->stack = array + locals;
	w->assigned = assigned;
	memset(array, 0, locals * sizeof(*array));
	memset(assigned, 0, locals);
	return true;
}

enum lc_rewrite_status lc_store_names_find(struct lc_store_names_scan *s,
                                           const struct lc_member *method,
                                           struct lc_method_code *code)
{
	struct walk w = { .scan = s, .cls = s->cls, .code = code, .method = method };
	unsigned has;

	s->values.len = s->events.len = s->pending.len = s->carried.len = 0;
	if (!lend(&w))
		return LC_REWRITE_NO_MEMORY;
	has = survey(&w);
	has |= begin_parameters(&w);
	if (w.bad || !is_worth_a_walk(has) || !lc_method_code_mark_handlers(code))
		return LC_REWRITE_DONE;
	if (!walk(&w))
		return LC_REWRITE_DONE;
	return w.failed ? LC_REWRITE_NO_MEMORY : lc_store_names_put(s, code);
}

bool lc_store_names_open(struct lc_store_names_scan *s, const struct lc_class *c,
                         struct lc_store_names *out)
{
	*s = (struct lc_store_names_scan){
		.cls = c,
		.out = out,
		.names = calloc(c->pool_count, sizeof(*s->names)),
		.members = calloc(c->pool_count, sizeof(*s->members)),
		.values = { .element_bytes = sizeof(struct value) },
		.events = { .element_bytes = sizeof(struct event) },
		.pending = { .element_bytes = sizeof(struct pending) },
		.carried = { .element_bytes = sizeof(uint64_t) },
	};
	*out = (struct lc_store_names){
		.rows = { .element_bytes = sizeof(struct lc_store) },
		.calls = { .element_bytes = sizeof(struct lc_store_call) },
	};
	return s->names && s->members;
}

void lc_store_names_close(struct lc_store_names_scan *s)
{
	free(s->names);
	free(s->members);
	free(s->words);
	free(s->assigned);
	free(s->values.data);
	free(s->events.data);
	free(s->pending.data);
	free(s->carried.data);
	*s = (struct lc_store_names_scan){ 0 };
}

void lc_store_names_free(struct lc_store_names *s)
{
	free(s->rows.data);
	free(s->calls.data);
	free(s->text.data);
	*s = (struct lc_store_names){ 0 };
}
