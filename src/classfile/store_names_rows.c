/* SPDX-License-Identifier: Apache-2.0 */
/* classfile/store_names_rows.c - makes the rows of a method, with names, from the values that it
 * stores. */
#include <stdlib.h>
#include <string.h>

#include "src/classfile/hook_calls.h"
#include "src/classfile/store_names_impl.h"

enum {
	VARIABLE_BYTES = 10, /* an entry of a LocalVariableTable */
	NESTING_MAX = 4,     /* arrays in arrays, and values that are one of two */
	LEVELS_MAX = 8,
};

struct put {
	struct lc_store_names_scan *scan;
	const struct lc_class *cls;
	const struct lc_method_code *code;
	uint32_t first;      /* row of the method */
	struct lc_store row; /* of the value whose stores are looked at */
	bool is_buffer;      /* the value */
	bool failed;
};

/* ---- names ---- */

/* A name that `index` of the pool stands for: in `text` from what this returns on. */
static uint32_t begin_name(struct put *p, uint32_t index)
{
	struct lc_bytes *text = &p->scan->out->text;

	p->scan->names[index] = (uint32_t)text->len + 1;
	return (uint32_t)text->len;
}

/* With dots, as a programmer writes a class. */
static void add_text(struct put *p, struct lc_class_text t, char end)
{
	struct lc_bytes *text = &p->scan->out->text;
	const size_t from = text->len;

	lc_bytes_add(text, t.data, t.len);
	lc_bytes_add(text, &end, 1);
	for (size_t i = from; !text->failed && i < from + t.len; i++)
		if (text->data[i] == '/')
			text->data[i] = '.';
}

/* "com.acme.Spectrum.re": of a field, or a method. Returns false where it is none. */
static bool member_name(struct put *p, uint32_t index, uint32_t *out)
{
	struct lc_class_ref ref = { 0 };

	if (p->scan->names[index]) {
		*out = p->scan->names[index] - 1;
		return true;
	}
	if (!lc_class_field_ref(p->cls, index, &ref) && !lc_class_method_ref(p->cls, index, &ref) &&
	    !lc_class_interface_ref(p->cls, index, &ref))
		return false;
	*out = begin_name(p, index);
	add_text(p, ref.holder, '.');
	add_text(p, ref.name, 0);
	return true;
}

/* The pool index of the variable's name in the table at `at`; 0: none. */
static uint32_t find_variable(const struct put *p, const struct lc_attribute *a, uint32_t slot,
                              uint32_t at)
{
	const uint8_t *body = p->cls->bytes + a->body;

	if (a->len < 2 || a->len - 2 != VARIABLE_BYTES * lc_be_get2(body))
		return 0;
	for (const uint8_t *v = body + 2; v < body + a->len; v += VARIABLE_BYTES) {
		const uint32_t from = lc_be_get2(v);

		if (lc_be_get2(v + 8) == slot && at >= from && at < from + lc_be_get2(v + 2))
			return lc_be_get2(v + 4);
	}
	return 0;
}

/* The name of a local variable at `at`. Returns false where the class file has none. */
static bool local_name(struct put *p, uint32_t slot, uint32_t at, uint32_t *out)
{
	const struct lc_method_code *code = p->code;
	struct lc_attribute a;
	uint32_t name;

	for (uint32_t i = code->attributes + 2; lc_class_attribute(p->cls, i, code->end, &a);
	     i = a.body + a.len) {
		name = lc_class_text_is(lc_class_utf8(p->cls, a.name), "LocalVariableTable")
		           ? find_variable(p, &a, slot, at)
		           : 0;
		if (!name || !lc_class_utf8(p->cls, name).data)
			continue;
		if (!p->scan->names[name]) {
			const uint32_t begin = begin_name(p, name);

			add_text(p, lc_class_utf8(p->cls, name), 0);
			*out = begin;
			return true;
		}
		*out = p->scan->names[name] - 1;
		return true;
	}
	return false;
}

