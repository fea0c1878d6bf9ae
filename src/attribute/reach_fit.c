/* SPDX-License-Identifier: Apache-2.0 */
/* attribute/reach_fit.c - finds the instruction that makes an access, by its part of the object. */
#include <string.h>

#include "src/attribute/reach_impl.h"
#include "src/classfile/method_code.h"
#include "src/format/kinds.h"
#include "src/jvm/layout/field_layout.h"

enum {
	ACC_STATIC = 8,
	ACC_SYNCHRONIZED = 0x20,
};

enum part {
	PART_UNKNOWN,
	PART_ELEMENTS,
	PART_FIELD,
	PART_STATICS,
	PART_MARK,
	PART_CLASS,
	PART_LENGTH
};

static enum part part_of(const char *name)
{
	if (!name || name == lc_field_part_name(LC_PART_UNKNOWN) ||
	    name == lc_field_part_name(LC_PART_PADDING) ||
	    name == lc_field_part_name(LC_PART_INTERNAL))
		return PART_UNKNOWN;
	if (name == lc_field_part_name(LC_PART_MARK))
		return PART_MARK;
	if (name == lc_field_part_name(LC_PART_CLASS))
		return PART_CLASS;
	if (name == lc_field_part_name(LC_PART_LENGTH))
		return PART_LENGTH;
	if (name == lc_field_part_name(LC_PART_STATICS))
		return PART_STATICS;
	return *name ? PART_FIELD : PART_ELEMENTS;
}

bool lc_reach_of_header(const struct lc_reach_ask *ask)
{
	const enum part part = part_of(ask->part);

	return part == PART_MARK || part == PART_CLASS;
}

static bool is_header(enum part part)
{
	return part == PART_MARK || part == PART_CLASS || part == PART_LENGTH;
}

static bool is_element_access(uint8_t op)
{
	return (op >= LC_OP_IALOAD && op <= LC_OP_SALOAD) ||
	       (op >= LC_OP_IASTORE && op <= LC_OP_SASTORE);
}

/* Does the instruction access elements of arrays of that class? */
static bool is_of_array(uint8_t op, const char *signature)
{
	static const char types[] = "IJFDLBCS";
	const unsigned type = op - (op <= LC_OP_SALOAD ? (unsigned)LC_OP_IALOAD : LC_OP_IASTORE);
	char element;

	if (!signature)
		return true;
	if (signature[0] != '[')
		return false;
	element = signature[1] == '[' ? 'L' : signature[1] == 'Z' ? 'B' : signature[1];
	return types[type] == element;
}

/* Is it the field that was accessed, and, if asked for, one that the class declares? */
static bool names_field(const struct lc_reach_code *code, uint16_t index,
                        const struct lc_reach_ask *ask)
{
	struct lc_class_ref ref;

	if (!lc_class_field_ref(&code->file.cls, index, &ref) ||
	    !lc_class_text_is(ref.name, ask->part))
		return false;
	return !ask->own || (ask->signature && strlen(ask->signature) == ref.holder.len + 2 &&
	                     !memcmp(ask->signature + 1, ref.holder.data, ref.holder.len));
}

static bool is_call(uint8_t op)
{
	return op >= LC_OP_INVOKEVIRTUAL && op <= LC_OP_INVOKEINTERFACE;
}

static bool calls(const struct lc_reach_code *code, uint32_t at, const char *name)
{
	struct lc_class_ref ref;

	return lc_reached_called(code->reached, at, &ref) && lc_class_text_is(ref.name, name);
}

/* The reason to read the class; LC_WHY_NO_HEADER: the instruction does not. */
static uint8_t why_class(const struct lc_reach_code *code, uint8_t op, uint32_t at)
{
	switch (op) {
	case LC_OP_INVOKEVIRTUAL:
		return calls(code, at, "getClass") ? LC_WHY_TYPE : LC_WHY_VIRTUAL;
	case LC_OP_INVOKEINTERFACE:
		return LC_WHY_INTERFACE;
	case LC_OP_CHECKCAST:
	case LC_OP_INSTANCEOF:
		return LC_WHY_TYPE;
	case LC_OP_AASTORE:
		return LC_WHY_STORE;
	default:
		return LC_WHY_NO_HEADER;
	}
}