/* ---- rows ---- */

static const struct lc_store *rows_of(const struct put *p)
{
	return p->scan->out->rows.data;
}

static bool same(const struct lc_store *a, const struct lc_store *b)
{
	return a->at == b->at && a->source == b->source && a->kind == b->kind &&
	       a->levels == b->levels && a->name == b->name && a->slot == b->slot;
}

static void add_row(struct put *p, enum lc_store_kind kind, int levels, uint32_t name)
{
	struct lc_vector *rows = &p->scan->out->rows;
	struct lc_store row = p->row;

	if (levels > LEVELS_MAX || levels < -LEVELS_MAX || rows->len - p->first == UINT16_MAX)
		return;
	/* A value that may be an array or not is named by fields only. */
	if (row.source == LC_STORE_OF_CALL && !row.arrays && !p->is_buffer &&
	    kind != LC_STORE_FIELD && kind != LC_STORE_RETURNED)
		return;
	/* A parameter gets a row only for a place that keeps it. */
	if (row.source == LC_STORE_OF_PARAMETER &&
	    (kind == LC_STORE_LOCAL || kind == LC_STORE_RETURNED))
		return;
	row.kind = (uint8_t)kind;
	row.levels = (int8_t)levels;
	row.name = name;
	/* A value's rows are one after the other. */
	for (size_t i = rows->len; i > p->first && rows_of(p)[i - 1].at == row.at; i--)
		if (same(&rows_of(p)[i - 1], &row))
			return;
	if (lc_vector_push(rows, &row))
		p->failed = true;
}

static void add_field(struct put *p, uint32_t index, int levels)
{
	uint32_t name;

	if (member_name(p, index, &name))
		add_row(p, LC_STORE_FIELD, levels, name);
}

static void add_local(struct put *p, uint32_t slot, uint32_t at, int levels)
{
	uint32_t name;

	if (local_name(p, slot, at, &name))
		add_row(p, LC_STORE_LOCAL, levels, name);
}

static void add_argument(struct put *p, const struct event *e, int levels)
{
	struct lc_vector *calls = &p->scan->out->calls;
	struct lc_store_call call = { .exact = e->exact };
	struct lc_class_ref ref = { 0 };

	if ((!lc_class_method_ref(p->cls, e->a, &ref) &&
	     !lc_class_interface_ref(p->cls, e->a, &ref)) ||
	    (p->row.source == LC_STORE_OF_PARAMETER && !e->exact) ||
	    !member_name(p, e->a, &call.name))
		return;
	call.descriptor = (uint32_t)p->scan->out->text.len;
	lc_bytes_add(&p->scan->out->text, ref.descriptor.data, ref.descriptor.len);
	lc_bytes_add(&p->scan->out->text, "", 1);
	if (lc_vector_push(calls, &call)) {
		p->failed = true;
		return;
	}
	p->row.slot = e->slot;
	add_row(p, LC_STORE_ARGUMENT, levels, (uint32_t)calls->len - 1);
	p->row.slot = 0;
}

static void add_events(struct put *p, const struct value *v, int levels, unsigned depth);

/* The value is an element of the array `word`, `levels` arrays deep. */
static void add_element(struct put *p, uint64_t word, uint32_t at, int levels, unsigned depth)
{
	const struct value *v;

	if (depth >= NESTING_MAX)
		return;
	if (word_kind(word) == WORD_FIELD)
		add_field(p, word_a(word), levels);
	else if (word_kind(word) == WORD_LOCAL)
		add_local(p, word_a(word), word_b(word), levels);
	if (word_kind(word) != WORD_VALUE)
		return;
	v = value_at(p->scan, word_a(word));
	if (v->kind == VALUE_ELEMENT) {
		add_element(p, v->one, at, levels + 1, depth + 1);
	} else if (v->kind == VALUE_EITHER) {
		add_element(p, v->one, at, levels, depth + 1);
		add_element(p, v->other, at, levels, depth + 1);
	} else if (v->source == LC_STORE_OF_PARAMETER) {
		add_local(p, v->at, at, levels);
	} else {
		add_events(p, v, levels, depth);
	}
}