static uint8_t why_mark(const struct lc_reach_code *code, uint8_t op, uint32_t at)
{
	if (op == LC_OP_MONITORENTER || op == LC_OP_MONITOREXIT)
		return LC_WHY_MONITOR;
	if (is_call(op))
		return calls(code, at, "hashCode") || calls(code, at, "identityHashCode")
		           ? LC_WHY_HASH
		           : LC_WHY_NULL;
	return LC_WHY_NULL;
}

/* Does the access `a` at `at` touch the part that the sample touched? Sets out->why. */
static bool touches(const struct lc_reach_code *code, const struct lc_reach_ask *ask,
                    const struct lc_reached_access *a, uint32_t at, struct lc_reach_fit *out)
{
	const bool is_static = a->op == LC_OP_GETSTATIC || a->op == LC_OP_PUTSTATIC;

	switch (part_of(ask->part)) {
	case PART_ELEMENTS:
	case PART_UNKNOWN:
		return is_element_access(a->op) && is_of_array(a->op, ask->signature);
	case PART_FIELD:
		return (is_static || a->op == LC_OP_GETFIELD || a->op == LC_OP_PUTFIELD) &&
		       names_field(code, a->index, ask);
	case PART_STATICS:
		return is_static;
	case PART_LENGTH:
		out->why = a->op == LC_OP_ARRAYLENGTH ? LC_WHY_LENGTH : LC_WHY_BOUNDS;
		return a->op == LC_OP_ARRAYLENGTH ||
		       (is_element_access(a->op) && is_of_array(a->op, ask->signature));
	case PART_CLASS:
		out->why = why_class(code, a->op, at);
		return out->why != LC_WHY_NO_HEADER;
	case PART_MARK:
		out->why = why_mark(code, a->op, at);
		return !is_static && a->op != LC_OP_CHECKCAST && a->op != LC_OP_INSTANCEOF;
	}
	return false;
}

/* An array store reads the class of the element, and that of the array. */
static void choose_operand(const struct lc_reach_ask *ask, const struct lc_reached_access *a,
                           struct lc_reach_fit *out)
{
	out->sources = a->object;
	if (out->why != LC_WHY_STORE)
		return;
	if (!ask->signature || ask->signature[0] == '[')
		lc_reached_join(&out->sources, &a->value);
	else
		out->sources = a->value;
}

/* ---- calls of intrinsics, whose code is the caller's ---- */

static bool may_be(struct lc_class_text type, const char *signature)
{
	return !signature || lc_class_text_is(type, "Ljava/lang/Object;") ||
	       lc_class_text_is(type, signature);
}

struct arguments {
	struct lc_reach_fit *fit;
	bool any;
};

static void add_argument(struct lc_reach_code *code, uint32_t at, uint32_t slot,
                         struct arguments *all)
{
	struct lc_reached_sources s;

	if (!lc_reached_argument(code->reached, at, slot, &s))
		s = (struct lc_reached_sources){ 0 };
	if (all->any)
		lc_reached_join(&all->fit->sources, &s);
	else
		all->fit->sources = s;
	all->any = true;
}

static uint32_t bytes_of_type(struct lc_class_text d, uint32_t at)
{
	uint32_t end = at;

	while (end < d.len && d.data[end] == '[')
		end++;
	if (end < d.len && d.data[end] == 'L')
		while (end < d.len && d.data[end] != ';')
			end++;
	return end + 1 - at;
}

/* An intrinsic reads or writes its arguments. */
static bool fits_call(struct lc_reach_code *code, const struct lc_reach_ask *ask, uint32_t at,
                      struct lc_reach_fit *out)
{
	struct lc_class_ref ref;
	const uint8_t op = lc_reached_called(code->reached, at, &ref);
	const bool copies = op == LC_OP_INVOKESTATIC && lc_class_text_is(ref.name, "arraycopy");
	const bool bytes = ask->signature && !strcmp(ask->signature, "[B");
	struct arguments all = { .fit = out };
	uint32_t slot = op != LC_OP_INVOKESTATIC;

	if (!is_call(op) || part_of(ask->part) == PART_FIELD || part_of(ask->part) == PART_STATICS)
		return false;
	if (copies && ask->touch == LC_TOUCH_STORE) {
		add_argument(code, at, 2, &all);
		return true;
	}
	if (slot && bytes && lc_class_text_is(ref.holder, "java/lang/String"))
		out->string = true;
	for (uint32_t i = 1; i < ref.descriptor.len && ref.descriptor.data[i] != ')';) {
		const uint32_t len = bytes_of_type(ref.descriptor, i);
		const struct lc_class_text type = { ref.descriptor.data + i, len };

		if (i + len > ref.descriptor.len)
			return false;
		if ((*type.data == 'L' || *type.data == '[') && may_be(type, ask->signature) &&
		    !(copies && slot && ask->touch == LC_TOUCH_LOAD))
			add_argument(code, at, slot, &all);
		if (bytes && lc_class_text_is(type, "Ljava/lang/String;"))
			out->string = true;
		slot += *type.data == 'J' || *type.data == 'D' ? 2 : 1;
		i += len;
	}
	if (out->string && !all.any)
		out->sources = (struct lc_reached_sources){ .known = true };
	return all.any || out->string;
}

/* ---- instructions ---- */

static bool makes_object(unsigned op)
{
	return op == LC_OP_NEW || op == LC_OP_NEWARRAY || op == LC_OP_ANEWARRAY ||
	       op == LC_OP_MULTIANEWARRAY;
}

static bool fits_new(const struct lc_reach_code *code, const struct lc_reach_ask *ask, uint32_t at,
                     struct lc_reach_fit *out)
{
	if (!makes_object(lc_reached_opcode(code->reached, at)) || !(ask->touch & LC_TOUCH_STORE))
		return false;
	out->made = true;
	out->why = is_header(part_of(ask->part)) ? LC_WHY_ALLOCATION : LC_WHY_NO_HEADER;
	out->sources = (struct lc_reached_sources){
		.known = true,
		.len = 1,
		.of = { { .kind = LC_REACHED_NEW, .index = (uint16_t)at } },
	};
	return true;
}

static bool fits_at(struct lc_reach_code *code, const struct lc_reach_ask *ask, uint32_t at,
                    struct lc_reach_fit *out)
{
	struct lc_reached_access a;

	*out = (struct lc_reach_fit){ .why = LC_WHY_NO_HEADER };
	if (lc_reached_access(code->reached, at, &a) && touches(code, ask, &a, at, out)) {
		choose_operand(ask, &a, out);
		return true;
	}
	out->why = LC_WHY_NO_HEADER;
	return fits_new(code, ask, at, out);
}

/* The monitor of a synchronized method. */
static bool fits_method(const struct lc_reach_code *code, const struct lc_reach_ask *ask,
                        struct lc_reach_fit *out)
{
	if (part_of(ask->part) != PART_MARK ||
	    (code->file.method.access_flags & (ACC_SYNCHRONIZED | ACC_STATIC)) != ACC_SYNCHRONIZED)
		return false;
	*out = (struct lc_reach_fit){
		.why = LC_WHY_MONITOR,
		.sources = { .known = true, .len = 1, .of = { { .kind = LC_REACHED_PARAMETER } } },
	};
	return true;
}

static size_t arrays_in(const char *type, size_t len)
{
	size_t n = 0;

	while (n < len && type[n] == '[')
		n++;
	return n;
}

/*
 * Can a reference of that static type, or an element `elements` levels down, be to an object of the
 * class? Only types of arrays are compared.
 */
static bool can_be(struct lc_class_text type, unsigned elements, const char *signature)
{
	const size_t dims = arrays_in(type.data, type.len);
	const size_t its_dims = arrays_in(signature, strlen(signature));

	if (dims <= elements || dims >= type.len)
		return true;
	if (type.data[dims] != 'L')
		return its_dims == dims - elements && signature[its_dims] == type.data[dims];
	return its_dims > dims - elements ||
	       (its_dims == dims - elements && signature[its_dims] == 'L');
}

/* The type of the parameter that arrives in a local variable; "" where there is none. */
static struct lc_class_text parameter_type(const struct lc_reach_code *code, uint32_t slot)
{
	const struct lc_member *m = &code->file.method;
	const struct lc_class_text d = lc_class_utf8(&code->file.cls, m->descriptor);
	uint32_t there = !(m->access_flags & ACC_STATIC);