static void add_events(struct put *p, const struct value *v, int levels, unsigned depth)
{
	const struct event *events = p->scan->events.data;

	for (uint32_t i = v->event; i != NO_EVENT; i = events[i].next) {
		const struct event *e = &events[i];
		const int stored = levels - e->taken;

		if (e->kind == EVENT_FIELD)
			add_field(p, e->a, stored);
		else if (e->kind == EVENT_LOCAL)
			add_local(p, e->a, e->at, stored);
		else if (e->kind == EVENT_ARGUMENT)
			add_argument(p, e, stored);
		else if (e->kind == EVENT_RETURNED)
			add_row(p, LC_STORE_RETURNED, stored, 0);
		else if (e->kind == EVENT_ELEMENT)
			add_element(p, e->into, e->at, stored + 1, depth + 1);
	}
}

/* May the instruction stand in a hook, before its call (alloc_emit.c)? */
static bool is_in_hook(uint8_t op)
{
	return op == LC_OP_DUP || (op >= LC_OP_ICONST_M1 && op <= LC_OP_LDC_W) ||
	       op == LC_OP_ALOAD || (op >= LC_OP_ALOAD_0 && op <= LC_OP_ALOAD_3) ||
	       op == LC_OP_CHECKCAST || op == LC_OP_WIDE;
}

/* Behind the hooks that begin at `at`. */
static uint32_t hooks_end(const struct put *p, uint32_t at)
{
	uint32_t end = at, bytes;

	for (; at < p->code->len && at - end < LC_INSERT_MAX_BYTES; at += bytes) {
		const uint8_t *insn = p->code->insns + at;

		bytes = lc_method_insn_bytes(p->code, at);
		if (*insn == LC_OP_INVOKESTATIC &&
		    lc_hook_calls_is_ours(p->cls, lc_be_get2(insn + 1)))
			end = at + bytes;
		else if (!is_in_hook(*insn))
			break;
	}
	return end;
}

/* The rows of a value that the instruction at `at` makes. */
static void add_value_rows(struct put *p, const struct value *v, uint32_t at)
{
	p->row = (struct lc_store){
		.source = v->source,
		.arrays = v->arrays,
		.at = (uint16_t)at,
		.bytes = (uint8_t)(hooks_end(p, at + lc_method_insn_bytes(p->code, at)) - at),
	};
	p->is_buffer = v->is_buffer;
	add_events(p, v, 0, 0);
}

static void add_parameter_rows(struct put *p, const struct value *v)
{
	p->row = (struct lc_store){
		.at = (uint16_t)v->at,
		.source = LC_STORE_OF_PARAMETER,
		.arrays = v->arrays,
	};
	add_events(p, v, 0, 0);
}

enum lc_rewrite_status lc_store_names_put(struct lc_store_names_scan *s,
                                          const struct lc_method_code *code)
{
	struct lc_store_names *out = s->out;
	struct put p = { .scan = s, .cls = s->cls, .code = code };

	p.first = (uint32_t)out->rows.len;
	for (uint32_t i = 0; i < s->values.len && !p.failed; i++) {
		const struct value *v = value_at(s, i);

		if (v->kind != VALUE_MADE || v->event == NO_EVENT || v->other_class)
			continue;
		if (v->source == LC_STORE_OF_PARAMETER) {
			add_parameter_rows(&p, v);
			continue;
		}
		add_value_rows(&p, v, v->at);
		if (v->built != UINT32_MAX)
			add_value_rows(&p, v, v->built);
	}
	return p.failed || out->text.failed ? LC_REWRITE_NO_MEMORY : LC_REWRITE_DONE;
}