	for (uint32_t i = 1, len; i < d.len && d.data[i] != ')' && there <= slot; i += len) {
		len = bytes_of_type(d, i);
		if (there == slot)
			return (struct lc_class_text){ d.data + i, len };
		there += d.data[i] == 'J' || d.data[i] == 'D' ? 2 : 1;
	}
	return (struct lc_class_text){ "", 0 };
}

/* The type of the result of the call at `at`; "" where there is none. */
static struct lc_class_text result_type(const struct lc_reach_code *code, uint32_t at)
{
	struct lc_class_ref ref;
	uint32_t end = 0;

	if (!lc_reached_called(code->reached, at, &ref))
		return (struct lc_class_text){ "", 0 };
	while (end < ref.descriptor.len && ref.descriptor.data[end] != ')')
		end++;
	return end + 1 < ref.descriptor.len ? (struct lc_class_text){ ref.descriptor.data + end + 1,
		                                                      ref.descriptor.len - end - 1 }
	                                    : (struct lc_class_text){ "", 0 };
}

static bool source_can_be(const struct lc_reach_code *code, const struct lc_reached_source *s,
                          const char *signature)
{
	const struct lc_class *c = &code->file.cls;
	struct lc_class_text type;
	struct lc_class_ref ref;
	bool array;
	char element;

	switch ((enum lc_reached_kind)s->kind) {
	case LC_REACHED_FIELD:
	case LC_REACHED_STATIC:
		return !lc_class_field_ref(c, s->index, &ref) ||
		       can_be(ref.descriptor, s->elements, signature);
	case LC_REACHED_PARAMETER:
		return can_be(parameter_type(code, s->index), s->elements, signature);
	case LC_REACHED_RESULT:
		return can_be(result_type(code, s->index), s->elements, signature);
	case LC_REACHED_NEW:
		type = lc_reached_made(code->reached, s->index, &array, &element);
		if (element)
			return signature[0] == '[' && signature[1] == element;
		if (array) /* of what the class's name says */
			return signature[0] == '[' && (signature[1] == 'L' || signature[1] == '[');
		return !type.len || type.data[0] == '[' || signature[0] != '[';
	default:
		return true;
	}
}

bool lc_reach_sift(const struct lc_reach_code *code, const char *signature,
                   struct lc_reached_sources *s)
{
	uint8_t kept = 0;

	for (unsigned i = 0; i < s->len; i++)
		if (!signature || source_can_be(code, &s->of[i], signature))
			s->of[kept++] = s->of[i];
	s->len = kept;
	return !s->known || kept;
}

bool lc_reach_fit_any(struct lc_reach_code *code, const struct lc_reach_ask *ask,
                      struct lc_reach_fit *out)
{
	struct lc_reach_fit one;
	bool any = false;

	for (uint32_t at = 0; lc_reached_opcode(code->reached, at) != LC_REACHED_END;
	     at = lc_reached_next(code->reached, at)) {
		if (!fits_at(code, ask, at, &one) || one.made ||
		    !lc_reach_sift(code, ask->signature, &one.sources))
			continue;
		if (!any) {
			*out = one;
		} else {
			lc_reached_join(&out->sources, &one.sources);
			out->why = out->why == one.why ? out->why : (uint8_t)LC_WHY_UNKNOWN;
		}
		any = true;
	}
	return any;
}

bool lc_reach_fit(struct lc_reach_code *code, const struct lc_reach_ask *ask, uint32_t bci,
                  struct lc_reach_fit *out)
{
	if (fits_at(code, ask, bci, out))
		return true;
	*out = (struct lc_reach_fit){ .why = LC_WHY_NO_HEADER };
	if (fits_call(code, ask, bci, out)) {
		out->why = is_header(part_of(ask->part)) ? LC_WHY_UNKNOWN : LC_WHY_NO_HEADER;
		return true;
	}
	if (fits_method(code, ask, out))
		return true;
	*out = (struct lc_reach_fit){ .why = is_header(part_of(ask->part)) ? LC_WHY_UNKNOWN
		                                                           : LC_WHY_NO_HEADER };
	return false;
}
